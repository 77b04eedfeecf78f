package mapping

import (
	"bytes"

	"servescope/formats"
	"servescope/formats/internal/json"
	"servescope/formats/internal/records"
)

// Lines of text that hold pairs, as log/slog, logrus and go-kit write them (logfmt) and
// as people print them:
//
//	time=2026-11-30T14:05:01.123Z level=INFO msg="request finished" request_id=a ttft_ms=123
//	2026-11-30 14:05:01,123 INFO server: request 7f3a finished: ttft=0.123s, tokens=200
//	2026-11-30T14:05:01.123Z	INFO	api/serve.go:42	request finished	{"request_id": "a", "ttft_ms": 123}
//
// A pair is what a member of an object of JSON with that name and value is: numbers,
// true, false and null stand bare there too, and what is in quotes has the escapes of Go,
// most of which are those of JSON. A stamp in front of the pairs is the column asctime, a
// level level, and the text behind them msg. See preamble.

// pairing is what a table does with such lines.
type pairing struct {
	lines bool // records are such lines
	short bool // the last value of the record may be cut off and is left out
	take  func(path, raw []byte, kind formats.Kind)
}

// line reads the next line that is not blank; other: it has no such pairs.
func (t *table) line(in *records.Input) outcome {
	for {
		rest := in.Buf[in.I:]
		k := bytes.IndexByte(rest, '\n')
		if k < 0 {
			switch {
			case len(rest) < maxRecord && in.More():
				continue
			case in.Err != nil || len(rest) == 0:
				return ended
			case len(rest) >= maxRecord && !in.EOF:
				t.rec.off = in.At()
				in.SkipLine()
				return long
			}
			rest = in.Buf[in.I:] // which looking for more has moved
			k = len(rest)
		}
		t.rec.off, t.rec.last = in.At(), k == len(rest)
		in.I += min(k+1, len(rest))
		if text := bytes.TrimRight(rest[:k], " \t\r"); len(bytes.TrimLeft(text, " \t")) > 0 {
			return t.pairsOf(text)
		}
	}
}

// pairsOf takes the pairs of a line.
func (t *table) pairsOf(line []byte) outcome {
	l := pairScan{b: line, torn: t.rec.last}
	p := l.lead()
	if p.stamp != nil {
		t.plain("asctime", p.stamp)
	}
	n, odd := 0, 0 // pairs, words behind the first that are none
	for t.short = false; l.next(); {
		switch {
		case l.object:
			if t.take == nil {
				t.take = t.value
			}
			if n == 0 {
				p.to = l.from
			}
			end, ok := json.Walk(l.b, l.from, t.take)
			if !ok || end < len(l.b) {
				return t.unsound(&p)
			}
			t.takePreamble(line, &p)
			return found
		case l.key == nil:
			if n > 0 {
				odd++
			} else {
				p.word(&l)
			}
			continue
		case l.broken:
			return t.unsound(&p)
		}
		if n++; n == 1 {
			p.first = l.key
		}
		t.takePair(&l)
	}
	t.takePreamble(line, &p)
	t.short = l.short
	switch {
	case p.row:
	case p.stamp != nil || p.level != nil:
		if n > 0 || p.id != nil {
			return found
		}
	case odd == 0 && (n > 1 && p.words == 0 || n > 2 && p.begins()):
		return found
	}
	clear(t.rec.cells)
	return other
}

// unsound tells what a line is that breaks off, or is not well formed.
func (t *table) unsound(p *preamble) outcome {
	last := t.rec.last
	clear(t.rec.cells)
	switch {
	case p.stamp == nil && p.level == nil && !p.begins():
		return other
	case last:
		return truncated
	}
	return bad
}

// takePair takes the pair at hand.
func (t *table) takePair(l *pairScan) {
	switch {
	case l.quoted:
		if isNil(l.value) {
			return
		}
		t.value(l.key, l.value, formats.String)
	default:
		k := t.field(l.key)
		if k < 0 {
			return
		}
		if t.rec.cells[k] = textCell(l.value); isNil(l.value) {
			t.rec.cells[k].set = false
		}
	}
}

// isNil tells whether a value is what Go prints for nothing.
func isNil(raw []byte) bool { return string(raw) == "<nil>" || string(raw) == "nil" }

// takePreamble takes the level, the id and the message in front of the pairs, except where
// pairs say them.
func (t *table) takePreamble(line []byte, p *preamble) {
	if p.level != nil && !t.has("level") {
		t.plain("level", p.level)
	}
	var event []byte
	if p.id, event = subject(p.message(line)); p.id != nil && !t.has("request_id") {
		t.plain("request_id", p.id)
	}
	if len(event) > 0 && !t.has("msg") {
		t.plain("msg", event)
	}
}
