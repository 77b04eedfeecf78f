package breakdown

import (
	"fmt"
	"maps"
	"math/big"
	"slices"

	"servescope/analyzer/decompose"
	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/cell"
	"servescope/analyzer/kernel/request"
	"servescope/analyzer/metric"
	"servescope/analyzer/report"
	"servescope/analyzer/stat"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
)

// Finish implements State.
func (s *state) Finish(out kernel.Output) {
	s.Cells.Prune()
	s.FinishingOf(s.Cells.Places(), func(run int32, info *cell.Run, places []cell.Place) {
		for _, t := range s.Targets(run, cell.OfRequests(places)) {
			c := out.Cell(run, t.Group, t.Window)
			var bySide [request.NumSides]*cohorts
			for side := range bySide {
				switch from := cell.Within(t.From, trace.Side(side)); len(from) {
				case 0:
				case 1: // many values, which are not copied
					bySide[side] = s.Cells.ByPlace[from[0]]
				default:
					bySide[side] = s.United(from)
				}
			}
			whole := t.Group < 0 && t.Window == kernel.NoWindow
			for _, side := range s.shown(&bySide, info) {
				of := bySide[side]
				if whole || of.tells() {
					c.Decompositions = append(c.Decompositions, s.decomposition(run, of, side, t.Window == kernel.NoWindow))
				}
			}
		}
	})
}

// shown returns the sides whose totals are decomposed in a cell: the side of the
// run's latencies, and the client beside a server. Engines and nodes are shown where
// no side further out tells a stage.
func (s *state) shown(bySide *[request.NumSides]*cohorts, info *cell.Run) (list []trace.Side) {
	told := false
	add := func(side trace.Side) {
		if c := bySide[side]; c != nil && len(c.bySignature) > 0 {
			list = append(list, side)
			told = told || c.tells()
		}
	}
	main := info.LatencySide(s.Def)
	if main <= trace.Server {
		add(main)
	}
	if main != trace.Client {
		add(trace.Client)
	}
	for _, side := range [...]trace.Side{trace.Engine, trace.Decode, trace.Prefill} {
		if !told {
			add(side)
		}
	}
	return list
}

// decomposition returns the decomposition of c at a side. Wide cells (of the run and
// of groups) have tails.
func (s *state) decomposition(run int32, c *cohorts, side trace.Side, wide bool) report.Decomposition {
	d := report.Decomposition{Of: "ttft", Side: request.SideName(side), Excluded: c.excluded.Counts(), Censored: c.censored}
	if side == trace.Prefill || side == trace.Decode && !c.joined() {
		d.Label = "node-level figures"
	}
	of := c.totals
	if of == nil {
		of = s.total(c, wide)
	}
	d.N = of.sum.N
	d.Total = meanOf(of.sum.Total(), d.N)
	if wide {
		d.Late = s.late(&of.all, c.censored)
	}
	for i, o := range of.list {
		t := o.table(d.N, of.whole[i])
		t.Tails = of.tailsOf(i)
		s.ingressMemos(run, o, &t)
		d.Tables = append(d.Tables, t)
	}
	if c.events > 0 {
		d.Notes = append(d.Notes, fmt.Sprintf("first_event: %d of %d totals end at the first event, the only one recorded", c.events, d.N))
	}
	if s.asked != s.Def {
		d.Notes = append(d.Notes, "the total is TTFT by the default definition, not by that of the report")
	}
	return d
}

// ingressMemos adds the bounds to a table of a run. Clocks whose difference changed,
// as after the restart of a host, give no bound: a request would have been queued before
// it was received.
func (s *state) ingressMemos(run int32, c *cohort, t *report.Breakdown) {
	in, rest, n := new(big.Int), new(big.Int), int64(0)
	for _, name := range slices.Sorted(maps.Keys(c.ingress)) {
		y, off := c.ingress[name], s.offsets[clocksKey{run, name}]
		if off+y.queued.Least < 0 {
			t.Notes = append(t.Notes, metric.Clock.String()+": requests would have been queued before they were received: a clock was set, so that what lies before the queue has no bound")
			return
		}
		in.Add(in, y.queued.Big()).Add(in, new(big.Int).Mul(big.NewInt(off), big.NewInt(y.queued.N)))
		rest.Add(rest, y.rest.Big())
		n += y.queued.N
	}
	if n == 0 {
		return
	}
	out := rest.Sub(rest, in)
	t.Memos = append(t.Memos,
		report.Memo{Name: decompose.Of(decompose.Input, decompose.Ingress).String(), Mean: meanOf(in, n), N: n, Bound: "upper"},
		report.Memo{Name: decompose.Egress.String(), Mean: meanOf(out, n), N: n, Bound: "lower"})
}

