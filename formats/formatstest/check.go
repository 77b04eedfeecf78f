package formatstest

import (
	"fmt"
	"math"
	"unicode/utf8"

	"servescope/analyzer/trace"
)

// Check reports what is wrong with the form of a batch: columns of unequal
// length, offsets that fall, codes out of range, NaN, invalid UTF-8.
func Check(b *trace.Batch) error {
	switch {
	case b == nil:
		return fmt.Errorf("the batch is nil")
	case b.Table == nil:
		return fmt.Errorf("the batch has no table")
	case b.Run == nil:
		return fmt.Errorf("the batch has no run")
	case b.Rows <= 0:
		return fmt.Errorf("the batch has %d rows", b.Rows)
	}
	for i, f := range b.Table.Fields {
		if err := checkColumn(b, trace.Col(i), f); err != nil {
			return fmt.Errorf("column %s: %w", f.Name, err)
		}
	}
	return nil
}

func checkColumn(b *trace.Batch, c trace.Col, f trace.Field) error {
	switch f.Type {
	case trace.Int64:
		v := b.Ints(c)
		return checkLength(b.Rows, len(v.Values), v.Valid)
	case trace.Float64:
		v := b.Floats(c)
		for i := range v.Values {
			if x, ok := v.At(i); ok && (math.IsNaN(x) || math.IsInf(x, 0)) {
				return fmt.Errorf("row %d is %v", i, x)
			}
		}
		return checkLength(b.Rows, len(v.Values), v.Valid)
	case trace.Bool:
		v := b.Bools(c)
		if n := len(v.Values); n != 0 && n < (b.Rows+7)/8 {
			return fmt.Errorf("%d bytes of bits for %d rows", n, b.Rows)
		}
		return checkLength(b.Rows, 0, v.Valid)
	case trace.Dict:
		return checkDict(b, b.Dicts(c), f)
	case trace.Text:
		v := b.Texts(c)
		if err := checkOffsets(b.Rows, v.Offsets, len(v.Data), v.Valid); err != nil {
			return err
		}
		for i := range b.Rows {
			if s, ok := v.At(i); ok && (!utf8.Valid(s) || len(s) > trace.MaxText) {
				return fmt.Errorf("row %d: %d bytes, valid UTF-8: %v", i, len(s), utf8.Valid(s))
			}
		}
	case trace.List:
		v := b.Lists(c)
		return checkOffsets(b.Rows, v.Offsets, len(v.Values), v.Valid)
	}
	return nil
}

func checkLength(rows, n int, valid trace.Bitmap) error {
	if n != 0 && n != rows {
		return fmt.Errorf("%d values for %d rows", n, rows)
	}
	if valid != nil && len(valid) < (rows+7)/8 {
		return fmt.Errorf("%d bytes of validity for %d rows", len(valid), rows)
	}
	return nil
}

func checkOffsets(rows int, offsets []int32, values int, valid trace.Bitmap) error {
	if len(offsets) == 0 {
		return nil
	}
	if len(offsets) != rows+1 {
		return fmt.Errorf("%d offsets for %d rows", len(offsets), rows)
	}
	for i := range rows {
		if offsets[i] > offsets[i+1] {
			return fmt.Errorf("offsets fall from %d to %d at row %d", offsets[i], offsets[i+1], i)
		}
	}
	if offsets[0] != 0 || int(offsets[rows]) != values {
		return fmt.Errorf("offsets from %d to %d for %d values", offsets[0], offsets[rows], values)
	}
	return checkLength(rows, 0, valid)
}

func checkDict(b *trace.Batch, v trace.Dicts, f trace.Field) error {
	for i := range v.Codes {
		if c, ok := v.At(i); ok && (c < 0 || int(c) >= len(v.Values)) {
			return fmt.Errorf("row %d: code %d of %d values", i, c, len(v.Values))
		}
	}
	for i, s := range v.Values {
		if !utf8.ValidString(s) || len(s) > trace.MaxText {
			return fmt.Errorf("value %d: %d bytes, valid UTF-8: %v", i, len(s), utf8.ValidString(s))
		}
		if f.Values != nil && f.Values[i] != s {
			return fmt.Errorf("value %d is %q, want %q", i, s, f.Values[i])
		}
	}
	return checkLength(b.Rows, len(v.Codes), v.Valid)
}
