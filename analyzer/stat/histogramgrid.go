package stat

import (
	"math"
	"math/bits"
)

// A grid counts, one by one, values that are multiples of a unit of time: logs
// have stamps of a few decimals, and so have the gaps between them. One count
// tells all that there is to know of a value, so nothing is lost and nothing has
// to be chosen. Counts in a grid are a way-station; drain moves them on before
// anyone looks.

// gridUnits are the units that are looked for, in ns, from coarse to fine.
var gridUnits = [...]int64{1e6, 1e5, 1e4, 1e3, 1e2}

const (
	gridShare = 2       // a grid has a count for one in so many values at least
	gridRest  = 64      // and for nearly all if it has none for one in so many
	gridRoom  = 4       // counts that it may have for each of the values that it is made of
	gridTotal = 1 << 31 // values that are counted before counts could wrap around
)

// grid counts the multiples of a unit below len(n) units.
type grid struct {
	unit    int64
	inverse uint64 // of the odd part of unit, modulo 2⁶⁴
	turn    int    // minus the trailing zeros of unit
	n       []uint32
	total   int64   // values that are counted
	rest    []int64 // that had no count, of the latest fold
}

// newGrid returns an empty grid for values that are like the given ones, and
// whether it counts nearly all of them; nil where it would count too few. Of two
// units the coarser one has fewer counts, which are nearer to the processor: the
// finer one must count many more values.
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

// gridOf returns a grid of a unit without counts.
func gridOf(unit int64) *grid {
	g := &grid{unit: unit, turn: -bits.TrailingZeros64(uint64(unit))}
	odd := uint64(unit) >> -g.turn
	g.inverse = odd // to three bits; each step doubles them
	for range 5 {
		g.inverse *= 2 - odd*g.inverse
	}
	return g
}

// fit returns the bits of an index that nearly all multiples among the values
// stay below the half of, as far as there is room, and how many values there are
// below.
func (g *grid) fit(values []int64) (size, counted int) {
	var lengths [65]int
	for _, v := range values {
		lengths[bits.Len64(g.index(v))]++
	}
	multiples := 0
	for _, n := range lengths[:32] {
		multiples += n
	}
	for counted < multiples-multiples/gridRest/2 && 2<<size <= gridRoom*len(values) {
		counted += lengths[size]
		size++
	}
	return size, counted
}

// index returns how many units v is, and for what is not a multiple of the unit
// or is negative more than any int64 has (Granlund and Montgomery 1994, §9).
func (g *grid) index(v int64) uint64 {
	return bits.RotateLeft64(uint64(v)*g.inverse, g.turn)
}

// fold counts at most blockSize values and returns those that it has no count
// for. They are valid until the next call.
func (g *grid) fold(values []int64) (rest []int64) {
	n, k := g.n, 0
	if len(g.rest) < len(values) { // of the cells of windows, most are given few at a time
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

// keepAll marks every bucket to be kept, held already or not.
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
