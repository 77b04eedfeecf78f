package parquet

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/big"
	"time"

	"servescope/formats/internal/column"
)

// form is what bytes of a fixed length hold; see
// https://github.com/apache/parquet-format/blob/master/LogicalTypes.md
type form uint8

const (
	noForm form = iota
	decimal
	uuid
	interval
)

// fixed sets the field of a leaf of bytes of a fixed length. A decimal that has
// more digits than an integer becomes text.
func (n *node) fixed(l *leaf) {
	switch {
	case n.decimal() && n.length > 0 && n.length <= 32:
		l.Kind, l.form = column.Text, decimal
	case n.logical == 14 && n.length == 16:
		l.Kind, l.form = column.Text, uuid
	case n.converted == 21 && n.length == 12:
		l.Kind, l.form, l.Step = column.Int, interval, int64(time.Millisecond)
	}
	l.length = int(n.length)
}

// decimal reports whether numbers are whole ones times a power of ten.
func (n *node) decimal() bool { return n.logical == 5 || n.logical == 0 && n.converted == 5 }

// appendFixed appends the text of a value.
func (l *leaf) appendFixed(dst, src []byte) []byte {
	if l.form == uuid {
		for i, part := range [...][]byte{src[:4], src[4:6], src[6:8], src[8:10], src[10:]} {
			if i > 0 {
				dst = append(dst, '-')
			}
			dst = hex.AppendEncode(dst, part)
		}
		return dst
	}
	v := new(big.Int).SetBytes(src) // of two's complement, the highest byte first
	if src[0]&0x80 != 0 {
		v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(8*len(src))))
		dst = append(dst, '-')
		v.Neg(v)
	}
	text := v.Append(nil, 10)
	for len(text) <= l.scale {
		text = append([]byte{'0'}, text...)
	}
	dst = append(dst, text[:len(text)-l.scale]...)
	if l.scale > 0 {
		dst = append(dst, '.')
	}
	return append(dst, text[len(text)-l.scale:]...)
}

// decodeFixed reads n values of a fixed length as texts.
func (v *values) decodeFixed(l *leaf, src []byte, n int) error {
	if len(src) < n*l.length {
		return errShort
	}
	v.data = v.data[:0]
	for i := range n {
		v.data = l.appendFixed(v.data, src[i*l.length:][:l.length])
		if len(v.data) > maxPage {
			return errShort
		}
		v.ends = append(v.ends, int32(len(v.data)))
	}
	return nil
}

// intervals reads lengths in ms. One with months, which have no length, is beyond
// any time.
func intervals(src []byte, dst []int64) error {
	if len(src) < 12*len(dst) {
		return errShort
	}
	for i := range dst {
		b := src[12*i:]
		months, days, ms := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:]), binary.LittleEndian.Uint32(b[8:])
		if dst[i] = int64(days)*86400e3 + int64(ms); months > 0 {
			dst[i] = math.MaxInt64
		}
	}
	return nil
}
