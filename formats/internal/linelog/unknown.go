package linelog

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"servescope/analyzer/diag"
	"servescope/formats/internal/pyrepr"
)

// strangers collects the lines that nothing recognised.
type strangers struct {
	count, first int64
	examples     []string
}

const (
	maxExamples = 3
	maxExample  = 72 // bytes
)

// strange accounts for a run of lines that nothing recognised. Behind an open
// quote of payload they are its text.
func (r *reader) strange(e *entry) {
	n := e.strangers
	again := r.inRun
	r.inRun = true
	if r.payload {
		r.counts[r.t.continuation] += n
		return
	}
	r.diagnosed += n
	s := &r.strangers
	if s.count == 0 {
		s.first = e.Offset
	}
	s.count += n
	if again || len(s.examples) == maxExamples {
		return
	}
	if x := example(e.text); !slices.Contains(s.examples, x) {
		s.examples = append(s.examples, x)
	}
}

// report says what was not recognised: loudly, where it is more than one line in
// a hundred.
func (s *strangers) report(r *reader) {
	if s.count == 0 {
		return
	}
	d := diag.Diag{Code: "unrecognised_line", Severity: diag.Notice, File: r.log.file, Offset: s.first, Count: s.count}
	were := "were"
	if s.count == 1 {
		were = "was"
	}
	d.Msg = fmt.Sprintf("%d of %d lines (%s) %s not recognised: %s", s.count, r.lines, percent(s.count, r.lines), were, strings.Join(s.examples, " · "))
	if 100*s.count > r.lines {
		d.Severity = diag.DataLoss
		d.Fix = "if they carry times, the log is of a version that is not known"
	}
	r.log.diags.Add(d)
}

// percent prints a share with one decimal, rounded down.
func percent(n, of int64) string {
	tenths := n * 1000 / of
	if tenths == 0 {
		return "less than 0.1 %"
	}
	return fmt.Sprintf("%d.%d %%", tenths/10, tenths%10)
}

// example returns a line as it may be shown: its first word and the layout of the
// rest, because a line that nothing recognises may be text of a user. Words
// become x, numbers 0, and quoted text is left out.
func example(line []byte) string {
	var b strings.Builder
	line = bytes.TrimSpace(line)
	first := true
	for i := 0; i < len(line) && b.Len() < maxExample; {
		c := line[i]
		switch {
		case c == '\'' || c == '"':
			end, _ := pyrepr.QuoteEnd(line, i)
			b.WriteString("'…'")
			i, first = end, false
		case letter(c) || c >= 0x80 || c == '_':
			j := i
			for j < len(line) && (letter(line[j]) || line[j] >= 0x80 || line[j] == '_') {
				j++
			}
			if first && j-i <= 24 && !slices.ContainsFunc(line[i:j], func(c byte) bool { return c >= 0x80 }) {
				b.Write(line[i:j])
			} else {
				b.WriteByte('x')
			}
			i, first = j, false
		case digit(c):
			for i < len(line) && digit(line[i]) {
				i++
			}
			b.WriteByte('0')
		case c < ' ' || c == 0x7f:
			i++
		default:
			b.WriteByte(c)
			i++
		}
	}
	return b.String()
}

// keys counts keys that kinds do not know.
type keys struct {
	count  map[string]int64
	order  []string
	first  int64
	others int64 // occurrences of keys beyond the first maxKeys
}

const maxKeys = 16

func (k *keys) add(key []byte, offset int64) {
	if k.count == nil {
		k.count, k.first = make(map[string]int64), offset
	}
	if _, ok := k.count[string(key)]; !ok {
		if len(k.order) == maxKeys {
			k.others++
			return
		}
		k.order = append(k.order, string(key))
	}
	k.count[string(key)]++
}

// report names the keys.
func (k *keys) report(l *Log) {
	if len(k.order) == 0 {
		return
	}
	var all []string
	var n int64
	for _, key := range k.order {
		n += k.count[key]
		all = append(all, fmt.Sprintf("%q (%d)", key, k.count[key]))
	}
	if n += k.others; k.others > 0 {
		all = append(all, fmt.Sprintf("others (%d)", k.others))
	}
	l.diags.Add(diag.Diag{Code: "unknown_field", Severity: diag.Notice, File: l.file, Offset: k.first, Count: n,
		Msg: "lines have fields that are not used: " + strings.Join(all, ", ")})
}
