package linelog

import "bytes"

// commonKinds are the kinds of the engine: what Python processes write beside
// their logs. Those without a template are set by code.
var commonKinds = []Kind{
	{Name: "blank", Use: Noise},
	{Name: "message", Use: Noise},   // behind a known head, recognised by nothing
	{Name: "furniture", Use: Noise}, // see furniture
	{Name: "payload", Use: Noise},   // behind an open quote
	{Name: "progress", Inside: "%|", Bare: true, Use: Noise},
	{Name: "progress", Inside: "% Completed |", Bare: true, Use: Noise},
	{Name: "progress", Inside: "it/s]", Bare: true, Use: Noise},
	{Name: "progress", Inside: "s/it]", Bare: true, Use: Noise},
	{Name: "progress", Inside: "it [00:", Bare: true, Use: Noise},
	{Name: "uvicorn", Start: []string{"INFO:  ", "WARNING:  ", "ERROR:  "}, Bare: true, Use: Noise},
	{Name: "warning", Inside: "Warning: ", Bare: true, Use: Noise},
	{Name: "warning", Inside: "] Warning", Bare: true, Use: Noise},
	{Name: "traceback", Start: []string{"Traceback (most recent call last)", "During handling of the above exception", "The above exception was the direct cause"}, Bare: true, Use: Noise},
	{Name: "traceback", Inside: "Error: ", Bare: true, Use: Noise},
	{Name: "traceback", Inside: "Exception: ", Bare: true, Use: Noise},
	{Name: "library", Start: []string{"[Gloo] ", "[rank", "[transformers]", "[W", "[E", "[I"}, Bare: true, Use: Noise},
	{Name: "library", Inside: " NCCL ", Bare: true, Use: Noise},
}

// AccessKind recognises uvicorn's access lines, which have no stamp. A table with
// it has slots named method, path and status.
//
//	INFO:     127.0.0.1:38608 - "POST /v1/completions HTTP/1.1" 200 OK
var AccessKind = Kind{Name: "access", Start: []string{
	`INFO: {} - "{method} {path} HTTP/{}" {status} `,
	`INFO: {} - "{method} {path} HTTP/{}" {status}$`,
}, Bare: true}

// payload finds the kind of a message that may hold payload, as recognise does.
func (s *scanner) payload(msg []byte) (kind, n int) {
	if len(msg) > 0 {
		for i := range s.t.payloads {
			st := &s.t.payloads[i]
			if st.lits[0][0] != msg[0] {
				continue
			}
			if n, ok := st.match(s.t, msg, s.take); ok {
				return st.kind, s.whole(st.kind, 0, n)
			}
		}
	}
	return -1, 0
}

// reread reads a message of kind k again, now that it is known where another
// record cuts it off: its last value may be the beginning of one.
func (s *scanner) reread(k int, msg []byte) int {
	for i := range s.t.payloads {
		if s.t.payloads[i].kind != k {
			continue
		}
		s.line.restart()
		s.glued = true
		k, n := s.payload(msg)
		if k >= 0 {
			s.values(k, msg, n)
		} else {
			k = s.torn(msg)
		}
		s.glued = false
		return k
	}
	return k // its end was known before
}

// whole returns where the pairs of a kind begin: behind its template, or with it.
func (s *scanner) whole(kind, from, to int) int {
	if s.t.kinds[kind].Whole {
		return from
	}
	return to
}

// recognise finds the kind of a message, and how long its template is; -1: none.
func (s *scanner) recognise(msg []byte) (kind, n int) {
	s.line.restart()
	at := s.lead(msg)
	for ; ; at = 0 {
		if at < len(msg) {
			for i := range s.t.first[msg[at]] {
				st := &s.t.first[msg[at]][i]
				if n, ok := st.match(s.t, msg[at:], s.take); ok {
					return st.kind, s.whole(st.kind, at, at+n)
				}
			}
			for i := range s.t.others {
				if n, ok := s.t.others[i].match(s.t, msg[at:], s.take); ok {
					return s.t.others[i].kind, s.whole(s.t.others[i].kind, at, at+n)
				}
			}
		}
		if at == 0 {
			break
		}
		s.line.restart()
	}
	for _, k := range s.t.inside {
		t := &s.t.kinds[k].inside
		if i := bytes.Index(msg, t.lits[0]); i >= 0 {
			if n, ok := t.match(s.t, msg[i:], s.take); ok {
				return k, s.whole(k, i, i+n)
			}
		}
	}
	if n := level(msg); n > 0 {
		if k, m := s.recognise(msg[n:]); k >= 0 {
			return k, n + m
		}
	}
	return -1, 0
}

// torn returns the kind of a message that ends within the beginning of its
// template, because another record or the end of the log cut it off, or that
// goes on for longer than a value may be; -1: none.
func (s *scanner) torn(msg []byte) int {
	const least = 4 // bytes that tell a kind
	s.line.restart()
	msg = msg[s.lead(msg):]
	if len(msg) < least {
		return -1
	}
	for _, starts := range [...][]start{s.t.first[msg[0]], s.t.payloads} {
		for i := range starts {
			st := &starts[i]
			long := len(msg) > maxCapture && len(st.lits[0]) >= least && bytes.HasPrefix(msg, st.lits[0])
			if (long || bytes.HasPrefix(st.lits[0], msg)) && s.t.kinds[st.kind].Use == Parse {
				s.line.torn = true
				return st.kind
			}
		}
	}
	return -1
}

// level returns the length of a level that msg begins with, as in "INFO: ", with
// the colours around it.
func level(msg []byte) int {
	k := bytes.IndexByte(msg[:min(len(msg), 9)], ':')
	if k < 0 || !isLevel(msg[:k]) {
		return 0
	}
	for k++; k < len(msg); {
		if msg[k] == ' ' {
			k++
		} else if n := escape(msg[k:]); n > 0 {
			k += n
		} else {
			break
		}
	}
	return k
}

