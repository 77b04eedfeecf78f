package linelog

import "bytes"

// commonHeads are the heads that Python's logging and its friends write, whatever
// the server. The stamp is wherever Before and After meet.
var commonHeads = []Head{
	{Name: "python", After: " %L %N: "},               // 2026-01-20 10:11:34,014 INFO vllm.v1.metrics.loggers: …
	{Name: "python file", After: " - %L - %F - %N: "}, // 2026-08-02 09:23:01,100 - INFO - autotuner.py:456 - flashinfer.jit: …
	{Name: "python name", After: " - %N - %L - "},     // logging.Formatter('%(asctime)s - %(name)s - %(levelname)s - %(message)s')
	{Name: "python level", After: " - %L - "},         // the same without a name
	{Name: "python bracket", After: " [%L] %N: "},     //
	{Name: "python line", After: " %L %F] "},          //
	{Name: "python plain", After: " %L "},             // 2026-01-20 10:11:34 INFO …
	{Name: "loguru", After: " | %L | %N - "},          //
	{Name: "brackets", Before: "[", After: "] %L: "},  // [2026-02-05 14:22:33,123] INFO: …
	{Name: "brackets level", Before: "[", After: "] [%L] "},
	{Name: "level bracket", Before: "[%L] ", After: " "},
}

// head is a Head ready for use.
type head struct {
	*Head
	before, after []op
	peek          []byte
}

// op is one part of a pattern: a class, or literal bytes.
type op struct {
	class byte // one of L F N R, ' ' for spaces, 0 for lit
	lit   []byte
}

func compileHead(h Head) head {
	return head{&h, compileOps(h.Before), compileOps(h.After), []byte(h.Peek)}
}

func compileOps(p string) []op {
	var ops []op
	for i := 0; i < len(p); i++ {
		switch {
		case p[i] == '%':
			i++
			ops = append(ops, op{class: p[i]})
		case p[i] == ' ':
			ops = append(ops, op{class: ' '})
		case len(ops) > 0 && ops[len(ops)-1].class == 0:
			last := &ops[len(ops)-1]
			last.lit = append(last.lit, p[i])
		default:
			ops = append(ops, op{lit: []byte{p[i]}})
		}
	}
	return ops
}

// headMatch is a head found in a text.
type headMatch struct {
	head  *Head  // nil for one of the engine
	start int    // of the head: of its Before
	msg   int    // of the message
	level []byte // "" where the head has none
	tag   []byte // file.py:123, or the logger's name
	ranks []byte // " DP1 TP0"
}

// matchHead tries the heads of the table around a stamp.
func (t *Table) matchHead(b []byte, s *Stamp, floor int) (m headMatch, ok bool) {
	for i := range t.heads {
		h := &t.heads[i]
		if s.Month == 0 && !h.Dateless {
			continue
		}
		m = headMatch{start: s.from, msg: s.till}
		if m.forward(b, h.after) && m.backward(b, h.before, floor) && bytes.HasPrefix(b[m.msg:], h.peek) {
			if i < len(t.Heads) {
				m.head = h.Head
			} else if monthDay(b[m.msg:]) {
				continue // "2026-03-01T09:00:00Z INFO 03-01 09:00:00 …": the stamp of something around
			}
			return m, true
		}
	}
	return m, false
}

// monthDay reports whether b begins with MM-DD and a space.
func monthDay(b []byte) bool {
	return len(b) > 5 && digit(b[0]) && digit(b[1]) && b[2] == '-' && digit(b[3]) && digit(b[4]) && b[5] == ' '
}

