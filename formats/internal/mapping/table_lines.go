package mapping

import (
	"bytes"

	"servescope/formats"
	"servescope/formats/internal/json"
	"servescope/formats/internal/records"
)

// pairing is the state of a table of lines that hold pairs.
//
//	time=2026-11-30T14:05:01.123Z level=INFO msg="request finished" request_id=a ttft_ms=123
//	2026-11-30 14:05:01,123 INFO server: request 7f3a finished: ttft=0.123s, tokens=200
//	2026-11-30T14:05:01.123Z	INFO	api/serve.go:42	request finished	{"request_id": "a", "ttft_ms": 123}
//
// A pair is read as a JSON member of that name and value. Quoted values have the escapes
// of Go, most of which are those of JSON. The stamp in front of the pairs is the column
// asctime, the level is level, and the message is msg; see preamble.
type pairing struct {
	lines bool // records are lines that hold pairs
	short bool // the last value of the record may be cut off and is left out
	take  func(path, raw []byte, kind formats.Kind)
}

// line reads the next line that is not blank.
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
			rest = in.Buf[in.I:] // More has moved it
			k = len(rest)
		}
		t.rec.off, t.rec.last = in.At(), k == len(rest)
		in.I += min(k+1, len(rest))
		if text := bytes.TrimRight(rest[:k], " \t\r"); len(bytes.TrimLeft(text, " \t")) > 0 {
			return t.pairsOf(text)
		}
	}
}

// pairsOf takes the pairs of a line. It returns other if the line has none.
func (t *table) pairsOf(line []byte) outcome {
	l := pairScan{b: line, torn: t.rec.last}
	p := l.lead()
	if p.stamp != nil {
		t.putPlain("asctime", p.stamp)
	}
	n, odd := 0, 0 // number of pairs, and of other words behind the first pair
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
				return t.brokenLine(&p)
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
			return t.brokenLine(&p)
		}
		if n++; n == 1 {
			p.first = l.key
		}
		t.takePair(&l)
	}
	t.takePreamble(line, &p)
	t.short = l.short
	switch {
	case p.isRow:
	case p.stamp != nil || p.level != nil:
		if n > 0 || p.id != nil {
			return found
		}
	case odd == 0 && (n > 1 && p.words == 0 || n > 2 && p.beginsRecord()):
		return found
	}
	clear(t.rec.cells)
	return other
}

// brokenLine returns the outcome for a line that is not well formed.
func (t *table) brokenLine(p *preamble) outcome {
	last := t.rec.last
	clear(t.rec.cells)
	switch {
	case p.stamp == nil && p.level == nil && !p.beginsRecord():
		return other
	case last:
		return truncated
	}
	return bad
}

// takePair sets the value of the pair that was found.
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

// isNil reports whether a value is how Go prints nil.
func isNil(raw []byte) bool { return string(raw) == "<nil>" || string(raw) == "nil" }

// takePreamble sets level, id and message, unless pairs of these names do.
func (t *table) takePreamble(line []byte, p *preamble) {
	if p.level != nil && !t.has("level") {
		t.putPlain("level", p.level)
	}
	var event []byte
	if p.id, event = subject(p.message(line)); p.id != nil && !t.has("request_id") {
		t.putPlain("request_id", p.id)
	}
	if len(event) > 0 && !t.has("msg") {
		t.putPlain("msg", event)
	}
}
