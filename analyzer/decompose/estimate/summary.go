package estimate

import (
	"servescope/analyzer/report"
	"servescope/analyzer/unit"
	"slices"
	"strings"
)

// Summary holds the parts of the decode spans of a selection of requests. Times are
// sums in ns over all requests; divided by Tokens they give the parts of the time
// per output token, weighted by tokens.
type Summary struct {
	N      int64 // requests
	Tokens int64 // behind the first of each
	Parts  Parts
	Vague  int64 // of the interference, what may be none

	// Low and High bound each part, by the uncertainty of the model and of
	// ambiguous steps. Null says why a part is unknown.
	Low, High [parts]float64
	Null      [parts]Reason

	Merged bool    // floor and load are one, which is in the interval of each
	Split  bool    // load is known to be of the batch and of the context:
	Batch  float64 // the part of the load from more sequences; the rest is from longer context

	Negative [parts]int64 // tokens of requests of which the part is negative
	Short    int64        // tokens of requests of which all that is not known, with the rest, is negative

	Excluded map[Reason]int64 // tokens of requests that are not among N
	Long     Long             // gaps of requests whose steps cannot be told apart by their stamps
}

// negative counts the tokens of requests with negative parts.
func (s *Summary) negative(each []spent) {
	for _, x := range each {
		unknown := x.parts[Rest]
		for p, v := range x.parts {
			if v < 0 {
				s.Negative[p] += x.tokens
			}
			if s.Null[p] != None && Part(p) != Rest {
				unknown += v
			}
		}
		if unknown < 0 {
			s.Short += x.tokens
		}
	}
}

// nulls takes note of what cannot be told of a replica.
func (s *Summary) nulls(e *Estimate) {
	if e.Drift >= mostDrift {
		for _, p := range []Part{Floor, Load, Interference, Rest} {
			s.Null[p] = NotConstant
		}
	}
	if e.Unexplained > mostLong {
		s.Null[Interference], s.Null[Rest] = Unexplained, Unexplained
	}
	s.Merged = s.Merged || e.Merged
	s.Split = s.Split && e.steps.prompts && max(e.Correlation, -e.Correlation) <= mostCorrelated
}

// intervals finds the interval of each part.
func (s *Summary) intervals(draws []times) {
	if len(draws) == 0 || s.N == 0 {
		return
	}
	for p := range parts {
		lo, hi := s.interval(p, draws)
		if span := float64(s.Parts.Sum()); hi-lo > float64(widest*span) && s.Null[p] == None {
			s.Null[p] = WideInterval
		}
		s.Low[p], s.High[p] = lo, hi
	}
}

// interval returns the interval of the sum of part p in ns: the 2.5th and 97.5th
// percentile of the draws, each with and without the vague part.
func (s *Summary) interval(p Part, draws []times) (lo, hi float64) {
	low, high := make([]float64, len(draws)), make([]float64, len(draws))
	base := float64(s.Parts[p])
	if s.Merged && p <= Load {
		base = float64(s.Parts[Floor] + s.Parts[Load])
	}
	for i := range draws {
		d := &draws[i]
		v, less := base+d.part[p], float64(s.Vague)+d.vague
		switch {
		case s.Merged && p <= Load:
			v = base + d.part[Floor] + d.part[Load]
			less = 0
		case p == Rest:
			less = -less
		case p != Interference:
			less = 0
		}
		low[i], high[i] = min(v, v-less), max(v, v-less)
	}
	slices.Sort(low)
	slices.Sort(high)
	cut := len(draws) * 25 / 1000
	return low[cut], high[len(high)-1-cut]
}

// breakdown is the table of a summary.
func (s *Summary) breakdown(r *Result) report.Breakdown {
	total := float64(s.Parts.Sum())
	t := report.Breakdown{N: s.Tokens, Share: report.Known(1, unit.Ratio)}
	mean := func(ns float64) report.Value { return report.Known(ns/float64(s.Tokens), unit.Nanosecond) }
	share := func(ns float64) report.Value { return report.Known(ns/total, unit.Ratio) }
	t.Total, t.Sum = mean(total), report.KnownInt(s.Parts.Sum(), unit.Nanosecond)
	rest := s.Parts.Sum()
	var names []string
	entry := func(p Part, ns int64, leaves ...string) {
		names = append(names, strings.Join(leaves, "+"))
		rest -= ns
		t.Entries = append(t.Entries, report.Entry{
			Leaves: leaves, Mean: mean(float64(ns)), Sum: report.KnownInt(ns, unit.Nanosecond), Share: share(float64(ns)),
			Low: mean(s.Low[p]), High: mean(s.High[p]), Negative: s.Negative[p], Reason: noise(s.Negative[p]), Resolution: report.Null("not_recorded"),
		})
	}
	for p := range parts {
		leaf := report.Leaf{Name: p.String(), State: "value"}
		switch {
		case s.Null[p] != None:
			leaf.State, leaf.Reason = "null", string(s.Null[p])
			t.Residual.MayContain = append(t.Residual.MayContain, p.String())
		case s.Merged && p <= Load:
			if leaf.State = "merged"; p == Floor {
				entry(p, s.Parts[Floor]+s.Parts[Load], Floor.String(), Load.String())
			}
		case p != Rest:
			entry(p, s.Parts[p], p.String())
		}
		t.Leaves = append(t.Leaves, leaf)
	}
	t.Signature = strings.Join(names, ", ")
	t.Residual.Mean, t.Residual.Sum, t.Residual.Share = mean(float64(rest)), report.KnownInt(rest, unit.Nanosecond), share(float64(rest))
	t.Residual.Negative, t.Residual.Reason = s.Short, noise(s.Short)
	if len(t.Residual.MayContain) == 0 {
		t.Residual.Low, t.Residual.High = mean(s.Low[Rest]), mean(s.High[Rest])
	}
	for _, name := range []string{"decode_compute", "communication", "scheduling", "framework_overhead"} {
		null := report.Null("not_identifiable")
		t.Terms = append(t.Terms, report.Term{Name: name, Mean: null, Low: null, High: null})
	}
	if s.Split && s.Null[Load] == None {
		t.Memos = append(t.Memos,
			report.Memo{Name: "load_of_batch", Mean: mean(s.Batch), N: s.Tokens},
			report.Memo{Name: "load_of_context", Mean: mean(float64(s.Parts[Load]) - s.Batch), N: s.Tokens})
	}
	t.Notes = r.notes(s)
	return t
}
