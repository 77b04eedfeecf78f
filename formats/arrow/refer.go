package arrow

import (
	"encoding/hex"
	"errors"

	"servescope/formats/internal/column"

	"github.com/apache/arrow-go/v18/arrow/array"
)

// gather sets c to rows of other values, by their places: -1 is null.
func (v *converter) gather(c, from *column.Column, at []int32) error {
	holes := from.Valid != nil
	for _, k := range at {
		holes = holes || k < 0
	}
	*c = column.Column{}
	if holes {
		v.valid = append(v.valid[:0], make([]byte, (len(at)+7)/8)...)
		for i, k := range at {
			if k >= 0 && from.Valid.Valid(int(k)) {
				v.valid[i>>3] |= 1 << (i & 7)
			}
		}
		c.Valid = v.valid
	}
	switch {
	case from.Offsets != nil:
		return v.spell(c, len(at), func(i int) []byte { return from.Data[from.Offsets[at[i]]:from.Offsets[at[i]+1]] })
	case from.Bits != nil:
		c.Bits = make([]byte, (len(at)+7)/8)
		for i, k := range at {
			if k >= 0 && from.Bits.Valid(int(k)) {
				c.Bits[i>>3] |= 1 << (i & 7)
			}
		}
	case from.Floats != nil:
		c.Floats = chosen(from.Floats, at)
	case from.Ints != nil:
		c.Ints = chosen(from.Ints, at)
	case len(at) > 0:
		c.Null = true // of no values at all
	}
	return nil
}

func chosen[T any](from []T, at []int32) []T {
	out := make([]T, len(at))
	for i, k := range at {
		if k >= 0 {
			out[i] = from[k]
		}
	}
	return out
}

const maxSpelled = 1 << 28 // bytes of texts that codes stand for

// spell sets n texts.
func (v *converter) spell(c *column.Column, n int, text func(i int) []byte) error {
	data, offsets := []byte{}, make([]int32, 1, n+1)
	for i := range n {
		if c.Valid.Valid(i) {
			if data = append(data, text(i)...); len(data) > maxSpelled {
				return errOffsets
			}
		}
		offsets = append(offsets, int32(len(data)))
	}
	c.Codes, c.Values, c.Data, c.Offsets = nil, nil, data, offsets
	return nil
}

// dictionary sets the codes and the texts they stand for, or other values.
func (v *converter) dictionary(a *array.Dictionary, c *column.Column) error {
	words := a.Dictionary()
	values, err := v.of(words)
	if err != nil {
		return err
	}
	if err := v.codesOf(a, c); err != nil {
		return err
	}
	for i, code := range c.Codes {
		if c.Valid.Valid(i) && (code < 0 || int(code) >= words.Len()) {
			return errCode
		}
	}
	if isText(words.DataType()) && values.Valid == nil {
		c.Values = make([]string, words.Len())
		for i := range c.Values {
			c.Values[i] = string(values.Data[values.Offsets[i]:values.Offsets[i+1]])
		}
		return nil
	}
	at := append(v.at[:0], c.Codes...)
	for i := range at {
		if !c.Valid.Valid(i) {
			at[i] = -1
		}
	}
	v.at = at
	return v.gather(c, values, at)
}

// codesOf sets the codes of a dictionary.
func (v *converter) codesOf(a *array.Dictionary, c *column.Column) error {
	if direct, ok := a.Indices().(*array.Int32); ok {
		c.Codes = direct.Int32Values()
		return nil
	}
	var wide column.Column
	if err := v.numbers(a.Indices(), &wide); err != nil {
		return err
	}
	v.codes = v.codes[:0]
	for _, code := range wide.Ints {
		if int64(int32(code)) != code {
			code = -1
		}
		v.codes = append(v.codes, int32(code))
	}
	c.Codes = v.codes
	return nil
}

var errRuns = errors.New("its runs have more rows than are read at once")

// runs sets values of which each is that of several rows.
func (v *converter) runs(a *array.RunEndEncoded, c *column.Column) error {
	values, err := v.of(a.Values())
	if err != nil {
		return err
	}
	var ends column.Column
	if err := v.numbers(a.RunEndsArr(), &ends); err != nil {
		return err
	}
	if v.at = v.at[:0]; a.Len() > maxReferred {
		return errRuns
	}
	for k, end := range ends.Ints {
		if end < int64(len(v.at)) || k >= a.Values().Len() {
			return errOffsets
		}
		for int64(len(v.at)) < min(end, int64(a.Len())) {
			v.at = append(v.at, int32(k))
		}
	}
	if len(v.at) != a.Len() {
		return errOffsets
	}
	return v.gather(c, values, v.at)
}

// uuidOf returns the text of a UUID.
func uuidOf(b []byte) string {
	text := hex.EncodeToString(b)
	if len(text) != 32 {
		return text
	}
	return text[:8] + "-" + text[8:12] + "-" + text[12:16] + "-" + text[16:20] + "-" + text[20:]
}
