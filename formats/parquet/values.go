package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"servescope/formats/internal/column"

	"github.com/parquet-go/parquet-go/encoding/bytestreamsplit"
	"github.com/parquet-go/parquet-go/encoding/delta"
)

// Encodings of values.
const (
	plain           = 0
	plainDictionary = 2
	rle             = 3
	deltaPacked     = 5
	deltaLength     = 6
	deltaStrings    = 7
	rleDictionary   = 8
	streamSplit     = 9
)

// values are the values of a page that are not null, one after the other, in the
// slice of their kind.
type values struct {
	ints   []int64
	floats []float64
	bits   []byte // of truth values
	codes  []int32
	data   []byte
	ends   []int32 // texts: offsets, one more than there are texts
	words  words   // lists of texts: the elements

	small []int32
	spans []uint32
	raw   []byte
}

// dictionary holds the values of a dictionary page.
type dictionary struct {
	ints   []int64
	floats []float64
	texts  []string
	known  bool
}

var (
	errShort    = damaged{errors.New("a page has fewer values than it claims")}
	errCode     = damaged{errors.New("a value is not in its dictionary")}
	errNoDict   = damaged{errors.New("a page refers to a dictionary that there is not")}
	errEncoding = errors.New("which is not read")
)

// unreadable is an encoding that a type cannot have, or that is not read.
func unreadable(l *leaf, encoding int64) error {
	return damaged{fmt.Errorf("column %s has encoding %d, %w", l.Name, encoding, errEncoding)}
}

// decode reads n values of a page. Integers are put behind the first keep ones
// that v.ints already has, and so are floats; elements that are texts are put
// behind those that v.words has.
func (v *values) decode(l *leaf, d *dictionary, encoding int64, src []byte, n, keep int) error {
	v.codes = v.codes[:0]
	if encoding == plainDictionary || encoding == rleDictionary {
		return v.lookUp(l, d, src, n, keep)
	}
	switch l.Kind {
	case column.Int, column.IntList:
		v.ints = grown(v.ints, keep, n)
		return v.decodeInts(l, encoding, src, v.ints[keep:])
	case column.Float, column.FloatList:
		v.floats = grown(v.floats, keep, n)
		return v.decodeFloats(l, encoding, src, v.floats[keep:])
	case column.Bool:
		return v.decodeBools(l, encoding, src, n)
	case column.Text:
		return v.decodeTexts(l, encoding, src, n)
	case column.TextList:
		if err := v.decodeTexts(l, encoding, src, n); err != nil {
			return err
		}
		for i := range n {
			if err := v.words.add(v.data[v.ends[i]:v.ends[i+1]]); err != nil {
				return err
			}
		}
		return nil
	}
	return unreadable(l, encoding)
}

// grown returns s with room for n values behind the first keep.
func grown[T any](s []T, keep, n int) []T {
	if cap(s) >= keep+n {
		return s[:keep+n]
	}
	out := make([]T, keep+n, keep+n+n/8)
	copy(out, s[:keep])
	return out
}

// lookUp reads codes of the dictionary.
func (v *values) lookUp(l *leaf, d *dictionary, src []byte, n, keep int) (err error) {
	if !d.known {
		return errNoDict
	}
	if n == 0 {
		return nil
	}
	if len(src) == 0 || src[0] > 32 {
		return errShort
	}
	if v.codes, err = hybrid(v.codes, src[1:], int(src[0]), n); err != nil {
		return err
	}
	size := uint32(len(d.texts) + len(d.ints) + len(d.floats)) // it has one kind
	for _, c := range v.codes {
		if uint32(c) >= size {
			return errCode
		}
	}
	switch l.Kind {
	case column.Int, column.IntList:
		v.ints = grown(v.ints, keep, n)
		for i, c := range v.codes {
			v.ints[keep+i] = d.ints[c]
		}
	case column.Float, column.FloatList:
		v.floats = grown(v.floats, keep, n)
		for i, c := range v.codes {
			v.floats[keep+i] = d.floats[c]
		}
	case column.Text:
	case column.TextList:
		for _, c := range v.codes {
			if err := v.words.add([]byte(d.texts[c])); err != nil {
				return err
			}
		}
	default:
		return unreadable(l, rleDictionary)
	}
	return nil
}

func (v *values) decodeInts(l *leaf, encoding int64, src []byte, dst []int64) error {
	switch {
	case encoding == plain:
		return plainInts(l, src, dst)
	case encoding == deltaPacked && l.physical == int64s:
		if !claims(src, len(dst)) {
			return errShort
		}
		out, err := new(delta.BinaryPackedEncoding).DecodeInt64(dst[:0], src)
		if err != nil || len(out) != len(dst) {
			return errShort
		}
		if len(dst) > 0 && &out[0] != &dst[0] {
			copy(dst, out)
		}
		return nil
	case encoding == deltaPacked && l.physical == int32s:
		if !claims(src, len(dst)) {
			return errShort
		}
		out, err := new(delta.BinaryPackedEncoding).DecodeInt32(v.small[:0], src)
		return v.widen(l, dst, out, err)
	case encoding == streamSplit && l.physical == int64s && len(src) == 8*len(dst):
		_, err := new(bytestreamsplit.Encoding).DecodeInt64(dst, src)
		return err
	case encoding == streamSplit && l.physical == int32s && len(src) == 4*len(dst):
		out, err := new(bytestreamsplit.Encoding).DecodeInt32(v.small[:0], src)
		return v.widen(l, dst, out, err)
	}
	return unreadable(l, encoding)
}

