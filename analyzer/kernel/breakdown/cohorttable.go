package breakdown

import (
	"cmp"
	"math/big"

	"servescope/analyzer/decompose"
	"servescope/analyzer/metric"
	"servescope/analyzer/report"
	"servescope/analyzer/stat"
	"servescope/analyzer/unit"
)

// table returns the cohort as a table of the report, from the sums of its columns over
// all requests and tails. of is the number of requests in all cohorts.
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
	t.Memos = append(t.Memos, c.ttftServer.memos()...)
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

// meanTable returns the table of a cohort whose only values are the means of n
// requests. why tells why no stage is known.
func (c *cohort) meanTable(n int64, why metric.Reason) report.Breakdown {
	t := c.table(1, c.columns(everything, nil)[0])
	t.N, t.Sum = n, report.Value{}
	t.Residual.Sum = report.Value{}
	for i := range t.Entries {
		e := &t.Entries[i]
		e.Sum, e.Negative, e.Resolution = report.Value{}, e.Negative*n, report.Null(metric.NotRecorded.String())
	}
	if why == metric.None {
		return t
	}
	for i := range t.Leaves {
		if l := &t.Leaves[i]; l.Reason == metric.NotRecorded.String() {
			l.Reason = why.String()
		}
	}
	for i := range t.Terms {
		t.Terms[i].Mean = report.Null(why.String())
	}
	return t
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
