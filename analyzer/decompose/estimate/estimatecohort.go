package estimate

// cohort counts, for every step, the requests of a selection by what the step is
// to their decode span.
type cohort struct {
	from, to int32   // the steps in [from, to) are something to some
	own      []int32 // it gave them a chunk
	redone   []int32 // of these, the sequences whose context was recomputed
	away     []int32 // it gave them none
}

// newCohort counts the requests that in selects.
func (e *Estimate) newCohort(in func(row int64) bool) *cohort {
	s := e.steps
	n := len(s.at)
	c := &cohort{own: make([]int32, n+1), redone: make([]int32, n+1), away: make([]int32, n+1)}
	for q := range e.replica.requests {
		x := &e.replica.requests[q]
		if !in(x.Row) {
			continue
		}
		c.own[x.first+1]++
		if int(x.last) < n {
			c.own[x.last+1]--
		}
		for _, a := range s.away(q, x) {
			c.away[a.from]++
			c.away[a.to]--
			if a.redone {
				c.redone[a.to]++
			}
		}
	}
	for k := 1; k < n; k++ {
		c.own[k] += c.own[k-1]
		c.away[k] += c.away[k-1]
	}
	for k := range n {
		if c.own[k] > 0 {
			if c.to == 0 {
				c.from = int32(k)
			}
			c.to = int32(k) + 1
		}
		c.own[k] -= c.away[k]
	}
	return c
}

// begin returns the first of every n-th step, counted from the second, that is
// something to some.
func (c *cohort) begin(n int) int {
	if c.from <= 1 {
		return 1
	}
	return 1 + (int(c.from)-1+n-1)/n*n
}

// times holds the time of each part in ns, and what of the interference is vague.
type times struct {
	part  [parts]float64
	vague float64
}

// mostSteps is how many steps the intervals are computed from, about.
const mostSteps = 1_000_000

// under takes the decode spans of a cohort apart under model m; of long logs by
// every n-th step. It leaves out the delivery of first and last chunks, which no
// model changes.
func (e *Estimate) under(m model, c *cohort) (t times) {
	s, low := e.steps, m.of(e.lowB, e.lowC)
	stride := 1 + len(s.at)/mostSteps
	scale := float64(stride)
	for k := c.begin(stride); k < int(c.to); k += stride {
		y := float64(s.y(k))
		if away := float64(c.away[k]); away > 0 {
			t.part[s.without(k)] += float64(scale * float64(away*y))
		}
		if c.own[k] == 0 {
			continue
		}
		own, redone := float64(scale*float64(c.own[k])), float64(scale*float64(c.redone[k]))
		fit := s.expect(m, k)
		t.part[Floor] += float64(own * min(low, fit))
		t.part[Load] += float64(own * max(0, fit-low))
		excess := float64((own - redone) * (y - fit))
		t.part[s.excess(k, false)] += excess
		t.part[Stall] += float64(redone * (y - fit))
		if s.vague(k) {
			t.vague += excess
		}
	}
	return t
}

// batch returns how much of the load of a cohort comes of more sequences, in ns;
// the remainder comes of more context.
func (e *Estimate) batch(c *cohort) (sum float64) {
	s, low := e.steps, e.model.of(e.lowB, e.lowC)
	for k := c.begin(1); k < int(c.to); k++ {
		load := s.expect(e.model, k) - low
		of := max(0, float64(e.model.b*float64(s.b[k]-e.lowB)))
		all := of + max(0, float64(e.model.c*(s.context[k]-e.lowC)))
		if c.own[k] > 0 && load > 0 && all > 0 {
			sum += float64(float64(float64(c.own[k])*load) * (of / all))
		}
	}
	return sum
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
