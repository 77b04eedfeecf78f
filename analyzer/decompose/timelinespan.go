package decompose

import (
	"cmp"
	"slices"

	"servescope/analyzer/report"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
)

// StepEnds finds the steps of an engine that a request had part in, by the times
// of its tokens, which are on the clock of the steps. It is read-only and safe for
// concurrent use.
type StepEnds struct {
	steps  []Step
	source StepSource
}

// Ends returns the ends of the timeline's steps, or nil where they are no
// intervals or their ends are not finer than steps.
func (t *Timeline) Ends() *StepEnds {
	t.Sort()
	source := sourceOf(t.Steps)
	i := slices.IndexFunc(t.Steps, func(k Step) bool { return k.End != Nowhere }) // the others are first
	if i < 0 || source.Quantity != trace.Interval || t.Resolution > maxMiss {
		return nil
	}
	return &StepEnds{steps: t.Steps[i:], source: source}
}

// maxMiss is how far a token may be from the end of its step, in ns: results are
// processed for one request after the other. It may not be more than a quarter of
// that step either, nor of the next one.
const maxMiss = 5_000_000

// find returns the step that gave a token at t, or -1.
func (e *StepEnds) find(t int64) int {
	i, _ := slices.BinarySearchFunc(e.steps, t, func(k Step, t int64) int { return cmp.Compare(k.End, t) })
	if i == len(e.steps) || i > 0 && t-e.steps[i-1].End < e.steps[i].End-t {
		i--
	}
	miss := max(t-e.steps[i].End, e.steps[i].End-t)
	for _, k := range e.steps[i:min(i+2, len(e.steps))] {
		if miss > maxMiss || k.Duration >= 0 && miss > k.Duration/4 {
			return -1
		}
	}
	return i
}

// TokenTime is the time between the tokens of requests whose sources state the same
// facts about it.
type TokenTime struct {
	SpanSource
	sums
	kinds [2]sums // of the steps that gave its tokens, each with the steps since the one before: those that only decode, and mixed ones
}

// kindNames names the kinds of a TokenTime.
var kindNames = [2]string{"decode steps", "mixed steps"}

// SpanSource lists the facts that are known about the time between the tokens of a
// request.
type SpanSource struct {
	Told  bool // in which steps it had part
	Steps StepSource
}

// Source returns the facts about a request whose steps are known.
func (e *StepEnds) Source() SpanSource { return SpanSource{true, e.source} }

// Members returns the steps that gave the tokens of a request: the first token came
// at the given time, the others follow by the gaps. It reports false where no step
// gave one of the tokens. The result uses the memory of scratch.
func (e *StepEnds) Members(first int64, gaps []int64, scratch []int32) ([]int32, bool) {
	list := scratch[:0]
	for i, t := 0, first; ; i++ {
		k := e.find(t)
		if k < 0 || i > 0 && int32(k) < list[i-1] {
			return list, false
		}
		list = append(list, int32(k))
		if i == len(gaps) {
			return list, true
		}
		t += gaps[i]
	}
}

// Add adds a request: how long it took from its first token to its last, and how
// many followed the first. members are the steps of its tokens, where they are
// known. The time of a step without the request is interference if that step only
// prefills, else a stall.
func (s *TokenTime) Add(e *StepEnds, members []int32, total, tokens int64) {
	s.n += tokens
	s.plus(&s.total, total, 1)
	for i := 1; i < len(members); i++ {
		kind := &s.kinds[0]
		if e.steps[members[i]].Kind == trace.StepMixed {
			kind = &s.kinds[1]
		}
		if members[i] > members[i-1] {
			kind.n++
		}
		for k := members[i-1] + 1; k <= members[i]; k++ {
			step := &e.steps[k]
			if step.Duration < 0 {
				continue
			}
			kind.plus(&kind.total, step.Duration, 1)
			for _, x := range [...]*sums{&s.sums, kind} {
				switch {
				case k == members[i]:
					x.weight++
					x.parts(step, 1)
				case step.Kind == trace.StepPrefill:
					x.plus(&x.leaf[Interference], step.Duration, 1)
				default:
					x.plus(&x.leaf[Stall], step.Duration, 1)
				}
			}
		}
	}
}

// Merge adds what another has.
func (s *TokenTime) Merge(o *TokenTime) {
	s.merge(&o.sums)
	for i := range s.kinds {
		s.kinds[i].merge(&o.kinds[i])
	}
}

// Fields returns the numbers that the sums consist of, for encodings. over is 1
// where a sum is beyond 64 bits.
func (s *TokenTime) Fields() (list []*int64) {
	for _, x := range [...]*sums{&s.sums, &s.kinds[0], &s.kinds[1]} {
		list = append(list, &x.n, &x.weight, &x.total, &x.over)
		for i := range x.leaf {
			list = append(list, &x.leaf[i])
		}
		for i := range x.memo {
			list = append(list, &x.memo[i], &x.told[i])
		}
	}
	return list
}

// SpanDecomposition returns where the time per token of the requests of a side
// went. excluded counts those without one.
func SpanDecomposition(side string, list []*TokenTime, excluded map[string]int64) report.Decomposition {
	var total sums
	var accounts []account
	for _, s := range list {
		total.merge(&s.sums)
		a := account{of: ofRequest, source: s.Steps, sums: s.sums}
		if s.Told {
			a.of = ofMember
		}
		accounts = append(accounts, a)
	}
	slices.SortStableFunc(accounts, func(a, b account) int { return cmp.Compare(b.n, a.n) })
	d := begin("tpot", "request", &total, unit.NSPerToken)
	d.Side, d.Excluded = side, excluded
	if total.n == 0 {
		d.Total = report.Null(mostly(excluded))
	}
	tables(&d, accounts, nil, unit.NSPerToken)
	return d
}

// SpanKinds returns the same by the kind of the step that gave each token: the time
// since the step that gave the previous token, which is the time of the spans
// without delivery. The entries of both kinds add up to the entries of the spans.
// It reports false where no step is mixed.
func SpanKinds(side string, list []*TokenTime) (d report.Decomposition, ok bool) {
	var total sums
	var accounts []account
	var names []string
	for i, name := range kindNames {
		for _, s := range list {
			if s.Told && s.kinds[i].n > 0 {
				total.merge(&s.kinds[i])
				accounts, names = append(accounts, account{of: ofMember, source: s.Steps, sums: s.kinds[i]}), append(names, name)
				ok = ok || i == 1
			}
		}
	}
	if !ok {
		return d, false
	}
	d = begin("tpot", "request_kind", &total, unit.Nanosecond)
	d.Side, d.Members = side, "steps"
	tables(&d, accounts, names, unit.Nanosecond)
	return d, true
}
