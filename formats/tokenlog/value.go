package tokenlog

import (
	"bytes"
	"slices"

	"servescope/analyzer/trace"
	"servescope/formats/internal/assemble"
	"servescope/formats/internal/numx"
)

// parser reads the fields of a line into a row.
type parser struct {
	scanner
	assemble.Notes
	row   assemble.Row
	event eventFields
}

// eventFields are the fields that make a line an event.
type eventFields struct {
	at                       int64 // ts
	name                     string
	kind                     []byte
	tokens                   int64
	hasAt, hasName, hasCount bool
}

// object reads the object at the cursor into the row and moves behind it.
func (p *parser) object() bool {
	p.i++
	p.space()
	if p.text[p.i] == '}' {
		p.i++
		return true
	}
	return p.members()
}

// members reads the members from the key at the cursor on and moves behind the
// end of the object.
func (p *parser) members() bool {
	for n := 0; ; n++ {
		f, ok := p.nthKey(n)
		if !ok {
			return false
		}
		if f == nil {
			ok = p.skip()
		} else {
			ok = p.value(f)
		}
		if !ok {
			return false
		}
		if p.space(); p.text[p.i] != ',' {
			break
		}
		p.i++
		p.space()
	}
	if p.text[p.i] != '}' {
		return false
	}
	p.i++
	return true
}

// value reads the value of a known key. It returns false when the line is
// broken there; a value of the wrong type is only noted.
func (p *parser) value(f *field) bool {
	switch f.kind {
	case text, code, statusCode, eventName, eventKind:
		return p.name(f)
	case tokenTimes, gapList, tokenCounts:
		return p.list(f)
	case boolean:
		return p.bool(f)
	case failure:
		return p.failure()
	}
	if c := p.text[p.i]; c-'0' > 9 && c != '-' {
		return p.oddNumber(f)
	}
	v, n, ok := number(p.text[p.i:], f)
	if n == 0 {
		return p.oddNumber(f)
	}
	p.i += n
	if !ok {
		p.outOfRange(f, p.text[p.i-n:p.i])
		p.unset(f)
		return true
	}
	p.set(f, v)
	return true
}

// number reads a number in the unit of a field.
func number(b []byte, f *field) (v int64, n int, ok bool) {
	switch f.kind {
	case count, eventTokens:
		return numx.ParseInt(b)
	}
	if f.scale == numx.Second {
		return numx.Seconds(b)
	}
	return numx.Scaled(b, int(f.scale))
}

// units are the values of -1 in the units of the scales.
var units = [...]int64{numx.Nanosecond: -1, numx.Microsecond: -1e3, numx.Millisecond: -1e6, numx.Second: -1e9}

// set sets the column of a number. -1 and, for a count, every negative number
// mean that it is not known; only the intended time of sending may be a second
// before the origin of a clock.
func (p *parser) set(f *field, v int64) {
	switch {
	case f.kind == count || f.kind == eventTokens:
		if v < 0 {
			p.Note(negativeCount, p.row.Offset)
			p.unset(f)
			return
		}
	case v == units[f.scale] && f.col != trace.ScheduledSend:
		p.Note(assemble.UnknownStamp, p.row.Offset)
		p.unset(f)
		return
	}
	switch f.kind {
	case arrival:
		p.row.Arrival, p.row.HasArrival = v, true
	case eventTime:
		p.event.at, p.event.hasAt = v, true
	case eventTokens:
		p.event.tokens, p.event.hasCount = v, true
	default:
		p.row.SetInt(f.col, v)
	}
}

// unset forgets what an earlier occurrence of the key has set.
func (p *parser) unset(f *field) {
	switch f.kind {
	case arrival:
		p.row.HasArrival = false
	case eventTime:
		p.event.hasAt = false
	case eventTokens:
		p.event.hasCount = false
	case eventName:
		p.event.hasName = false
	case eventKind:
		p.event.kind = nil
	case tokenTimes:
		p.row.HasTokens = false
	case gapList:
		p.row.HasGaps = false
	case tokenCounts:
		p.row.HasTokenCount = false
	case failure:
		p.row.Error = false
		p.row.Unset(trace.ErrorClass)
	default:
		p.row.Unset(f.col)
	}
}

// oddNumber reads what stands in the place of a number: null, NaN, a number in
// quotes, or something else.
func (p *parser) oddNumber(f *field) bool {
	if nan, ok := p.literal(); ok {
		if nan {
			p.Note(notANumber, p.row.Offset)
		}
		p.unset(f)
		return true
	}
	if p.text[p.i] == '"' {
		from, to, _, ok := p.str()
		if !ok {
			return false
		}
		s := bytes.TrimSpace(p.text[from:to])
		if v, n, ok := number(s, f); ok && n == len(s) {
			p.set(f, v)
			return true
		}
		if p.unset(f); len(s) > 0 {
			p.Note(badValue, p.row.Offset)
		}
		return true
	}
	p.unset(f)
	p.Note(badValue, p.row.Offset)
	return p.skip()
}