// forward matches what is behind the stamp.
func (m *headMatch) forward(b []byte, ops []op) bool {
	i := m.msg
	for k := range ops {
		o := &ops[k]
		j := i
		switch o.class {
		case 0:
			if !bytes.HasPrefix(b[i:], o.lit) {
				return false
			}
			j += len(o.lit)
		case ' ':
			for j < len(b) && b[j] == ' ' {
				j++
				if k == len(ops)-1 {
					break // further spaces belong to the message
				}
			}
			if j == i && !(k == len(ops)-1 && i == len(b)) && !(k == len(ops)-1 && k > 0 && ops[k-1].closes()) {
				return false
			}
		case 'L':
			for j < len(b) && b[j] >= 'A' && b[j] <= 'Z' {
				j++
			}
			if !isLevel(b[i:j]) {
				return false
			}
			m.level = b[i:j]
		case 'F':
			if j = fileTag(b, i); j < 0 {
				return false
			}
			m.tag = b[i:j]
		case 'N':
			for j < len(b) && nameByte(b[j]) {
				j++
			}
			if j == i {
				return false
			}
			m.tag = b[i:j]
		case 'R':
			if j = rankTags(b, i); j < 0 {
				return false
			}
			m.ranks = b[i:j]
		}
		i = j
	}
	m.msg = i
	return true
}

// closes reports whether a literal ends in a bracket, behind which the space may
// be missing.
func (o *op) closes() bool {
	return o.class == 0 && o.lit[len(o.lit)-1] == ']'
}

// backward matches what is in front of the stamp.
func (m *headMatch) backward(b []byte, ops []op, floor int) bool {
	i := m.start
	for k := len(ops) - 1; k >= 0; k-- {
		o := &ops[k]
		j := i
		switch o.class {
		case 0:
			if !bytes.HasSuffix(b[floor:i], o.lit) {
				return false
			}
			j -= len(o.lit)
		case ' ':
			for j > floor && b[j-1] == ' ' {
				j--
			}
			if j == i {
				return false
			}
		case 'L':
			level := levelBefore(b[floor:i])
			if level == "" {
				return false
			}
			j -= len(level)
			m.level = b[j:i]
		default:
			return false
		}
		i = j
	}
	m.start = i
	return true
}

var levels = []string{"INFO", "WARNING", "ERROR", "DEBUG", "CRITICAL", "TRACE", "WARN", "FATAL"}

func isLevel(b []byte) bool {
	for _, l := range levels {
		if string(b) == l {
			return true
		}
	}
	return false
}

// levelBefore returns the level that b ends with, or "".
func levelBefore(b []byte) string {
	for _, l := range levels {
		if len(b) >= len(l) && string(b[len(b)-len(l):]) == l {
			return l
		}
	}
	return ""
}

// fileTag returns the end of the "name.py:123" at i, or -1.
func fileTag(b []byte, i int) int {
	j := i
	for j < len(b) && b[j] != ':' && b[j] != ' ' && b[j] != ']' && b[j] != '[' {
		j++
	}
	if j == i || j+1 >= len(b) || b[j] != ':' || !digit(b[j+1]) {
		return -1
	}
	for j++; j < len(b) && digit(b[j]); j++ {
	}
	return j
}

func nameByte(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || digit(c) || c == '.' || c == '_' || c == '-'
}

// rankTags returns the end of the ranks at i: words of capitals and a number,
// each behind a space, as " DP1 TP0 ATTN_CP3"; -1 where something else stands.
func rankTags(b []byte, i int) int {
	for i+1 < len(b) && b[i] == ' ' {
		j := i + 1
		for j < len(b) && (b[j] >= 'A' && b[j] <= 'Z' || b[j] == '_') {
			j++
		}
		k := j
		for k < len(b) && digit(b[k]) {
			k++
		}
		if j == i+1 || k == j {
			return -1
		}
		i = k
	}
	return i
}

// Rank returns the number behind the given letters in ranks: of " DP1 TP0" it is
// 1 for DP.
func Rank(ranks []byte, letters string) (n int64, ok bool) {
	for i := 0; i+len(letters) < len(ranks); i++ {
		if i > 0 && ranks[i-1] != ' ' && ranks[i-1] != '_' || string(ranks[i:i+len(letters)]) != letters {
			continue
		}
		j := i + len(letters)
		for ; j < len(ranks) && digit(ranks[j]) && n < 1<<30; j++ {
			n = n*10 + int64(ranks[j]-'0')
		}
		if j > i+len(letters) {
			return n, true
		}
	}
	return 0, false
}