// lead returns the length of the lead that msg begins with, or 0.
func (s *scanner) lead(msg []byte) int {
	for i := range s.t.leads {
		if n, ok := s.t.leads[i].match(s.t, msg, s.take); ok {
			return n
		}
	}
	return 0
}

// take takes a capture of a template.
func (s *scanner) take(slot int, text []byte) {
	if slot < 0 {
		s.line.mark(text, mark{kind: textHole, value: -1})
		return
	}
	switch s.t.Slots[slot].Type {
	case Text:
		s.line.add(Value{Slot: slot, Text: text})
		s.line.mark(text, mark{kind: textHole, value: s.line.lastValue()})
	case Word:
		s.line.add(Value{Slot: slot, Text: text})
		s.line.mark(text, mark{kind: wordHole, value: s.line.lastValue()})
	case List:
		s.line.add(Value{Slot: slot, Text: text})
		s.line.rigid = true
	default:
		number := bytes.TrimSpace(text)
		s.line.number(slot, number, nil)
		s.line.rigid = s.line.rigid || len(number) < len(text)
	}
	s.line.captures = len(s.line.marks)
}

// values reads the pairs of a message behind the n bytes of its template. It
// returns where the text ends in which nothing may count as a record.
func (s *scanner) values(k int, msg []byte, n int) int {
	kind := &s.t.kinds[k]
	if kind.Fields == nil {
		return n
	}
	p := pairs{b: msg, i: n, kind: kind, cut: s.cut || s.glued, behind: n, line: &s.line}
	p.scan()
	return p.behind
}

// headless scans a text in which no head was found. outer is the last stamp in it.
func (s *scanner) headless(b []byte, outer *Stamp) {
	msg := b
	if coloured(b) {
		s.clean, s.where = plain(s.clean[:0], s.where[:0], b)
		msg = s.keep(s.clean)
		if outer.till > s.outer.till {
			nextStamp(msg, 0, 0, outer)
		}
	}
	if outer.till > 0 && outer.till <= len(msg) && !s.sameOuter(outer) && b[0] != '{' { // the stamp of an object may stand behind its text
		msg = msg[outer.till:]
	}
	h := found{stamp: *outer, outer: *outer}
	if p, from, to := findProcess(msg[:min(len(msg), window)]); from >= 0 {
		h.process = p
		msg = msg[to:]
	}
	msg = bytes.TrimLeft(msg, " \t")
	if len(msg) == 0 {
		return
	}
	if msg[0] == '{' && !s.nested && s.json(msg, &h) {
		return
	}
	if msg[0] == '"' && !s.nested {
		msg = s.member(msg)
	}
	s.begin(&h, false)
	s.bareMessage(b, msg)
}

// sameOuter reports whether a stamp is the one of the runtime, and not in the text.
func (s *scanner) sameOuter(outer *Stamp) bool { return s.outer.Known() && *outer == s.outer }

// bareMessage scans what follows outer stamps and process tags in line b.
func (s *scanner) bareMessage(b, msg []byte) {
	s.line.size = cap(b)
	if i, k, n := s.bareStart(msg); k >= 0 {
		s.values(k, msg, n)
		s.end(k, msg)
		if s.memo != nil && s.alone && !s.cut && !s.nested {
			s.learnBare(b, len(b)-len(msg), i)
		}
		return
	}
	for i := range s.t.within {
		st := &s.t.within[i]
		if at := bytes.Index(msg, st.lits[0]); at >= 0 {
			s.leadBefore(msg[:at])
			if n, ok := st.match(s.t, msg[at:], s.take); ok {
				s.values(st.kind, msg[at:], s.whole(st.kind, 0, n))
				s.end(st.kind, msg[at:])
				return
			}
			s.line.values = s.line.values[:len(s.out.values)]
		}
	}
	for _, k := range s.t.bare {
		if bytes.Contains(msg, s.t.kinds[k].inside.lits[0]) {
			s.end(k, msg)
			return
		}
	}
	if furniture(b, msg) {
		s.note(rankNoise, s.t.furniture)
		return
	}
	s.note(rankStranger, 0)
}

// bareStart finds the template, of those for lines without a head, that msg begins
// with, its kind and where the kind's pairs begin; kind < 0: none.
func (s *scanner) bareStart(msg []byte) (i, kind, n int) {
	for i := range s.t.starts {
		st := &s.t.starts[i]
		if n, ok := st.match(s.t, msg, s.take); ok {
			return i, st.kind, s.whole(st.kind, 0, n)
		}
	}
	return -1, -1, 0
}

// leadBefore takes the captures of a lead that before ends with.
func (s *scanner) leadBefore(before []byte) {
	for i := range s.t.leads {
		l := &s.t.leads[i]
		tail := before[max(0, len(before)-64):]
		for from := range tail {
			if n, ok := l.match(s.t, tail[from:], func(int, []byte) {}); ok && from+n == len(tail) {
				l.match(s.t, tail[from:], s.take)
				return
			}
		}
	}
}

// furniture reports whether a line is only layout: the continuation of something,
// set off to the right, or made of little but punctuation.
func furniture(line, msg []byte) bool {
	if len(line) > 1 && (line[0] == ' ' && line[1] == ' ' || line[0] == '\t') {
		return true
	}
	switch msg[0] {
	case '|', '+', '=', '-', '*', '#', '~', '^', '_':
		return true
	}
	for _, c := range msg {
		if c < 0x80 && (letter(c) || digit(c)) {
			return false
		}
	}
	return true
}
