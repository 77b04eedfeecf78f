package documents

import (
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
	"servescope/formats/internal/assemble"
	"servescope/formats/internal/json"
	"servescope/formats/internal/numx"
	"servescope/formats/internal/records"
)

const (
	maxSlots = 20   // fields and lists of a request
	maxText  = 1024 // bytes of a text that are kept
	maxName  = 128
	maxDepth = 32
)

// Request is one request as far as a Dialect names its members.
type Request struct {
	Status trace.Status   // as its place tells
	Run    *trace.RunMeta // that it is of

	columns  []column
	fields   [maxSlots]field
	text     []byte // of the fields
	lists    [maxSlots][]int64
	listed   [maxSlots]bool
	problems [len(problems)]bool
	wanted   bool // the lists of rows are
	gaps     []int64
	counts   []int64
}

type column struct {
	col trace.Col
	field
}

type field struct {
	kind     json.Kind // EOF: missing
	from, to int
}

// What may be wrong with members of a request, each said once of it.
const (
	ofList = iota
	ofValue
	ofStamp
)

var problems = [...]*assemble.Problem{ofList: badList, ofValue: badValue, ofStamp: assemble.UnknownStamp}

func (q *Request) reset(status trace.Status) {
	q.Status, q.text, q.columns = status, q.text[:0], q.columns[:0]
	clear(q.fields[:])
	clear(q.listed[:])
	clear(q.problems[:])
}

// keep keeps a member. As in Python the last of equal names counts.
func (q *Request) keep(m member, k json.Kind, v []byte) {
	f := field{k, len(q.text), len(q.text) + len(v)}
	q.text = append(q.text, v...)
	if m.what == '@' {
		q.fields[m.n] = f
	} else if k != json.Null {
		q.columns = append(q.columns, column{trace.Col(m.n), f})
	}
}

// row makes the row of a request, or returns why there is none.
func (q *Request) row(d *Dialect, b *trace.Builder, at int64, note func(*assemble.Problem)) *assemble.Problem {
	b.Int(trace.Offset, at)
	b.Code(trace.StatusCol, int32(q.Status))
	for _, c := range q.columns {
		q.set(b, c.col, c.kind, q.text[c.from:c.to])
	}
	if p := d.Row(q, b); p != nil {
		return p
	}
	for i := range q.problems {
		if q.problems[i] {
			note(problems[i])
		}
	}
	return nil
}

// set sets a column to a value.
func (q *Request) set(b *trace.Builder, c trace.Col, k json.Kind, v []byte) {
	f := &trace.Requests.Fields[c]
	switch f.Type {
	case trace.Text:
		b.Text(c, v)
		return
	case trace.Dict:
		b.Dict(c, v)
		return
	}
	n, size, ok := numx.ParseInt(v)
	if f.Unit == unit.Nanosecond {
		n, size, ok = numx.Scaled(v, numx.Second)
	}
	switch {
	case !ok || size != len(v) || k != json.Number:
		q.problems[ofValue] = true
	case f.Stamp && n <= 0:
		q.problems[ofStamp] = true
	default:
		b.Int(c, n)
	}
}

// Kind is the kind of a field's value, EOF where it is missing.
func (q *Request) Kind(slot int) json.Kind { return q.fields[slot].kind }

// Has reports whether a field is there and is not null.
func (q *Request) Has(slot int) bool {
	return q.fields[slot].kind != json.EOF && q.fields[slot].kind != json.Null
}

// Text is a field as it is written, strings decoded.
func (q *Request) Text(slot int) []byte {
	f := q.fields[slot]
	return q.text[f.from:f.to]
}

// Time is a field in s as ns.
func (q *Request) Time(slot int) (int64, bool) {
	b := q.Text(slot)
	v, n, ok := numx.Scaled(b, numx.Second)
	return v, ok && n == len(b) && q.fields[slot].kind == json.Number
}

// Number is a field as a float64.
func (q *Request) Number(slot int) (float64, bool) {
	b := q.Text(slot)
	v, n, ok := numx.ParseFloat(b)
	return v, ok && n == len(b) && q.fields[slot].kind == json.Number
}

// Count is a field that is a whole number.
func (q *Request) Count(slot int) (int64, bool) {
	b := q.Text(slot)
	v, n, ok := numx.ParseInt(b)
	return v, ok && n == len(b) && q.fields[slot].kind == json.Number
}

// List is an array of seconds in ns; ok is false where it is missing or broken.
func (q *Request) List(slot int) ([]int64, bool) { return q.lists[slot], q.listed[slot] }

// Span is a field that is a duration in the unit that another names, in ns.
func (q *Request) Span(slot, of int) (int64, bool) {
	exp := Exponent(string(q.Text(of)))
	v, ok := number(string(q.Text(slot)), exp)
	return int64(v + 0.5), ok && exp != "" && v >= 0 && v < 1e18 && q.fields[slot].kind == json.Number
}

// Gaps writes a list that holds durations in the unit that a field names as the
// gaps between chunks.
func (q *Request) Gaps(b *trace.Builder, list, of int) {
	exp := Exponent(string(q.Text(of)))
	if !q.listed[list] || exp == "" || !q.wanted {
		return
	}
	scale := int64(1)
	for i := exp[1]; i < '9'; i++ {
		scale *= 10
	}
	q.gaps = q.gaps[:0]
	for _, v := range q.lists[list] {
		q.gaps = append(q.gaps, (v+scale/2)/scale)
	}
	b.List(trace.ChunkGaps, q.gaps)
}

// FailCode is Fail with an HTTP status where a field holds one, else a text.
func (q *Request) FailCode(b *trace.Builder, code, text int) {
	if n, ok := q.Count(code); ok && n >= 100 && n < 600 {
		q.Fail(b, append([]byte("HTTP "), q.Text(code)...))
	} else {
		q.Fail(b, q.Text(text))
	}
}

// Fail marks the row of a request as failed with an error of the class that a
// text or an HTTP status tells.
func (q *Request) Fail(b *trace.Builder, text []byte) {
	b.Code(trace.StatusCol, int32(trace.Failed))
	b.Dict(trace.ErrorClass, []byte(records.ErrorClass(text)))
}

// Chunks writes the gaps between the stamps of tokens and how many tokens each
// chunk carries: tokens of one chunk have one stamp.
func (q *Request) Chunks(b *trace.Builder, stamps []int64) {
	if len(stamps) == 0 {
		return
	}
	q.gaps, q.counts = q.gaps[:0], q.counts[:0]
	last := stamps[0]
	n := int64(1)
	for _, t := range stamps[1:] {
		if t == last {
			n++
			continue
		}
		q.gaps, q.counts = append(q.gaps, t-last), append(q.counts, n)
		last, n = t, 1
	}
	q.counts = append(q.counts, n)
	b.Int(trace.FirstToken, stamps[0])
	b.Int(trace.LastToken, last)
	b.Int(trace.FirstChunkTokens, q.counts[0])
	if q.wanted {
		b.List(trace.ChunkGaps, q.gaps)
		b.List(trace.ChunkTokens, q.counts)
	}
}
