package json

import (
	"bytes"

	"servescope/formats/internal/numx"
)

// MaxNumbers is the longest array that Numbers keeps. No response has as many
// tokens; a file that claims so must not decide how much memory is used.
const MaxNumbers = 8 << 20

// Numbers reads the array that comes next and appends its numbers to dst, each
// times 10^scale as numx.Scaled does. ok is false when an element is no number
// that fits, when there are too many, and after a problem; the array is then
// skipped and dst is returned as far as it got.
func (c *Cursor) Numbers(dst []int64, scale int) (out []int64, ok bool) {
	if c.Kind() != Array || !c.push() {
		return dst, false
	}
	for most := len(dst) + MaxNumbers; len(dst) <= most; {
		var n int
		var stop numx.Stop
		dst, n, stop = numx.List(dst, c.Window(), scale, true)
		if stop == numx.End {
			c.pos += n - 1
			c.first = true
			return dst, !c.More() && !c.broken
		}
		c.pos += n
		c.first = true // a comma was consumed, or there was none yet
		if !c.More() {
			return dst, !c.broken
		}
		if c.Kind() != Number {
			break
		}
		b := c.Literal()
		v, size, fits := numx.Scaled(b, scale)
		if !fits || size != len(b) {
			break
		}
		dst = append(dst, v)
		if !c.More() {
			return dst, !c.broken
		}
	}
	c.Leave()
	return dst, false
}

// runLength bounds how far Run looks for what ends a run.
const runLength = 4 << 10

// Run appends the numbers that come next in the array entered last to dst, each
// times 10^scale as numx.Scaled does, as far as they are plainly written: none is
// negative, and with a scale of 0 none has a fraction or an exponent. Where that
// ends, which may be at once, the caller reads on with More. Call it when More
// has returned true.
func (c *Cursor) Run(dst []int64, scale int) []int64 {
	w := c.Window()
	w = w[:min(len(w), runLength)]
	odd := "-"
	if scale == 0 {
		odd = "-.eE"
	}
	for i := range len(odd) {
		if k := bytes.IndexByte(w, odd[i]); k >= 0 {
			w = w[:k]
		}
	}
	out, n, stop := numx.List(dst, w, scale, true)
	if stop == numx.End {
		n-- // More leaves the array
	}
	if c.pos += n; len(out) > len(dst) {
		c.first = true // a comma was consumed, or the end follows
	}
	return out
}