// Process is the tag that names the process of a line: "(EngineCore_DP1 pid=177)".
type Process struct {
	Name []byte // EngineCore_DP1; "" where Ray writes (pid=177)
	PID  int64  // 0: not written
}

// findProcess returns the last process tag in the zone before a head, and where
// it begins and ends; from < 0: there is none.
func findProcess(zone []byte) (p Process, from, to int) {
	to = bytes.LastIndexByte(zone, ')')
	for ; to > 0; to = bytes.LastIndexByte(zone[:to], ')') {
		from = bytes.LastIndexByte(zone[:to], '(')
		if from < 0 || to-from > 200 {
			break
		}
		if tag, ok := parseProcess(zone[from+1 : to]); ok {
			return tag, from, to + 1
		}
	}
	return p, -1, -1
}

// parseProcess reads "Name pid=1", "Name rank=0 pid=1" or "pid=1, ip=10.0.0.1".
func parseProcess(tag []byte) (p Process, ok bool) {
	eq := bytes.Index(tag, []byte("pid="))
	if eq < 0 || eq > 0 && tag[eq-1] != ' ' {
		return p, false
	}
	p.Name = tag[:eq]
	if k := bytes.IndexByte(p.Name, ' '); k >= 0 {
		p.Name = p.Name[:k]
	}
	for i := eq + 4; i < len(tag) && digit(tag[i]) && p.PID < 1<<40; i++ {
		p.PID = p.PID*10 + int64(tag[i]-'0')
	}
	return p, true
}

// plain returns b without terminal escapes: CSI and OSC sequences, and what is
// left of CSI where a log shipper ate the ESC byte ("[32m"). It appends to dst;
// where[i] is then the index in b of byte i, with len(b) at the end.
func plain(dst []byte, where []int32, b []byte) ([]byte, []int32) {
	for i := 0; i < len(b); {
		if n := escape(b[i:]); n > 0 {
			i += n
			continue
		}
		dst = append(dst, b[i])
		where = append(where, int32(i))
		i++
	}
	return dst, append(where, int32(len(b)))
}

// escape returns the length of the escape sequence that b begins with, or 0.
func escape(b []byte) int {
	i := 0
	if b[0] == 0x1b {
		if len(b) == 1 {
			return 1
		}
		switch b[1] {
		case '[':
			i = 1
		case ']': // OSC: up to BEL or ESC \
			for j := 2; j < len(b); j++ {
				if b[j] == 7 {
					return j + 1
				}
				if b[j] == 0x1b && j+1 < len(b) {
					return j + 2
				}
			}
			return len(b)
		default:
			return 2
		}
	}
	if b[i] != '[' {
		return 0
	}
	j := i + 1
	for j < len(b) && (digit(b[j]) || b[j] == ';') {
		j++
	}
	if j >= len(b) {
		return 0
	}
	if i == 1 && b[j] >= '@' && b[j] <= '~' || b[j] == 'm' { // without ESC only colours are told from text
		return j + 1
	}
	return 0
}

// escapes returns the length of the escapes that a message begins with. Without
// ESC only the one that ends a colour counts, since "[3m" may be text.
func escapes(b []byte) (n int) {
	for n < len(b) && (b[n] == 0x1b || b[n] == '[') {
		k := escape(b[n:])
		if k == 0 || b[n] == '[' && string(b[n:n+k]) != "[0m" {
			break
		}
		n += k
	}
	return n
}

// coloured reports whether b may hold escapes.
func coloured(b []byte) bool {
	return bytes.IndexByte(b, 0x1b) >= 0 || bytes.Contains(b, []byte("[0m")) || bytes.Contains(b, []byte("[0;0m"))
}
