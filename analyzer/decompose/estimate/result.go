package estimate

import (
	"slices"

	"servescope/analyzer/trace"
)

// Result is the estimates of the replicas of one run.
type Result struct {
	Side     trace.Side // whose stamps they are made of
	Replicas []Replicated
	Chunks   int64 // that were looked at
}

// Replicated is the estimate of one replica.
type Replicated struct {
	Name     string // "" where rows do not name any
	Coverage Coverage
	*Estimate
}

// Estimate estimates. complete says that the caller vouches for the log to hold
// every request of its replicas; where the engine's own log says otherwise, that
// counts.
func (l *Log) Estimate(complete bool) *Result {
	out := &Result{Chunks: l.chunks}
	if l.chunks > MaxTokens {
		out.Replicas = []Replicated{{Estimate: &Estimate{Refused: TooMany, replica: new(Replica)}}}
		return out
	}
	for _, s := range order {
		if l.sides[s].members > 0 {
			out.Side = s
			break
		}
	}
	side := &l.sides[out.Side]
	sources := slices.DeleteFunc(side.sorted(), func(s *source) bool { return len(s.requests) == 0 })
	evidence := l.engine.evidence(sources)
	for _, s := range sources {
		covered := evidence[s]
		e := &Estimate{replica: &s.Replica}
		switch {
		case s.clocks:
			e.Refused = Clock
		case s.beginless > 0:
			e.Refused = NotRecorded
		case covered == Incomplete, covered == Several, covered == Unproven && !complete,
			float64(side.lost) > float64(mostMissing*float64(side.tokens)):
			e.Refused = Uncovered
		default:
			e = s.Replica.Estimate()
		}
		out.Replicas = append(out.Replicas, Replicated{s.name, covered, e})
	}
	return out
}

// Summary is the decode spans of a selection of requests, taken apart. Times are
// sums in ns over all of them; divided by Tokens they are of the time per output
// token, weighted by tokens.
type Summary struct {
	N      int64 // requests
	Tokens int64 // behind the first of each
	Parts  Parts
	Vague  int64 // of the interference, what may be none

	// Low and High are the interval of each part, by what is not known about the
	// model, and about ambiguous steps. Null says why a part is not known.
	Low, High [parts]float64
	Null      [parts]Reason

	Merged bool    // floor and load are one, which is in the interval of each
	Split  bool    // load is known to be of the batch and of the context:
	Batch  float64 // of the load, what more sequences make; the remainder is of context

	Negative [parts]int64 // tokens of requests of which the part is negative
	Short    int64        // tokens of requests of which all that is not known, with the rest, is negative

	Excluded map[Reason]int64 // tokens of requests that are not among N
	Long     Long             // gaps of requests whose steps stamps do not tell apart
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

// steps returns what the span of x is divided by: N − 1, or the gaps where N is
// unknown.
func (x *request) steps() int64 {
	if x.Output > 1 {
		return x.Output - 1
	}
	return int64(len(x.Gaps))
}

// draw adds to draws by how much the parts of a cohort differ under each model of
// the bootstrap.
func (e *Estimate) draw(c *cohort, draws []times) []times {
	if draws == nil {
		draws = make([]times, resamples)
	}
	here := e.under(e.model, c)
	for i := range draws {
		t := e.under(e.models[i%len(e.models)], c)
		for p, v := range t.part {
			draws[i].part[p] += v - here.part[p]
		}
		draws[i].vague += t.vague - here.vague
	}
	return draws
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
// percentile of the draws, each with and without what is vague.
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
