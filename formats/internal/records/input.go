package records

import (
	"bytes"
	"context"
	"io"
)

// Input is the part of a source that has been read and not yet used, for readers
// that go through one in order. One goroutine uses it.
type Input struct {
	Ctx  context.Context
	R    io.Reader
	Size int // bytes read at a time

	Buf  []byte
	I    int   // of the next byte in Buf
	Off  int64 // of Buf[0] in the source
	EOF  bool
	Torn bool  // an element of an array on this line: I may be within it
	Err  error // that ended reading
}

// At returns the offset of the next byte in the source.
func (in *Input) At() int64 { return in.Off + int64(in.I) }

// More reads on and reports whether there is more. It moves what is left in Buf
// to its beginning.
func (in *Input) More() bool {
	if in.EOF || in.Err != nil {
		return false
	}
	if in.Err = in.Ctx.Err(); in.Err != nil {
		return false
	}
	if in.I > 0 {
		n := copy(in.Buf, in.Buf[in.I:])
		in.Off, in.Buf, in.I = in.At(), in.Buf[:n], 0
	}
	grow := max(in.Size, len(in.Buf)) // a long record is not walked again for every chunk
	if cap(in.Buf)-len(in.Buf) < grow {
		in.Buf = append(make([]byte, 0, len(in.Buf)+grow), in.Buf...)
	}
	for range 100 {
		n, err := in.R.Read(in.Buf[len(in.Buf) : len(in.Buf)+grow])
		in.Buf = in.Buf[:len(in.Buf)+n]
		switch {
		case err == io.EOF:
			in.EOF = true
			return n > 0
		case err != nil:
			in.Err = err
			return false
		case n > 0:
			return true
		}
	}
	in.Err = io.ErrNoProgress
	return false
}

// SkipLine goes behind the end of the line. It reports false where the source ends
// before, or reading fails.
func (in *Input) SkipLine() bool {
	for {
		if k := bytes.IndexByte(in.Buf[in.I:], '\n'); k >= 0 {
			in.I += k + 1
			in.Torn = false
			return true
		}
		if in.I = len(in.Buf); !in.More() {
			return false
		}
	}
}

// SkipElement goes to the next element of an array on this line, looked for from n
// bytes on, or else behind the line. An object that breaks off behind its line has
// none: what follows its first line may be records, and must not depend on how far
// the look at it went.
func (in *Input) SkipElement(n int) {
	if bytes.IndexByte(in.Buf[in.I:in.I+n], '\n') >= 0 {
		in.SkipLine()
		return
	}
	for {
		k, found := element(in.Buf, in.I+n)
		if found {
			in.I, in.Torn = k, true
			return
		}
		if k < len(in.Buf) {
			in.SkipLine()
			return
		}
		from := max(in.I, k-reach)
		n, in.I = k-from, from
		if !in.More() {
			in.SkipLine()
			return
		}
	}
}

// element looks in b from i on for where the next object of an array on one line
// begins, behind one that is broken: at a brace behind "}," as no text within a
// value of JSON holds it in front of a name in quotes. found is false where the
// line ends at next, or where b does and the search goes on from next.
func element(b []byte, i int) (next int, found bool) {
	for ; i < len(b) && b[i] != '\n'; i++ {
		if b[i] != '{' {
			continue
		}
		k := before(b, i)
		if k > 0 && b[k] == ',' {
			if k = before(b, k); k >= 0 && b[k] == '}' {
				return i, true
			}
		}
	}
	return i, false
}

// reach is how many bytes before i element looks at.
const reach = 16

// before returns the offset of the last byte before i that is no space, -1 where
// there is none within reach.
func before(b []byte, i int) int {
	for n := 1; n <= reach/2 && i-n >= 0; n++ {
		if b[i-n] != ' ' {
			return i - n
		}
	}
	return -1
}
