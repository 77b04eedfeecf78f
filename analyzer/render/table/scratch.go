package table

import "servescope/analyzer/trace"

// scratch holds the buffers of computed columns. They are handed out anew for
// each batch: a table's k-th integer column always gets the same memory.
type scratch struct {
	intBufs   [][]int64
	floatBufs [][]float64
	bitBufs   []trace.Bitmap
	zeroBuf   []int32
	nInts     int
	nFloats   int
	nBits     int

	wallKnown bool
	wall      trace.Bitmap // rows on a wall clock; nil: all, if any
	anyWall   bool

	latencies *latencies // of the batch at hand, when computed
}

// reset makes all buffers available again.
func (s *scratch) reset() {
	s.nInts, s.nFloats, s.nBits, s.wallKnown, s.latencies = 0, 0, 0, false, nil
}

// ints returns n values, undefined.
func (s *scratch) ints(n int) []int64 { return take(&s.intBufs, &s.nInts, n) }

// floats returns n values, undefined.
func (s *scratch) floats(n int) []float64 { return take(&s.floatBufs, &s.nFloats, n) }

// bitmap returns a bitmap of n bits, all zero.
func (s *scratch) bitmap(n int) trace.Bitmap {
	b := take(&s.bitBufs, &s.nBits, (n+7)/8)
	clear(b)
	return b
}

func take[S ~[]E, E any](bufs *[]S, next *int, n int) S {
	if *next == len(*bufs) {
		*bufs = append(*bufs, nil)
	}
	b := &(*bufs)[*next]
	*next++
	if cap(*b) < n {
		*b = make(S, n)
	}
	return (*b)[:n]
}

// zeros returns n codes of a dictionary's first value.
func (s *scratch) zeros(n int) []int32 {
	if len(s.zeroBuf) < n {
		s.zeroBuf = make([]int32, n)
	}
	return s.zeroBuf[:n]
}

// wallRows returns which rows of b are on a wall clock (nil: all of them), and
// whether any is.
func (s *scratch) wallRows(b *trace.Batch) (wall trace.Bitmap, any bool) {
	if s.wallKnown {
		return s.wall, s.anyWall
	}
	s.wallKnown = true
	base := b.Run != nil && b.Run.Clock.Kind == trace.Wall
	col, ok := b.Table.Lookup("clock")
	if !ok || !b.Has(col) {
		s.wall, s.anyWall = nil, base
		return s.wall, s.anyWall
	}
	clocks := b.Dicts(col)
	isWall := make([]bool, len(clocks.Values))
	for i, v := range clocks.Values {
		c, ok := trace.ParseClock(v)
		isWall[i] = ok && c.Kind == trace.Wall
	}
	s.wall, s.anyWall = s.bitmap(b.Rows), false
	for i := range b.Rows {
		on := base
		if code, ok := clocks.At(i); ok {
			on = isWall[code]
		}
		if on {
			s.wall[i>>3] |= 1 << (i & 7)
			s.anyWall = true
		}
	}
	return s.wall, s.anyWall
}
