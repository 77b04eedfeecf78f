package cell

import (
	"encoding/binary"
	"errors"
	"fmt"

	"servescope/analyzer/kernel"
	"servescope/analyzer/stat"
)

// errState reports that bytes handed to LoadState are not a state.
var errState = errors.New("not an encoded state")

// MergeError is returned when states of different kernels are merged.
func MergeError(a, b kernel.State) error { return fmt.Errorf("cannot merge %T into %T", b, a) }

// Reader decodes what the append functions encode. After an error all reads
// give zero.
type Reader struct {
	Src []byte
	Err error
}

func (r *Reader) Fail() {
	r.Src = nil
	if r.Err == nil {
		r.Err = errState
	}
}

func (r *Reader) Int() int64 {
	v, n := binary.Varint(r.Src)
	if n <= 0 {
		r.Fail()
		return 0
	}
	r.Src = r.Src[n:]
	return v
}

// Flag reads a byte that is 0 or 1.
func (r *Reader) Flag() bool {
	if len(r.Src) == 0 || r.Src[0] > 1 {
		r.Fail()
		return false
	}
	set := r.Src[0] == 1
	r.Src = r.Src[1:]
	return set
}

// Ints reads one int into each target.
func (r *Reader) Ints(targets ...*int64) {
	for _, t := range targets {
		*t = r.Int()
	}
}

// Count reads the length of a list whose entries take a byte at least.
func (r *Reader) Count() int {
	n := r.Int()
	if n < 0 || n > int64(len(r.Src)) {
		r.Fail()
		return 0
	}
	return int(n)
}

func (r *Reader) Text() string {
	n := r.Count()
	s := string(r.Src[:n])
	r.Src = r.Src[n:]
	return s
}

// Sorted reads sorted values.
func (r *Reader) Sorted() []int64 {
	values, rest, err := stat.LoadSorted(nil, r.Src)
	if err != nil {
		r.Fail()
		return nil
	}
	r.Src = rest
	return values
}

// Part lets load read what it needs.
func (r *Reader) Part(load func(src []byte) (rest []byte, err error)) {
	rest, err := load(r.Src)
	if err != nil {
		r.Fail()
		return
	}
	r.Src = rest
}

// Digest loads d.
func (r *Reader) Digest(d *stat.Digest) { r.Part(d.Load) }

// Moments loads m.
func (r *Reader) Moments(m *stat.Moments) { r.Part(m.Load) }

// Done returns the error of reading, or one if bytes are left.
func (r *Reader) Done() error {
	if r.Err == nil && len(r.Src) > 0 {
		r.Err = errState
	}
	return r.Err
}

// AppendInts appends values as varints.
func AppendInts(dst []byte, values ...int64) []byte {
	for _, v := range values {
		dst = binary.AppendVarint(dst, v)
	}
	return dst
}

// AppendText appends a text with its length.
func AppendText(dst []byte, s string) []byte {
	return append(AppendInts(dst, int64(len(s))), s...)
}

// AppendFlag appends a byte that is 0 or 1.
func AppendFlag(dst []byte, set bool) []byte { return append(dst, byte(Flag(set))) }

// AppendValues sorts values and appends them.
func AppendValues(dst []byte, values []int64) []byte {
	stat.Sort(values)
	return stat.AppendSorted(dst, values)
}

// Flag returns 1 for true.
func Flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
