package estimate

import (
	"cmp"
	"math"
	"slices"
)

// kind says what work a step did besides decoding.
type kind uint8

const (
	clean     kind = iota // decoding alone
	again                 // the context of a sequence may have been recomputed
	ambiguous             // a prompt may have been computed
	prefill               // a prompt was computed: a first token came, or a token of a recomputed sequence
)

// steps are the steps that gave tokens, by their number.
type steps struct {
	at      []int64   // instant: the median stamp of the step's chunks, in ns
	b       []int32   // sequences with a chunk that is not their first
	context []float64 // tokens of these before the step
	flags   []flags
	kind    []kind

	absences []absence // in order of the requests, then of time
	admitted bool      // all requests tell when they were admitted: ambiguous steps did compute prompts
	prompts  bool      // all requests tell the length of their prompt: context is known
}

// flags holds the facts that the chunks of a step show.
type flags uint8

const (
	first   flags = 1 << iota // one is the first of its request
	partial                   // none continues a sequence of the step before: prompts were computed apart from decoding
	wide                      // the stamps are spread over more than half of the time to a neighbouring step
)

// absence is a run of steps [from, to) without a chunk of a request.
type absence struct {
	q        int32
	from, to int32
	redone   bool // the others went on, and its context was recomputed in step to
}

// y returns the length of step k in ns, for k > 0: the length of the first step is
// unknown.
func (s *steps) y(k int) int64 { return s.at[k] - s.at[k-1] }

// clusters makes steps.
type clusters struct {
	steps
	open   []int64 // stamps of the current step, in order
	full   int32   // the last step that was not partial
	spread int64   // of the step before
}

func (c *clusters) begin() {
	c.b, c.context, c.flags = append(c.b, 0), append(c.context, 0), append(c.flags, partial)
}

// end ends the current step, if there is one.
func (c *clusters) end() {
	n := len(c.open)
	if n == 0 {
		return
	}
	k := len(c.at)
	c.at = append(c.at, c.open[(n-1)/2])
	spread := c.open[n-1] - c.open[0]
	if k > 0 {
		if half := c.y(k) / 2; spread > half || c.spread > half {
			if spread > half {
				c.flags[k] |= wide
			}
			if c.spread > half {
				c.flags[k-1] |= wide
			}
		}
	}
	if c.flags[k]&partial == 0 {
		c.full = int32(k)
	}
	c.spread, c.open = spread, c.open[:0]
}

// settle sorts the absences and lets each request find its own.
func (c *clusters) settle(r *Replica) {
	slices.SortFunc(c.absences, func(a, b absence) int { return cmp.Or(cmp.Compare(a.q, b.q), cmp.Compare(a.from, b.from)) })
	for q, i := 0, 0; q < len(r.requests); q++ {
		r.requests[q].away = int32(i)
		for i < len(c.absences) && int(c.absences[i].q) == q {
			i++
		}
	}
}

// shortestChunk is the least number of prompt tokens that engines compute in a
// step, as long as there are more.
const shortestChunk = 512

// classify finds out what each step did. Stamps that are closer than pause may be
// of one instant.
func (s *steps) classify(r *Replica, pause int64) {
	n := len(s.at)
	s.kind = make([]kind, n)
	busy, anew := make([]int32, n+1), make([]int32, n+1)
	for i := range r.requests {
		x := &r.requests[i]
		busy[min(s.since(x, pause), int(x.first))]++
		busy[x.first+1]--
	}
	for _, h := range r.held {
		busy[s.after(h.begin)]++
		busy[max(s.after(h.begin), s.after(h.end))]--
	}
	s.resumptions(r, anew)
	for k, waiting, redone := 0, int32(0), int32(0); k < n; k++ {
		waiting += busy[k]
		redone += anew[k]
		switch {
		case s.flags[k]&(first|partial) != 0:
			s.kind[k] = prefill
		case waiting > 0:
			s.kind[k] = max(s.kind[k], ambiguous)
		case redone > 0:
			s.kind[k] = max(s.kind[k], again)
		}
	}
}

// resumptions marks the steps in which a sequence came back after others had gone
// on without it: its context was recomputed.
func (s *steps) resumptions(r *Replica, anew []int32) {
	for i := range s.absences {
		a := &s.absences[i]
		x := &r.requests[a.q]
		if x.Output > int64(len(x.Gaps)+1) { // tokens of several steps came in one chunk
			continue
		}
		for k := int(a.from); k < int(a.to) && !a.redone; k++ {
			a.redone = s.flags[k]&partial == 0
		}
		if !a.redone {
			continue
		}
		s.kind[a.to] = prefill
		chunks := int32((max(x.Prompt, 0) + x.Output) / shortestChunk)
		from := max(a.from, a.to-chunks-1)
		anew[from]++
		anew[a.to]--
	}
}

// after returns the number of the first step whose instant is not before t, or
// the number of steps.
func (s *steps) after(t int64) int {
	k, _ := slices.BinarySearch(s.at, t)
	return k
}

// since returns the first step in which the prompt of x can have been computed.
func (s *steps) since(x *request, pause int64) int {
	if x.Admitted { // at the beginning of the step, which is stamped a bit later
		return s.after(x.Begin + pause)
	}
	return s.after(x.Begin) + 1 // in the middle of a step
}

// huber fits the model to points by iteratively reweighted least squares, and
// leaves the weights in them.
func (s *steps) huber(points []point) model {
	for i := range points {
		points[i].w = 1
	}
	var m model
	scratch := make([]float64, 0, min(len(points), madSample))
	for range huberRounds {
		var sum sums
		for i := range points {
			s.sum(&sum, points[i])
		}
		last := m
		m = sum.solve()
		if near(m.a, last.a) && near(m.b, last.b) && near(m.c, last.c) {
			break
		}
		limit := huberAt * s.deviation(points, m, scratch)
		for i := range points {
			p := &points[i]
			p.w = 1
			if off := s.off(m, int(p.k)); off > limit {
				p.w = limit / off
			}
		}
	}
	return m
}

// sum adds a point.
func (s *steps) sum(to *sums, p point) {
	context := 0.0
	if s.prompts {
		context = s.context[p.k]
	}
	to.add(p.w, float64(s.b[p.k]), context, float64(s.y(int(p.k))))
}

// off returns how far step k is from the model.
func (s *steps) off(m model, k int) float64 { return math.Abs(float64(s.y(k)) - s.expect(m, k)) }

// expect returns ŷ of step k.
func (s *steps) expect(m model, k int) float64 { return m.of(s.b[k], s.context[k]) }

// deviation returns the median absolute deviation of points from m, at least
// 1 ns.
func (s *steps) deviation(points []point, m model, scratch []float64) float64 {
	stride := 1 + (len(points)-1)/madSample
	scratch = scratch[:0]
	for i := 0; i < len(points); i += stride {
		scratch = append(scratch, s.off(m, int(points[i].k)))
	}
	slices.Sort(scratch)
	return max(1, scratch[len(scratch)/2])
}
