package column

import (
	"errors"
	"strconv"

	"servescope/analyzer/trace"
)

// Entries are the keys, or the values, of the maps of all rows, one behind the other: a
// column that is no list.
type Entries struct {
	Field *Field
	*Column
}

const maxObjects = 1 << 28 // bytes of the texts of a batch

var errObjects = errors.New("its maps are larger than what is read")

// Objects makes texts, JSON objects, of the maps of rows, each with a span of entries. Of several values of a key the first that is not null
// counts: they are of different types. A key that is null has no entry.
func Objects(c *Column, valid trace.Bitmap, rows int, span func(row int) (from, to int), keys Entries, values []Entries) error {
	*c = Column{Valid: valid, Data: c.Data[:0], Offsets: append(c.Offsets[:0], 0)}
	b := c.Data
	for i := range rows {
		if valid.Valid(i) {
			b = append(b, '{')
			empty := len(b)
			first, last := span(i)
			for k := first; k < last; k++ {
				from := len(b)
				if from > empty {
					b = append(b, ',')
				}
				var ok bool
				if b, ok = keys.key(b, k); ok {
					b, ok = value(append(b, ':'), values, k)
				}
				if !ok {
					b = b[:from]
				}
			}
			b = append(b, '}')
		}
		if len(b) > maxObjects {
			return errObjects
		}
		c.Offsets = append(c.Offsets, int32(len(b)))
	}
	c.Data = b
	return nil
}

// key appends the key of an entry.
func (e Entries) key(b []byte, k int) ([]byte, bool) {
	if e.Null || !e.Valid.Valid(k) {
		return b, false
	}
	if e.Field.Kind == Text {
		return e.append(b, k)
	}
	b, ok := e.append(append(b, '"'), k)
	return append(b, '"'), ok
}

// value appends the first of the values of an entry.
func value(b []byte, values []Entries, k int) ([]byte, bool) {
	for _, e := range values {
		if e.Null || !e.Valid.Valid(k) {
			continue
		}
		if own, ok := e.append(b, k); ok {
			return own, true
		}
	}
	return b, false
}

// append appends a value as JSON.
func (e Entries) append(b []byte, k int) ([]byte, bool) {
	switch e.Field.Kind {
	case Int:
		return e.Field.AppendInt(b, e.Ints[k]), true
	case Float:
		v := e.Floats[k]
		if v-v != 0 {
			return b, false
		}
		return e.Field.AppendFloat(b, v), true
	case Bool:
		return strconv.AppendBool(b, e.Bits[k>>3]>>(k&7)&1 != 0), true
	case Text:
		if e.Codes != nil {
			return quote(b, []byte(e.Values[e.Codes[k]])), true
		}
		text := e.Data[e.Offsets[k]:e.Offsets[k+1]]
		if e.Field.Number {
			return append(b, text...), true
		}
		return quote(b, text), true
	}
	return b, false
}

// quote appends a text as a string of JSON.
func quote(b, text []byte) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for _, c := range text {
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < ' ':
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}
