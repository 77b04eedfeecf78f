package breakdown

import (
	"maps"
	"math/big"
	"slices"

	"servescope/analyzer/decompose"
	"servescope/analyzer/kernel/cell"
	"servescope/analyzer/metric"
	"servescope/analyzer/report"
	"servescope/analyzer/stat"
	"servescope/analyzer/unit"
)

// cohort is the requests of one signature. Values holds, for each, its entries
// and what they leave of its total: mostly little or nothing.
type cohort struct {
	signature decompose.Signature
	values    stat.Tuples
	measured  int64                   // whose residual is also the time that entries leave uncovered
	steps     [decompose.Leaves]int64 // coarsest source of each entry in ns
	memos     [decompose.Memos]stat.Moments
	ways      map[string]*wayIn // by the clocks of server and engine
	without   without
}

// width is how many values there are of each request.
func (c *cohort) width() int { return int(c.signature.N) + 1 }

func (c *cohort) n() int64 { return c.values.N() }

// each calls f for every request: with its entries and what they leave of its
// total, and the total.
func (c *cohort) each(f func(parts []int64, total int64)) {
	c.values.Each(c.width(), func(tuple []int64) {
		total := int64(0)
		for _, v := range tuple {
			total += v
		}
		f(tuple, total)
	})
}

// columns sums up the entries, the residual and the total of the requests whose
// total is at least from, for each of several. It calls f, if there is one, with
// every total.
func (c *cohort) columns(from []float64, f func(total int64)) [][]sums {
	k := int(c.signature.N)
	out := make([][]sums, len(from))
	for i := range out {
		out[i] = make([]sums, k+2)
	}
	c.each(func(parts []int64, total int64) {
		if f != nil {
			f(total)
		}
		for i, least := range from {
			if float64(total) < least {
				continue
			}
			for j, v := range parts {
				out[i][j].add(v)
			}
			out[i][k+1].add(total)
		}
	})
	return out
}

func (c *cohort) way(name string) *wayIn {
	if c.ways == nil {
		c.ways = make(map[string]*wayIn)
	}
	if c.ways[name] == nil {
		c.ways[name] = new(wayIn)
	}
	return c.ways[name]
}

// mergeWays adds the bounds of o.
func (c *cohort) mergeWays(o *cohort) {
	for name, y := range o.ways {
		c.way(name).Merge(y)
	}
}

func (c *cohort) appendWays(dst []byte) []byte {
	dst = cell.AppendInts(dst, int64(len(c.ways)))
	for _, name := range slices.Sorted(maps.Keys(c.ways)) {
		y := c.ways[name]
		dst = cell.AppendText(dst, name)
		for _, t := range [...]*cell.Total{&y.queued, &y.rest} {
			dst = t.AppendTo(dst)
		}
	}
	return dst
}

func (c *cohort) loadWays(src *cell.Reader) {
	for n := src.Count(); n > 0 && src.Err == nil; n-- {
		y := c.way(src.Text())
		for _, t := range [...]*cell.Total{&y.queued, &y.rest} {
			t.Load(src)
		}
	}
}

// sums are those of a column: of all its values, of the negative ones alone.
type sums struct{ all, negative stat.Sum }

func (s *sums) add(v int64) {
	s.all.Add(v)
	if v < 0 {
		s.negative.Add(v)
	}
}

// of returns mean and sum of a column, and its share of the total.
func (s *sums) of(total *big.Int) (avg, sum, share report.Value) {
	all := s.all.Total()
	share = report.Null(metric.NoSpan.String())
	if total.Sign() != 0 {
		f, _ := new(big.Rat).SetFrac(all, total).Float64()
		share = report.Known(f, unit.Ratio)
	}
	return meanOf(all, s.all.N), exact(all), share
}

// everything is the least total that columns of every request take.
var everything = []float64{-1 << 63}
