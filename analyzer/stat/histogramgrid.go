package stat

import (
	"math"
	"math/bits"
)

// A grid counts values that are multiples of a unit of time, one count for each
// distinct value. Stamps in logs have few decimals, and so have the gaps
// between them. The counts are exact, so no bucket has to be chosen. drain
// moves the counts to the digest before anything reads them.

// gridUnits are the units that newGrid tries, in ns, from coarse to fine.
var gridUnits = [...]int64{1e6, 1e5, 1e4, 1e3, 1e2}

const (
	gridShare = 2       // a grid must count at least one in gridShare values
	gridRest  = 64      // a grid counts nearly all values if fewer than one in gridRest is left out
	gridRoom  = 4       // maximum number of counts per value that the grid is planned for
	gridTotal = 1 << 31 // number of values after which counts move on, before they could overflow
)

// grid counts the multiples of unit below len(n) units: n[i] is the count of
// i·unit.
type grid struct {
	unit    int64
	inverse uint64 // of the odd part of unit, modulo 2⁶⁴
	turn    int    // rotation: minus the trailing zeros of unit
	n       []uint32
	total   int64   // values counted
	rest    []int64 // reused by fold: values without a count
}

// newGrid returns an empty grid for values like the given ones, and whether it
// counts nearly all of them. It returns nil if a grid would count too few. Of
// two units it prefers the coarser, whose fewer counts fit a smaller cache,
// unless the finer counts many more values.
func newGrid(values []int64) (g *grid, all bool) {
	most := (len(values) - 1) / gridShare
	for _, unit := range gridUnits {
		next := gridOf(unit)
		size, counted := next.fit(values)
		if counted <= most {
			continue
		}
		g, most = next, counted+counted/8
		g.n = make([]uint32, 1<<size)
		if all = counted >= len(values)-len(values)/gridRest; all {
			break
		}
	}
	return g, all
}

// gridOf returns a grid of the given unit without counts.
func gridOf(unit int64) *grid {
	g := &grid{unit: unit, turn: -bits.TrailingZeros64(uint64(unit))}
	odd := uint64(unit) >> -g.turn
	g.inverse = odd // correct in 3 bits; each step doubles them
	for range 5 {
		g.inverse *= 2 - odd*g.inverse
	}
	return g
}

// fit returns the size of an index, in bits, that has room for twice nearly all
// multiples among the values, within gridRoom, and the number of values that it
// counts.
func (g *grid) fit(values []int64) (size, counted int) {
	var lengths [65]int
	// Sort the values by the bit length of their index.
	for _, v := range values {
		lengths[bits.Len64(g.index(v))]++
	}
	multiples := 0
	for _, n := range lengths[:32] {
		multiples += n
	}
	// Grow the index until it covers nearly all multiples.
	for counted < multiples-multiples/gridRest/2 && 2<<size <= gridRoom*len(values) {
		counted += lengths[size]
		size++
	}
	return size, counted
}

// index returns v/unit. For a v that is negative or no multiple of unit it
// returns more than any int64 holds (Granlund and Montgomery 1994, §9).
func (g *grid) index(v int64) uint64 {
	return bits.RotateLeft64(uint64(v)*g.inverse, g.turn)
}

// addBlock counts at most blockSize values and returns the values that have no
// count, valid until the next call.
func (g *grid) addBlock(values []int64) (rest []int64) {
	n, k := g.n, 0
	if len(g.rest) < len(values) { // most cells get few values at a time
		g.rest = make([]int64, min(2*len(values), blockSize))
	}
	rest = g.rest[:len(values)]
	inverse, turn := g.inverse, g.turn
	for _, v := range values {
		i := bits.RotateLeft64(uint64(v)*inverse, turn)
		if i < uint64(len(n)) {
			n[i]++
			continue
		}
		rest[k] = v
		k++
	}
	g.total += int64(len(values) - k)
	return rest[:k]
}

// drain moves all counts to d.
func (g *grid) drain(d *Digest) {
	if g.total == 0 {
		return
	}
	distinct := 0
	for _, n := range g.n {
		if n > 0 {
			distinct++
		}
	}
	// Move the counts to the histogram, and the values of kept buckets to the
	// bag.
	values, counts := make([]int64, 0, distinct), make([]int64, 0, distinct)
	for i, n := range g.n {
		if n == 0 {
			continue
		}
		v := int64(i) * g.unit
		d.moments.AddN(v, int64(n))
		c := d.hist.at(bucketOf(v))
		if *c += uint64(n); *c&keepBit != 0 {
			values, counts = append(values, v), append(counts, int64(n))
		}
	}
	clear(g.n)
	g.total = 0
	d.kept.take(values, counts)
}

func (g *grid) size() int64 { return int64(4*len(g.n) + 8*len(g.rest)) }

// keepAll marks all buckets as kept, also buckets that are not allocated yet.
func (h *histogram) keepAll() {
	h.keepFrom = math.MinInt32
	h.zero |= keepBit
	if h.negative != nil {
		h.negative.keepAll()
	}
	for i := range h.n {
		h.n[i] |= keepBit
	}
}
