package parquet

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/big"
	"time"

	"servescope/formats/internal/column"
)

// form is what bytes hold that are no text; see
// https://github.com/apache/parquet-format/blob/master/LogicalTypes.md
type form uint8

const (
	noForm form = iota
	decimal
	uuid
	interval
)

// fixed sets the field of a leaf of bytes of a fixed length.
func (n *node) fixed(l *leaf) {
	switch {
	case n.length < 1 || n.length > maxPage:
		return
	case n.decimal():
		n.digits(l)
	case n.logical == 15 && n.length == 2:
		l.Kind, l.Narrow = column.Float, true
	case n.logical == 14 && n.length == 16:
		l.Kind, l.form = column.Text, uuid
	case n.converted == 21 && n.length == 12:
		l.Kind, l.form, l.Step = column.Int, interval, int64(time.Millisecond)
	default: // as writers do that know no other type of bytes
		l.Kind = column.Text
	}
	l.length = int(n.length)
}

// digits sets the field of a leaf of decimals in bytes: as they may have more
// digits than an integer, they become text.
func (n *node) digits(l *leaf) {
	if n.length <= mostDecimal {
		l.Kind, l.Number, l.form = column.Text, true, decimal
	}
}

const mostDecimal = 32 // bytes, of 76 digits

// half returns the number that 16 bits are.
func half(x uint16) float64 {
	sign, power, fraction := uint32(x>>15)<<31, uint32(x>>10&31), uint32(x&1023)
	switch power {
	case 0:
		v := float64(fraction) * 0x1p-24
		if sign > 0 {
			v = -v
		}
		return v
	case 31:
		return float64(math.Float32frombits(sign | 255<<23 | fraction<<13))
	}
	return float64(math.Float32frombits(sign | (power+112)<<23 | fraction<<13))
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
	if len(src) > mostDecimal {
		return dst
	}
	v := new(big.Int).SetBytes(src) // of two's complement, the highest byte first
	if len(src) > 0 && src[0]&0x80 != 0 {
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
