package report

import (
	"cmp"
	"math/big"
	"slices"

	"servescope/analyzer/unit"
)

// Change explains by its parts how a mean total changed from one window of time
// to the next window that has requests with the same set of entries: each part by
// the difference of its means. The differences of the entries and of the residual
// add up to the difference of the total, up to the rounding of each to a float64.
type Change struct {
	Of        string `json:"of"`               // as in the decomposition
	Side      string `json:"side"`             // the same
	Signature string `json:"signature"`        // the set of entries, as in the table
	Cohort    string `json:"cohort,omitempty"` // as in the table
	From      int64  `json:"from"`             // start of the window before, ns on the run's clock
	To        int64  `json:"to"`               // start of the window after, ns on the run's clock
	NFrom     int64  `json:"n_from"`           // members in the window before
	NTo       int64  `json:"n_to"`             // members in the window after

	Total    Difference   `json:"total"`    // of the mean totals
	Entries  []Difference `json:"entries"`  // of the mean entries, in the order of the signature
	Residual Difference   `json:"residual"` // of the mean residuals
}

// Difference is the difference of two means.
type Difference struct {
	Leaves    []string `json:"leaves,omitempty"` // stages of an entry; absent: the total, the residual
	Before    Value    `json:"before"`           // mean in the window before
	After     Value    `json:"after"`            // mean in the window after
	Change    Value    `json:"change"`           // after less before
	Numerator Value    `json:"numerator"`        // of the change as a fraction whose denominator is n_from·n_to: the numerators of the parts add up exactly to the numerator of the total
	Share     Value    `json:"share"`            // of the total's change
}

const (
	shownChanges = 3  // of each set of entries, the largest
	fewMembers   = 10 // windows with fewer are compared only where all pairs have one
)

// Explain sets the changes of a run and of its groups.
func (r *Run) Explain() {
	r.Changes = changesOf(r.Decompositions, r.Windows)
	for i := range r.Groups {
		r.Groups[i].Changes = changesOf(r.Groups[i].Decompositions, r.Groups[i].Windows)
	}
}

// changesOf returns the largest changes between windows that follow one another, by
// the tables of the whole.
func changesOf(whole []Decomposition, windows []Window) (out []Change) {
	if len(windows) < 2 {
		return nil
	}
	for i := range whole {
		d := &whole[i]
		if d.Members != "" || d.Estimated() || !d.Tells() {
			continue
		}
		for j := range d.Tables {
			out = append(out, largest(d, &d.Tables[j], windows)...)
		}
	}
	return out
}

// step is a pair of windows, and their tables.
type step struct {
	from, to      *Window
	before, after *Breakdown
}

func (s *step) size() float64 {
	d := s.after.Total.V - s.before.Total.V
	return max(d, -d)
}

// largest returns the largest changes of the tables like one.
func largest(d *Decomposition, like *Breakdown, windows []Window) (out []Change) {
	var steps, good []step
	var last step
	for i := range windows {
		t := windows[i].tableLike(d, like)
		if t == nil || t.N == 0 {
			continue
		}
		s := step{last.to, &windows[i], last.after, t}
		if last = s; s.from == nil {
			continue
		}
		if steps = append(steps, s); min(s.before.N, s.after.N) >= fewMembers {
			good = append(good, s)
		}
	}
	if len(good) > 0 {
		steps = good
	}
	slices.SortFunc(steps, func(a, b step) int { return cmp.Or(cmp.Compare(b.size(), a.size()), cmp.Compare(a.to.From, b.to.From)) })
	for _, s := range steps[:min(len(steps), shownChanges)] {
		out = append(out, s.change(d, like))
	}
	return out
}

// tableLike returns the table of a window with the quantity, side and entries of
// another, or nil.
func (w *Window) tableLike(d *Decomposition, like *Breakdown) *Breakdown {
	for i := range w.Decompositions {
		o := &w.Decompositions[i]
		if o.Of != d.Of || o.Side != d.Side || o.Members != d.Members || o.Estimated() {
			continue
		}
		for j := range o.Tables {
			if t := &o.Tables[j]; t.Signature == like.Signature && t.Cohort == like.Cohort && len(t.Entries) == len(like.Entries) {
				return t
			}
		}
	}
	return nil
}

func (s *step) change(d *Decomposition, like *Breakdown) Change {
	c := Change{Of: d.Of, Side: d.Side, Signature: like.Signature, Cohort: like.Cohort, From: s.from.From, To: s.to.From, NFrom: s.before.N, NTo: s.after.N}
	total := s.numerator(s.before.Sum, s.after.Sum)
	c.Total = s.difference(s.before.Total, s.after.Total, total, total)
	for i := range like.Entries {
		a, b := &s.before.Entries[i], &s.after.Entries[i]
		e := s.difference(a.Mean, b.Mean, s.numerator(a.Sum, b.Sum), total)
		e.Leaves = b.Leaves
		c.Entries = append(c.Entries, e)
	}
	a, b := &s.before.Residual, &s.after.Residual
	c.Residual = s.difference(a.Mean, b.Mean, s.numerator(a.Sum, b.Sum), total)
	return c
}

// numerator returns the numerator of the difference of two means with the given sums,
// over the product of the members, or nil where a sum is not known exactly.
func (s *step) numerator(a, b Value) *big.Int {
	if !a.Whole || !b.Whole {
		return nil
	}
	n := new(big.Int).Mul(big.NewInt(b.Int), big.NewInt(s.before.N))
	return n.Sub(n, new(big.Int).Mul(big.NewInt(a.Int), big.NewInt(s.after.N)))
}

func (s *step) difference(before, after Value, n, total *big.Int) Difference {
	d := Difference{Before: before, After: after, Change: Null("too_many"), Numerator: Null("too_many"), Share: Null("too_many")}
	if n == nil || total == nil {
		return d
	}
	over := new(big.Int).Mul(big.NewInt(s.before.N), big.NewInt(s.after.N))
	quotient := func(a, b *big.Int, u unit.Unit) Value {
		f, _ := new(big.Rat).SetFrac(a, b).Float64()
		return Known(f, u)
	}
	d.Change = quotient(n, over, unit.Nanosecond)
	if n.IsInt64() {
		d.Numerator = KnownInt(n.Int64(), unit.None)
	}
	if d.Share = Null("no_span"); total.Sign() != 0 {
		d.Share = quotient(n, total, unit.Ratio)
	}
	return d
}
