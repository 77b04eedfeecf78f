package records

import (
	"bytes"

	"servescope/formats"
	"servescope/formats/internal/json"
	"servescope/formats/internal/numx"
)

const (
	maxSlots = 48
	maxText  = 1024 // bytes of a text that are kept
)

// Fields are the values of one object that a Dialect names, by slot. As in Python
// the last of equal names counts; of the elements of an array, too.
type Fields struct {
	table  map[string]int
	values [maxSlots]value
	text   []byte
}

type value struct {
	kind     formats.Kind // NoJSON: missing
	from, to int
}

// NewFields returns fields for objects within others; see Elements.
func NewFields(table map[string]int) *Fields { return &Fields{table: table} }

// Read takes the object that text holds. It reports false for another thing.
func (f *Fields) Read(text []byte) bool {
	f.Reset()
	_, ok := json.Walk(text, 0, f.keep)
	return ok
}

// Reset forgets all values.
func (f *Fields) Reset() {
	clear(f.values[:])
	f.text = f.text[:0]
}

func (f *Fields) keep(path, raw []byte, kind formats.Kind) {
	if slot, ok := f.table[string(path)]; ok {
		f.Keep(slot, raw, kind)
	}
}

// Keep sets a slot to a value as it is written in JSON, strings without their quotes.
// Of a long one the first maxText bytes are kept.
func (f *Fields) Keep(slot int, raw []byte, kind formats.Kind) {
	from := len(f.text)
	if kind == formats.String {
		f.text = json.AppendText(f.text, raw, maxText)
	} else {
		f.text = append(f.text, raw[:min(len(raw), maxText)]...)
	}
	f.values[slot] = value{kind, from, len(f.text)}
}

// Set sets a slot to a text that is decoded, as for a cell of a table.
func (f *Fields) Set(slot int, text []byte, kind formats.Kind) {
	f.values[slot] = value{kind, len(f.text), len(f.text) + len(text)}
	f.text = append(f.text, text...)
}

// Has reports whether a value is there and is not null.
func (f *Fields) Has(slots ...int) bool {
	for _, s := range slots {
		if k := f.values[s].kind; k == formats.NoJSON || k == formats.Null {
			return false
		}
	}
	return true
}

// Kind is that of a value, NoJSON where it is missing.
func (f *Fields) Kind(slot int) formats.Kind { return f.values[slot].kind }

// Text is a value as it is written, strings decoded; empty where it is null.
func (f *Fields) Text(slot int) []byte {
	v := f.values[slot]
	if v.kind == formats.Null {
		return nil
	}
	return f.text[v.from:v.to]
}

// Is reports whether a value is the text or the word.
func (f *Fields) Is(slot int, word string) bool { return bytes.EqualFold(f.Text(slot), []byte(word)) }

// Count is a value that is a whole number and not negative. Exporters of tables
// write numbers as strings.
func (f *Fields) Count(slot int) (int64, bool) {
	b := f.Text(slot)
	v, n, ok := numx.ParseInt(b)
	if n < len(b) { // 5.0
		v, n, ok = numx.Scaled(b, 0)
	}
	return v, ok && len(b) > 0 && n == len(b) && v >= 0
}

// Number is a value that is a number.
func (f *Fields) Number(slot int) (float64, bool) {
	b := f.Text(slot)
	v, n, ok := numx.ParseFloat(b)
	return v, ok && len(b) > 0 && n == len(b) && v-v == 0
}

// Span is a number as ns; scale is numx.Second and so on.
func (f *Fields) Span(slot, scale int) (int64, bool) {
	b := f.Text(slot)
	v, n, ok := numx.Scaled(b, scale)
	return v, ok && len(b) > 0 && n == len(b)
}

// Elements calls visit for each object of the first array that is a member name of
// the object in text or of one within it, with its offset.
func Elements(text []byte, name string, visit func(element []byte, at int)) {
	key := []byte(`"` + name + `"`)
	for s := (json.Scanner{B: text}); ; {
		k := bytes.Index(text[s.I:], key)
		if k < 0 {
			return
		}
		if s.I += k + len(key); s.Take(':') && s.Take('[') {
			Each(text, s.I, visit)
			return
		}
	}
}

// Each calls visit for each element of an array whose first may begin at i, with
// its offset, as far as they are whole. What follows them is at rest: the end of the
// array, an element that is not whole, or the end of text.
func Each(text []byte, i int, visit func(element []byte, at int)) (rest int) {
	for {
		for i < len(text) && bytes.IndexByte([]byte(" \t\r\n,"), text[i]) >= 0 {
			i++
		}
		next, ok := json.Walk(text, i, nothing)
		if !ok {
			return i
		}
		visit(text[i:next], i)
		i = next
	}
}

func nothing([]byte, []byte, json.Kind) {}