// claims reports whether a delta-packed page says that it has n values.
func claims(src []byte, n int) bool {
	for range 2 { // sizes of blocks
		_, k := binary.Uvarint(src)
		if k <= 0 {
			return false
		}
		src = src[k:]
	}
	total, k := binary.Uvarint(src)
	return k > 0 && total == uint64(n)
}

// widen makes what was decoded the values dst.
func (v *values) widen(l *leaf, dst []int64, small []int32, err error) error {
	if v.small = small; err != nil || len(small) != len(dst) {
		return errShort
	}
	for i, x := range small {
		dst[i] = int64(x)
	}
	l.unsign(dst)
	return nil
}

// The Julian day of the Unix epoch, of which old timestamps count, and how many
// days from it on there are nanoseconds of.
const (
	julianEpoch = 2440588
	mostDays    = 106750
)

// unsign makes numbers of 32 bits those without a sign, if that is what they are.
func (l *leaf) unsign(v []int64) {
	if !l.unsigned {
		return
	}
	for i := range v {
		v[i] &= math.MaxUint32
	}
}

func plainInts(l *leaf, src []byte, dst []int64) error {
	switch l.physical {
	case int64s:
		if len(src) < 8*len(dst) {
			return errShort
		}
		for i := range dst {
			dst[i] = int64(binary.LittleEndian.Uint64(src[8*i:]))
		}
	case int32s:
		if len(src) < 4*len(dst) {
			return errShort
		}
		for i := range dst {
			dst[i] = int64(int32(binary.LittleEndian.Uint32(src[4*i:])))
		}
		l.unsign(dst)
	case fixedArrays:
		return intervals(src, dst)
	default: // nanoseconds of the day, and the day
		if len(src) < 12*len(dst) {
			return errShort
		}
		for i := range dst {
			day := int64(int32(binary.LittleEndian.Uint32(src[12*i+8:]))) - julianEpoch
			if dst[i] = day*86400e9 + int64(binary.LittleEndian.Uint64(src[12*i:])); max(day, -day) > mostDays {
				dst[i] = math.MaxInt64 // beyond any time
			}
		}
	}
	return nil
}

func (v *values) decodeFloats(l *leaf, encoding int64, src []byte, dst []float64) error {
	size := 8
	switch l.physical {
	case floats:
		size = 4
	case fixedArrays:
		size = 2
	}
	switch {
	case encoding == deltaStrings && size == 2:
		if err := v.decodeBytes(l, encoding, src, len(dst)); err != nil {
			return err
		}
		src = v.data
	case encoding != plain && encoding != streamSplit:
		return unreadable(l, encoding)
	}
	if len(src) < size*len(dst) {
		return errShort
	}
	switch {
	case encoding == streamSplit:
		n := len(src) / size // the stream of each byte
		for i := range dst {
			dst[i] = floatOf(src[i:], n, size)
		}
	case size == 8:
		for i := range dst {
			dst[i] = math.Float64frombits(binary.LittleEndian.Uint64(src[8*i:]))
		}
	default:
		for i := range dst {
			dst[i] = floatOf(src[size*i:], 1, size)
		}
	}
	return nil
}

// floatOf returns the number of size bytes, which lie step bytes apart.
func floatOf(b []byte, step, size int) float64 {
	var x uint64
	for k := range size {
		x |= uint64(b[k*step]) << (8 * k)
	}
	switch size {
	case 8:
		return math.Float64frombits(x)
	case 4:
		return float64(math.Float32frombits(uint32(x)))
	}
	return half(uint16(x))
}

func (v *values) decodeBools(l *leaf, encoding int64, src []byte, n int) (err error) {
	switch encoding {
	case plain:
		if 8*len(src) < n {
			return errShort
		}
		v.bits = append(v.bits[:0], src[:(n+7)/8]...)
		return nil
	case rle:
		if len(src) < 4 {
			return errShort
		}
		if v.small, err = hybrid(v.small, src[4:], 1, n); err != nil {
			return err
		}
		v.bits = append(v.bits[:0], make([]byte, (n+7)/8)...)
		for i, b := range v.small {
			v.bits[i>>3] |= byte(b&1) << (i & 7)
		}
		return nil
	}
	return unreadable(l, encoding)
}

// read fills the dictionary from its page.
func (d *dictionary) read(l *leaf, v *values, h *header, body []byte) error {
	*d = dictionary{known: true}
	if h.encoding != plain && h.encoding != plainDictionary {
		return unreadable(l, h.encoding)
	}
	n := int(h.values)
	if n > len(body) && l.Kind != column.Bool {
		return errShort
	}
	switch l.Kind {
	case column.Int, column.IntList:
		d.ints = make([]int64, n)
		return plainInts(l, body, d.ints)
	case column.Float, column.FloatList:
		d.floats = make([]float64, n)
		return v.decodeFloats(l, plain, body, d.floats)
	case column.Text, column.TextList:
		if err := v.decodeTexts(l, plain, body, n); err != nil {
			return err
		}
		d.texts = make([]string, n)
		for i := range d.texts {
			d.texts[i] = string(v.data[v.ends[i]:v.ends[i+1]])
		}
	}
	return nil
}