// list reads a list of numbers. An element that is none is Unknown.
func (p *parser) list(f *field) bool {
	if p.text[p.i] != '[' {
		p.unset(f)
		if nan, ok := p.literal(); ok && !nan {
			return true
		}
		p.Note(badValue, p.row.Offset)
		return p.skip()
	}
	p.i++
	dst, has := &p.row.Tokens, &p.row.HasTokens
	switch f.kind {
	case gapList:
		dst, has = &p.row.Gaps, &p.row.HasGaps
	case tokenCounts:
		dst, has = &p.row.ChunkTokens, &p.row.HasTokenCount
	}
	scale := int(f.scale)
	if f.kind == tokenCounts {
		scale = 0
	}
	*has = true
	*dst = (*dst)[:0]
	for {
		out, n, stopped := numx.List(*dst, p.text[p.i:], scale, false)
		*dst = out
		p.i += n
		if stopped != numx.Odd {
			return stopped == numx.End
		}
		v, ok := p.element(f, scale)
		if !ok {
			return false
		}
		*dst = append(*dst, v)
		p.space()
		switch p.text[p.i] {
		case ']':
			p.i++
			return true
		case ',':
			p.i++
		default:
			return false
		}
	}
}

// element reads one element of a list that is not plainly a number.
func (p *parser) element(f *field, scale int) (int64, bool) {
	if p.text[p.i] == '"' {
		if from, to, _, ok := p.str(); ok {
			if v, n, ok := numx.Scaled(p.text[from:to], scale); ok && n == to-from {
				return v, true
			}
			p.row.HasUnknown = true
			return assemble.Unknown, true
		}
		return 0, false
	}
	p.row.HasUnknown = true
	from := p.i
	ok := p.skip()
	if wrongUnit(f, p.text[from:p.i]) != "" {
		p.outOfRange(f, p.text[from:p.i])
	}
	return assemble.Unknown, ok
}

// bool reads true or false.
func (p *parser) bool(f *field) bool {
	from := p.i
	if !p.skip() {
		return false
	}
	switch string(p.text[from:p.i]) {
	case "true":
		p.row.SetInt(f.col, 1)
	case "false":
		p.row.SetInt(f.col, 0)
	case "null":
		p.unset(f)
	default:
		p.unset(f)
		p.Note(badValue, p.row.Offset)
	}
	return true
}

// name reads a text. A number stands for its digits: ids and ranks are often
// numbers. Null and the empty text are not known.
func (p *parser) name(f *field) bool {
	var s []byte
	switch c := p.text[p.i]; {
	case c == '"':
		from, to, escaped, ok := p.str()
		if !ok {
			return false
		}
		if s = p.text[from:to]; escaped {
			s = unquote(s)
		}
	case c == '{', c == '[':
		p.unset(f)
		p.Note(badValue, p.row.Offset)
		return p.skip()
	default:
		from := p.i
		if !p.skip() {
			return false
		}
		if s = p.text[from:p.i]; string(s) == "null" {
			s = nil
		}
	}
	if len(s) == 0 {
		p.unset(f)
		return true
	}
	p.setName(f, s)
	return true
}

func (p *parser) setName(f *field, s []byte) {
	switch f.kind {
	case eventName:
		p.event.name, p.event.hasName = eventNameOf(s), true
	case eventKind:
		p.event.kind = s
	case text:
		p.row.SetText(f.col, s)
	default:
		i := slices.Index(trace.Requests.Fields[f.col].Values, string(s))
		switch {
		case i >= 0:
			p.row.SetInt(f.col, int64(i))
		case f.kind == statusCode:
			p.unset(f)
			p.Note(unknownStatus, p.row.Offset)
		default:
			p.unset(f)
			p.Note(badValue, p.row.Offset)
		}
	}
}

// failure reads the value of "error". Its class is kept, its text is not.
func (p *parser) failure() bool {
	from := p.i
	if p.text[p.i] == '{' {
		return p.failureObject()
	}
	if p.text[p.i] == '"' {
		from, to, escaped, ok := p.str()
		if !ok {
			return false
		}
		s := p.text[from:to]
		if escaped {
			s = unquote(s)
		}
		p.fail(class(s), len(s) > 0)
		return true
	}
	if !p.skip() {
		return false
	}
	switch s := p.text[from:p.i]; string(s) {
	case "null", "false", "0", "[]":
		p.fail(nil, false)
	case "true":
		p.fail(nil, true)
	default:
		p.fail(class(s), true)
	}
	return true
}

// fail notes whether the request failed, and why if that is known.
func (p *parser) fail(class []byte, failed bool) {
	p.row.Error = failed
	if p.row.Unset(trace.ErrorClass); class != nil {
		p.row.SetText(trace.ErrorClass, class)
	}
}
