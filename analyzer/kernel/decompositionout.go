package kernel

import (
	"cmp"
	"fmt"
	"math/big"

	"servescope/analyzer/decompose"
	"servescope/analyzer/metric"
	"servescope/analyzer/report"
	"servescope/analyzer/stat"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
)

// Finish implements State.
func (s *decompositionState) Finish(out Output) {
	s.cells.prune()
	s.finishingOf(s.cells.places(), func(run int32, info *runInfo, places []place) {
		for _, t := range s.targets(run, ofRequests(places)) {
			c := out.Cell(run, t.group, t.window)
			var bySide [sides]*cohorts
			for side := range bySide {
				switch from := within(t.from, trace.Side(side)); len(from) {
				case 0:
				case 1: // many values, which are not copied
					bySide[side] = s.cells.byPlace[from[0]]
				default:
					bySide[side] = s.united(from)
				}
			}
			whole := t.group < 0 && t.window == NoWindow
			for _, side := range s.shown(&bySide, info) {
				of := bySide[side]
				if whole || of.tells() {
					c.Decompositions = append(c.Decompositions, s.decomposition(run, of, side, t.window == NoWindow))
				}
			}
		}
	})
}

// shown returns the sides whose totals are taken apart in a cell: that of the
// run's latencies, and the client's beside a server's. Those of engines and
// nodes are shown where nothing further out tells any stage.
func (s *decompositionState) shown(bySide *[sides]*cohorts, info *runInfo) (list []trace.Side) {
	told := false
	add := func(side trace.Side) {
		if c := bySide[side]; c != nil && len(c.bySignature) > 0 {
			list = append(list, side)
			told = told || c.tells()
		}
	}
	main := info.latency(s.def)
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

// tells reports whether the total of any request is divided, as
// report.Decomposition.Tells does.
func (c *cohorts) tells() bool {
	for key := range c.bySignature {
		if key.N > 1 || key.N == 1 && key.MayContain() != 0 {
			return true
		}
	}
	return false
}

// joined reports whether any request of a decode node has the stages of its
// prefill node apart from the wait for them.
func (c *cohorts) joined() bool {
	for key := range c.bySignature {
		if state, _ := key.State(decompose.Queue); state == decompose.Value {
			return true
		}
	}
	return false
}

// decomposition returns what c says of a side. Wide cells (those of the run and
// of groups) tell of tails.
func (s *decompositionState) decomposition(run int32, c *cohorts, side trace.Side, wide bool) report.Decomposition {
	d := report.Decomposition{Of: "ttft", Side: sideName(side), Excluded: c.excluded.counts(), Censored: c.censored}
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
		s.bounds(run, o, &t)
		d.Tables = append(d.Tables, t)
	}
	if c.events > 0 {
		d.Notes = append(d.Notes, fmt.Sprintf("first_event: %d of %d totals end at the first event, the only one recorded", c.events, d.N))
	}
	if s.asked != s.def {
		d.Notes = append(d.Notes, "the total is TTFT by the default definition, not by that of the report")
	}
	return d
}

// totals is what the requests of some cohorts sum up to: their totals, and by
// cohort the columns of every request, and of those in each tail.
type totals struct {
	list  []*cohort
	sum   stat.Sum
	all   stat.Sample
	whole [][]sums
	tails []float64 // the least totals
	late  [][][]sums
}

