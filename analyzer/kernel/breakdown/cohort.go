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
	signature  decompose.Signature
	values     stat.Tuples
	measured   int64                   // whose residual is also the time that entries leave uncovered
	steps      [decompose.Leaves]int64 // coarsest source of each entry in ns
	memos      [decompose.Memos]stat.Moments
	ingress    map[string]*ingressBound // by the clocks of server and engine
	ttftServer ttftBound
}

// width returns the number of values of each request.
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

func (c *cohort) ingressOf(name string) *ingressBound {
	if c.ingress == nil {
		c.ingress = make(map[string]*ingressBound)
	}
	if c.ingress[name] == nil {
		c.ingress[name] = new(ingressBound)
	}
	return c.ingress[name]
}

// mergeIngress adds the bounds of o.
func (c *cohort) mergeIngress(o *cohort) {
	for name, y := range o.ingress {
		c.ingressOf(name).Merge(y)
	}
}

func (c *cohort) appendIngress(dst []byte) []byte {
	dst = cell.AppendInts(dst, int64(len(c.ingress)))
	for _, name := range slices.Sorted(maps.Keys(c.ingress)) {
		y := c.ingress[name]
		dst = cell.AppendText(dst, name)
		for _, t := range [...]*cell.Total{&y.queued, &y.rest} {
			dst = t.AppendTo(dst)
		}
	}
	return dst
}

func (c *cohort) loadIngress(src *cell.Reader) {
	for n := src.Count(); n > 0 && src.Err == nil; n-- {
		y := c.ingressOf(src.Text())
		for _, t := range [...]*cell.Total{&y.queued, &y.rest} {
			t.Load(src)
		}
	}
}

// sums holds the sum of all values of a column, and of the negative ones alone.
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
