package kernel

import (
	"encoding/binary"
	"errors"
	"fmt"

	"servescope/analyzer/stat"
)

// errState reports that bytes handed to LoadState are not a state.
var errState = errors.New("not an encoded state")

// errMerge is returned when states of different kernels are merged.
func errMerge(a, b State) error { return fmt.Errorf("cannot merge %T into %T", b, a) }

// reader decodes what the append functions encode. After an error all reads
// give zero.
type reader struct {
	src []byte
	err error
}

func (r *reader) fail() {
	r.src = nil
	if r.err == nil {
		r.err = errState
	}
}

func (r *reader) int() int64 {
	v, n := binary.Varint(r.src)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.src = r.src[n:]
	return v
}

// flag reads a byte that is 0 or 1.
func (r *reader) flag() bool {
	if len(r.src) == 0 || r.src[0] > 1 {
		r.fail()
		return false
	}
	set := r.src[0] == 1
	r.src = r.src[1:]
	return set
}

// ints reads one int into each target.
func (r *reader) ints(targets ...*int64) {
	for _, t := range targets {
		*t = r.int()
	}
}

// count reads the length of a list whose entries take a byte at least.
func (r *reader) count() int {
	n := r.int()
	if n < 0 || n > int64(len(r.src)) {
		r.fail()
		return 0
	}
	return int(n)
}

func (r *reader) text() string {
	n := r.count()
	s := string(r.src[:n])
	r.src = r.src[n:]
	return s
}

// sorted reads sorted values.
func (r *reader) sorted() []int64 {
	values, rest, err := stat.LoadSorted(nil, r.src)
	if err != nil {
		r.fail()
		return nil
	}
	r.src = rest
	return values
}

// part lets load read what it needs.
func (r *reader) part(load func(src []byte) (rest []byte, err error)) {
	rest, err := load(r.src)
	if err != nil {
		r.fail()
		return
	}
	r.src = rest
}

// digest loads d.
func (r *reader) digest(d *stat.Digest) { r.part(d.Load) }

// moments loads m.
func (r *reader) moments(m *stat.Moments) { r.part(m.Load) }

// done returns the error of reading, or one if bytes are left.
func (r *reader) done() error {
	if r.err == nil && len(r.src) > 0 {
		r.err = errState
	}
	return r.err
}

func appendInts(dst []byte, values ...int64) []byte {
	for _, v := range values {
		dst = binary.AppendVarint(dst, v)
	}
	return dst
}

func appendText(dst []byte, s string) []byte {
	return append(appendInts(dst, int64(len(s))), s...)
}

// appendValues sorts values and appends them.
func appendValues(dst []byte, values []int64) []byte {
	stat.Sort(values)
	return stat.AppendSorted(dst, values)
}