// total returns the totals of c. Those of wide cells have tails.
func (s *decompositionState) total(c *cohorts, wide bool) *totals {
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

// tailsOf returns the tails of cohort i that have requests of it.
func (t *totals) tailsOf(i int) (list []report.Tail) {
	if len(t.late) == 0 {
		return nil
	}
	for k, columns := range t.late[i] {
		if tail := tailOf(columns, t.tails[k]); tail.N > 0 {
			tail.Rank = rankName(tailRanks[k])
			list = append(list, tail)
		}
	}
	return list
}

// tailRanks are the percentiles above which the parts are shown.
var tailRanks = [...]float64{0.9, 0.99}

// settle makes the order statistics of all totals that are asked for exact: those
// of the requests in list, and n that never ended.
func (s *decompositionState) settle(all *stat.Sample, n int64, list []*cohort) {
	var wanted stat.Wanted
	want := func(q float64, n int64) {
		lo, hi, _ := s.def.Quantile.Ranks(n, q)
		for _, k := range [...]int64{lo, hi} {
			if k >= 0 && k < all.N() {
				wanted.Want(all, k)
			}
		}
	}
	for _, q := range tailRanks {
		want(q, all.N())
	}
	for _, q := range s.ranks() {
		want(q, all.N()+n)
	}
	if wanted.Empty() {
		return
	}
	var fetch stat.Fetch
	for _, o := range list {
		o.each(func(_ []int64, total int64) { fetch.Add(&wanted, total) })
	}
	all.Fetched(&fetch)
}

// at returns the k-th smallest of settled values.
func at(all *stat.Sample, k int64) float64 {
	v, _ := all.At(k)
	return float64(v)
}

// tails returns the least totals of the tails, as many as the values tell from
// the maximum.
func (s *decompositionState) tails(all *stat.Sample) (from []float64) {
	n := all.N()
	for _, q := range tailRanks {
		if float64(n)*(1-q) < 1-1e-9 {
			break
		}
		lo, hi, t := s.def.Quantile.Ranks(n, q)
		from = append(from, stat.Lerp(at(all, lo), at(all, hi), t))
	}
	return from
}

// late returns the quantiles of the totals if the censored ones had never ended.
func (s *decompositionState) late(all *stat.Sample, censored int64) map[string]report.Value {
	if censored == 0 {
		return nil
	}
	out := make(map[string]report.Value)
	n := all.N()
	for _, q := range s.ranks() {
		lo, hi, t := s.def.Quantile.Ranks(n+censored, q)
		switch {
		case hi < n:
			out[rankName(q)] = report.Known(stat.Lerp(at(all, lo), at(all, hi), t), unit.Nanosecond)
		case lo < n && t == 0:
			out[rankName(q)] = report.Known(at(all, lo), unit.Nanosecond)
		default:
			out[rankName(q)] = report.Null("unbounded")
		}
	}
	return out
}

// sums are those of a column: of all its values, of the negative ones alone.
type sums struct{ all, negative stat.Sum }

func (s *sums) add(v int64) {
	s.all.Add(v)
	if v < 0 {
		s.negative.Add(v)
	}
}

// everything is the least total that columns of every request take.
var everything = []float64{-1 << 63}

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

// table returns the cohort as a table of the report, of which the columns are
// those of every request. of is how many requests there are in all cohorts.
func (c *cohort) table(of int64, columns []sums) report.Breakdown {
	k := int(c.signature.N)
	n := c.n()
	total := columns[k+1].all.Total()
	t := report.Breakdown{
		Signature: c.signature.String(), N: n, Share: report.Known(float64(n)/float64(of), unit.Ratio),
		Total: meanOf(total, n), Sum: exact(total), Leaves: c.leaves(), Terms: c.terms(columns),
	}
	for i, set := range c.signature.Sets[:k] {
		e := report.Entry{Leaves: set.Names(), Term: decompose.TermOf(set), Negative: columns[i].negative.N, Resolution: report.KnownInt(c.steps[i], unit.Nanosecond)}
		e.Mean, e.Sum, e.Share = columns[i].of(total)
		if e.Negative > 0 {
			e.Reason = metric.Order.String()
		}
		t.Entries = append(t.Entries, e)
	}
	r := &t.Residual
	r.Mean, r.Sum, r.Share = columns[k].of(total)
	r.Negative, r.MayContain, r.Measured = columns[k].negative.N, c.signature.MayContain().Names(), c.measured
	if r.Negative > 0 {
		r.Reason = metric.Overlap.String()
	}
	for i := range c.memos {
		if m := &c.memos[i]; m.N > 0 {
			t.Memos = append(t.Memos, report.Memo{Name: decompose.MemoKind(i).String(), Mean: report.Known(m.Mean(), unit.Nanosecond), N: m.N})
		}
	}
	t.Memos = append(t.Memos, c.without.memos()...)
	return t
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

func (c *cohort) leaves() (list []report.Leaf) {
	for l := range decompose.Leaf(decompose.Leaves) {
		state, why := c.signature.State(l)
		list = append(list, report.Leaf{Name: l.String(), State: state.String(), Reason: why.String()})
	}
	return list
}

// terms returns what the columns tell of the terms that have a stage in the
// total; see decompose.Parts.Bounds.
func (c *cohort) terms(columns []sums) (list []report.Term) {
	key := &c.signature
	n := c.n()
	for _, term := range decompose.Terms {
		leaves := term.Leaves &^ (key.Absent | key.Outside)
		if leaves == 0 {
			continue
		}
		low, high, why := new(big.Int), new(big.Int), metric.None
		add := func(s *sums, whole bool) {
			all, negative := s.all.Total(), s.negative.Total()
			if whole {
				low.Add(low, all)
				high.Add(high, all)
				return
			}
			low.Add(low, negative)
			high.Add(high, all.Sub(all, negative))
		}
		for i, set := range key.Sets[:key.N] {
			if set&leaves != 0 {
				add(&columns[i], set&^leaves == 0)
			}
			if set&leaves != 0 && set&^leaves != 0 {
				why = metric.Inseparable
			}
		}
		if key.MayContain()&leaves != 0 {
			add(&columns[key.N], false)
			why = cmp.Or(why, metric.NotRecorded)
		}
		t := report.Term{Name: term.Name, Leaves: leaves.Names(), Mean: report.Null(why.String()), Low: meanOf(low, n), High: meanOf(high, n)}
		if low.Cmp(high) == 0 && (why == metric.None || key.Covered()&leaves != 0) {
			t.Mean = t.Low
		}
		list = append(list, t)
	}
	return list
}

// meanOf returns the mean in ns of n values with the given sum.
func meanOf(sum *big.Int, n int64) report.Value {
	return report.Known(stat.Quotient(sum, n), unit.Nanosecond)
}

// exact returns a sum in ns, if it is one of 63 bits.
func exact(sum *big.Int) report.Value {
	if !sum.IsInt64() {
		return report.Null(metric.TooMany.String())
	}
	return report.KnownInt(sum.Int64(), unit.Nanosecond)
}
