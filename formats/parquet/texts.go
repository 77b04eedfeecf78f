package parquet

import (
	"encoding/binary"

	"github.com/parquet-go/parquet-go/encoding/bytestreamsplit"
	"github.com/parquet-go/parquet-go/encoding/delta"
)

// words are texts, one behind the other.
type words struct {
	data []byte
	ends []int32 // one more than there are texts
}

// add appends a text.
func (w *words) add(text []byte) error {
	if len(w.data)+len(text) > maxPage {
		return errLong
	}
	w.data = append(w.data, text...)
	w.ends = append(w.ends, int32(len(w.data)))
	return nil
}

// keep drops all but n texts from the given one on.
func (w *words) keep(from, n int) {
	if len(w.ends) == 0 || n == 0 {
		w.data, w.ends = w.data[:0], append(w.ends[:0], 0)
		return
	}
	base := w.ends[from]
	w.data = w.data[:copy(w.data, w.data[base:w.ends[from+n]])]
	for i, end := range w.ends[from : from+n+1] {
		w.ends[i] = end - base
	}
	w.ends = w.ends[:n+1]
}

// decodeTexts reads n values as texts.
func (v *values) decodeTexts(l *leaf, encoding int64, src []byte, n int) error {
	if err := v.decodeBytes(l, encoding, src, n); err != nil || l.form == noForm {
		return err
	}
	v.raw, v.data = v.data, v.raw[:0]
	from := int32(0)
	for i, to := range v.ends[1:] {
		v.data = l.appendFixed(v.data, v.raw[from:to])
		if from = to; len(v.data) > maxPage {
			return errLong
		}
		v.ends[i+1] = int32(len(v.data))
	}
	return nil
}

// decodeBytes reads n values of bytes.
func (v *values) decodeBytes(l *leaf, encoding int64, src []byte, n int) error {
	v.data, v.ends = v.data[:0], append(v.ends[:0], 0)
	fixed := l.physical == fixedArrays
	switch {
	case encoding == plain && !fixed:
		if len(src) < 4*n {
			return errShort
		}
		v.data, v.ends = grown(v.data, 0, len(src)-4*n)[:0], grown(v.ends, 1, n)[:1]
		for range n {
			if len(src) < 4 || uint64(binary.LittleEndian.Uint32(src)) > uint64(len(src)-4) {
				return errShort
			}
			size := binary.LittleEndian.Uint32(src)
			v.data = append(v.data, src[4:4+size]...)
			v.ends = append(v.ends, int32(len(v.data)))
			src = src[4+size:]
		}
		return nil
	case encoding == plain:
		return v.pieces(l, src, n)
	case encoding == streamSplit && fixed:
		if len(src) != n*l.length || l.length == 0 {
			return errShort
		}
		var err error
		if v.raw, err = new(bytestreamsplit.Encoding).DecodeFixedLenByteArray(v.raw, src, l.length); err != nil {
			return errShort
		}
		return v.pieces(l, v.raw, n)
	case encoding == deltaLength && !fixed:
		return v.lengths(src, n)
	case encoding == deltaStrings:
		return v.prefixed(l, src, n)
	}
	return unreadable(l, encoding)
}

// pieces takes n values of the length that the type says.
func (v *values) pieces(l *leaf, src []byte, n int) error {
	if len(src)/max(1, l.length) < n || n*l.length > maxPage {
		return errShort
	}
	v.data = append(v.data, src[:n*l.length]...)
	for i := range n {
		v.ends = append(v.ends, int32((i+1)*l.length))
	}
	return nil
}

// lengths reads n values behind their lengths.
func (v *values) lengths(src []byte, n int) (err error) {
	if !claims(src, n) {
		return errShort
	}
	v.data, v.spans, err = new(delta.LengthByteArrayEncoding).DecodeByteArray(v.data[:0], src, v.spans[:0])
	if err != nil || len(v.spans) != n+1 || len(v.data) > maxPage {
		return errShort
	}
	for i, off := range v.spans[1:] {
		if off < v.spans[i] || int(off) > len(v.data) {
			return errShort
		}
		v.ends = append(v.ends, int32(off))
	}
	return nil
}

// prefixed reads n values of which each begins as the one before it, behind how
// many bytes of it that are and the lengths of what follows these; see
// https://github.com/apache/parquet-format/blob/master/Encodings.md#DELTASTRING
func (v *values) prefixed(l *leaf, src []byte, n int) (err error) {
	size, ok := deltaSize(src, n)
	if !ok {
		return errShort
	}
	if v.small, err = new(delta.BinaryPackedEncoding).DecodeInt32(v.small[:0], src); err != nil || len(v.small) != n {
		return errShort
	}
	if err := v.lengths(src[size:], n); err != nil {
		return err
	}
	suffixes := v.data
	v.data, v.ends = v.raw[:0], v.ends[:1]
	v.raw = suffixes
	from := 0
	for i, shared := range v.small {
		to := len(v.data)
		if shared < 0 || int(shared) > to-from || to+int(shared) > maxPage {
			return errShort
		}
		v.data = append(v.data, v.data[from:from+int(shared)]...)
		v.data = append(v.data, suffixes[v.spans[i]:v.spans[i+1]]...)
		if from = to; l.length > 0 && len(v.data)-from != l.length {
			return errShort
		}
		v.ends = append(v.ends, int32(len(v.data)))
	}
	return nil
}

// deltaSize returns the bytes that n delta-packed numbers of 32 bits take, which
// src begins with; see
// https://github.com/apache/parquet-format/blob/master/Encodings.md#DELTAENC
func deltaSize(src []byte, n int) (size int, ok bool) {
	rest := src
	number := func() int {
		v, k := binary.Uvarint(rest)
		if k <= 0 || v > maxPage {
			ok = false
			return 0
		}
		rest = rest[k:]
		return int(v)
	}
	ok = true
	block, minis, total := number(), number(), number()
	_, k := binary.Uvarint(rest) // the first number
	if !ok || k <= 0 || minis == 0 || block%minis != 0 || total != n {
		return 0, false
	}
	rest = rest[k:]
	for left := n - 1; left > 0; {
		_, k := binary.Uvarint(rest) // the least difference
		if k <= 0 || len(rest)-k < minis {
			return 0, false
		}
		widths := rest[k : k+minis]
		rest = rest[k+minis:]
		for i := 0; i < minis && left > 0; i++ {
			packed := block / minis * int(widths[i]) / 8
			if packed > len(rest) {
				return 0, false
			}
			rest = rest[packed:]
			left -= block / minis
		}
		if block == 0 {
			return 0, false
		}
	}
	return len(src) - len(rest), true
}