// late returns the quantiles of the totals if the censored ones had never ended.
func (s *state) late(all *stat.Sample, censored int64) map[string]report.Value {
	if censored == 0 {
		return nil
	}
	out := make(map[string]report.Value)
	n := all.N()
	for _, q := range s.Ranks() {
		lo, hi, t := s.Def.Quantile.Ranks(n+censored, q)
		switch {
		case hi < n:
			out[cell.RankName(q)] = report.Known(stat.Lerp(at(all, lo), at(all, hi), t), unit.Nanosecond)
		case lo < n && t == 0:
			out[cell.RankName(q)] = report.Known(at(all, lo), unit.Nanosecond)
		default:
			out[cell.RankName(q)] = report.Null("unbounded")
		}
	}
	return out
}

// totals holds the sums over the requests of some cohorts: their totals, and by
// cohort the columns of every request, and of those in each tail.
type totals struct {
	list  []*cohort
	sum   stat.Sum
	all   stat.Sample
	whole [][]sums
	tails []float64 // the least totals
	late  [][][]sums
}

// tailsOf returns the tails of cohort i that have requests of it.
func (t *totals) tailsOf(i int) (list []report.Tail) {
	if len(t.late) == 0 {
		return nil
	}
	for k, columns := range t.late[i] {
		if tail := tailOf(columns, t.tails[k]); tail.N > 0 {
			tail.Rank = cell.RankName(tailRanks[k])
			list = append(list, tail)
		}
	}
	return list
}

// total returns the totals of c; with tails, if the cell is wide.
func (s *state) total(c *cohorts, wide bool) *totals {
	t := &totals{list: c.inOrder()}
	for _, o := range t.list {
		t.whole = append(t.whole, o.columns(everything, func(total int64) {
			t.sum.Add(total)
			t.all.Add(total, false)
		})[0])
	}
	if !wide {
		return t
	}
	s.settle(&t.all, c.censored, t.list)
	if t.tails = s.tails(&t.all); len(t.tails) > 0 {
		for _, o := range t.list {
			t.late = append(t.late, o.columns(t.tails, nil))
		}
	}
	return t
}

// tailRanks are the percentiles above which the parts are shown.
var tailRanks = [...]float64{0.9, 0.99}

// settle makes the order statistics of all totals that are asked for exact: those
// of the requests in list, and n that never ended.
func (s *state) settle(all *stat.Sample, n int64, list []*cohort) {
	var wanted stat.Wanted
	want := func(q float64, n int64) {
		lo, hi, _ := s.Def.Quantile.Ranks(n, q)
		for _, k := range [...]int64{lo, hi} {
			if k >= 0 && k < all.N() {
				wanted.Want(all, k)
			}
		}
	}
	for _, q := range tailRanks {
		want(q, all.N())
	}
	for _, q := range s.Ranks() {
		want(q, all.N()+n)
	}
	if wanted.Empty() {
		return
	}
	var fetch stat.Fetch
	for _, o := range list {
		o.each(func(_ []int64, total int64) { fetch.Add(&wanted, total) })
	}
	all.AddFetched(&fetch)
}

// at returns the k-th smallest of settled values.
func at(all *stat.Sample, k int64) float64 {
	v, _ := all.At(k)
	return float64(v)
}

// tails returns the least totals of the tails, as many as the values tell from
// the maximum.
func (s *state) tails(all *stat.Sample) (from []float64) {
	n := all.N()
	for _, q := range tailRanks {
		if float64(n)*(1-q) < 1-1e-9 {
			break
		}
		lo, hi, t := s.Def.Quantile.Ranks(n, q)
		from = append(from, stat.Lerp(at(all, lo), at(all, hi), t))
	}
	return from
}

// tailOf returns the mean parts of the requests whose total is at least from.
func tailOf(columns []sums, from float64) report.Tail {
	k := len(columns) - 2
	t := report.Tail{From: report.Known(from, unit.Nanosecond), N: columns[k].all.N}
	if t.N == 0 {
		return t
	}
	for i := range columns[:k] {
		t.Entries = append(t.Entries, meanOf(columns[i].all.Total(), t.N))
	}
	t.Residual, t.Total = meanOf(columns[k].all.Total(), t.N), meanOf(columns[k+1].all.Total(), t.N)
	return t
}
