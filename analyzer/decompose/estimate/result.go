package estimate

import (
	"slices"

	"servescope/analyzer/trace"
)

// Result is the estimates of the replicas of one run.
type Result struct {
	Side     trace.Side // the side whose stamps were used
	Replicas []Replicated
	Chunks   int64 // that were looked at
}

// Replicated is the estimate of one replica.
type Replicated struct {
	Name     string // "" where rows do not name any
	Coverage Coverage
	*Estimate
}

// Summary sums up the requests with two chunks or more that in selects.
func (r *Result) Summary(in func(row int64) bool) *Summary {
	out := &Summary{Excluded: make(map[Reason]int64), Split: true}
	var draws []times // by model of the bootstrap
	var each []spent
	for i := range r.Replicas {
		e := r.Replicas[i].Estimate
		if e.Refused != None {
			for q := range e.replica.requests {
				if x := &e.replica.requests[q]; len(x.Gaps) > 0 && in(x.Row) {
					out.Excluded[e.Refused] += x.steps()
				}
			}
			if e.Refused == NotResolvable {
				out.Long.add(e.replica, in)
			}
			continue
		}
		for q := range e.replica.requests {
			x := &e.replica.requests[q]
			if len(x.Gaps) == 0 || !in(x.Row) {
				continue
			}
			p, vague := e.steps.split(q, x, e.model, e.Low)
			each = append(each, spent{p, x.steps()})
			out.N++
			out.Tokens += x.steps()
			out.Parts.Add(p)
			out.Vague += vague
		}
		out.nulls(e)
		c := e.newCohort(in)
		draws = e.draw(c, draws)
		out.Batch += e.batch(c)
	}
	out.Split = out.Split && out.N > 0 && !out.Merged
	out.intervals(draws)
	out.negative(each)
	return out
}

// spent is the parts of a request, and its tokens.
type spent struct {
	parts  Parts
	tokens int64
}

// Long lists gaps that are longer than three medians: all that can be told where
// steps cannot be told apart.
type Long struct {
	N      int64 // gaps
	Time   int64 // their sum in ns
	Span   int64 // decode spans of the same requests in ns
	Gaps   int64 // of any length
	Median int64 // ns; with several replicas, of the last
	Top    []Gap // the longest, at most mostGaps
}

// Gap is one gap between chunks.
type Gap struct{ Row, At, Length int64 } // At is its begin; ns

const mostGaps = 10

// add adds the gaps of the requests of r that in selects.
func (l *Long) add(r *Replica, in func(row int64) bool) {
	var all []int64
	n, stride := 0, 1+int(r.chunks/1_000_000)
	for i := range r.requests {
		if x := &r.requests[i]; in(x.Row) {
			for _, gap := range x.Gaps {
				if n++; n%stride == 0 {
					all = append(all, gap)
				}
			}
		}
	}
	if len(all) == 0 {
		return
	}
	slices.Sort(all)
	l.Median = all[len(all)/2]
	l.Gaps += int64(n)
	for i := range r.requests {
		x := &r.requests[i]
		if !in(x.Row) {
			continue
		}
		l.Span += x.span()
		at := x.First
		for _, gap := range x.Gaps {
			if gap > 3*l.Median {
				l.N++
				l.Time += gap
				l.keep(Gap{x.Row, at, gap})
			}
			at += gap
		}
	}
}

// keep keeps g if it is among the longest.
func (l *Long) keep(g Gap) {
	i, _ := slices.BinarySearchFunc(l.Top, g, func(a, b Gap) int {
		if a.Length > b.Length || a.Length == b.Length && a.At <= b.At {
			return -1
		}
		return 1
	})
	if i == mostGaps {
		return
	}
	l.Top = slices.Insert(l.Top, i, g)
	l.Top = l.Top[:min(len(l.Top), mostGaps)]
}
