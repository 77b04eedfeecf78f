package estimate

import (
	"cmp"
	"slices"
)

// Request holds the stamps and counts of one request of a replica. Stamps are in
// ns; the stamps of all requests of a replica belong to one clock.
type Request struct {
	Row int64 // of the caller: it names the request

	Begin    int64 // when the scheduler admitted it or, if that is unknown, when it was received or sent
	Admitted bool  // Begin is the admission

	// First is the stamp of the first chunk of tokens, Gaps the time from each
	// chunk to the next. Add copies the gaps.
	First int64
	Gaps  []int64

	Prompt int64 // tokens; -1 when unknown
	Output int64 // tokens; -1 when unknown
}

// held is a request that got no token: it may have kept the engine busy from
// begin to end.
type held struct{ begin, end int64 }

// arenaSize is the number of gaps that are kept in one piece of memory.
const arenaSize = 1 << 16

// Replica holds the requests of one replica. It belongs to one goroutine at a
// time. The zero value is empty.
type Replica struct {
	requests []request
	held     []held
	arena    []int64
	chunks   int64
}

// Add adds a request that got tokens.
func (r *Replica) Add(q Request) {
	x := request{Request: q, perChunk: 1}
	if q.Output > 0 {
		x.perChunk = float64(q.Output) / float64(len(q.Gaps)+1)
	}
	x.Gaps = r.keep(q.Gaps)
	r.requests = append(r.requests, x)
	r.chunks += int64(len(q.Gaps)) + 1
}

// AddHeld adds a request that got no token: something of it may have been
// computed from begin to end.
func (r *Replica) AddHeld(begin, end int64) {
	if end > begin {
		r.held = append(r.held, held{begin, end})
	}
}

// Merge adds all requests of other, which is not used any more.
func (r *Replica) Merge(other *Replica) {
	r.chunks += other.chunks
	r.requests = append(r.requests, other.requests...)
	r.held = append(r.held, other.held...)
}

// keep copies gaps into memory of the replica.
func (r *Replica) keep(gaps []int64) []int64 {
	if len(gaps) > cap(r.arena)-len(r.arena) {
		r.arena = make([]int64, 0, max(arenaSize, len(gaps)))
	}
	from := len(r.arena)
	r.arena = append(r.arena, gaps...)
	return r.arena[from:len(r.arena):len(r.arena)]
}

// sort brings the requests into the order of their first chunks, whatever the
// order in which they came.
func (r *Replica) sort() {
	slices.SortFunc(r.requests, func(a, b request) int {
		return cmp.Or(cmp.Compare(a.First, b.First), cmp.Compare(a.Row, b.Row))
	})
}

// merge calls f with every chunk of every request, in order of time: the request,
// the number of the chunk in it, and its stamp.
func (r *Replica) merge(f func(q, chunk int32, at int64)) {
	h := make(heap, 0, 256)
	for next := 0; next < len(r.requests) || len(h) > 0; {
		if next < len(r.requests) && (len(h) == 0 || r.requests[next].First <= h[0].at) {
			h = h.push(event{at: r.requests[next].First, q: int32(next)})
			next++
			continue
		}
		e := h[0]
		f(e.q, e.chunk, e.at)
		gaps := r.requests[e.q].Gaps
		if int(e.chunk) == len(gaps) {
			h = h.pop()
			continue
		}
		h[0].at += gaps[e.chunk]
		h[0].chunk++
		h.down()
	}
}

// event is the next chunk of a request.
type event struct {
	at       int64
	q, chunk int32
}

func (e event) before(o event) bool { return e.at < o.at || e.at == o.at && e.q < o.q }

// heap is a binary heap, the earliest event on top.
type heap []event

func (h heap) push(e event) heap {
	h = append(h, e)
	for i := len(h) - 1; i > 0; {
		up := (i - 1) / 2
		if !h[i].before(h[up]) {
			break
		}
		h[i], h[up] = h[up], h[i]
		i = up
	}
	return h
}

func (h heap) pop() heap {
	last := len(h) - 1
	h[0] = h[last]
	h = h[:last]
	h.down()
	return h
}

// down sinks the event on top to its place.
func (h heap) down() {
	for i := 0; ; {
		next := 2*i + 1
		if next >= len(h) {
			return
		}
		if next+1 < len(h) && h[next+1].before(h[next]) {
			next++
		}
		if !h[next].before(h[i]) {
			return
		}
		h[i], h[next] = h[next], h[i]
		i = next
	}
}

// Estimate finds the steps of the replica's log and fits the model. It reorders
// the requests.
func (r *Replica) Estimate() *Estimate {
	e := &Estimate{replica: r}
	r.sort()
	pause := r.pause()
	e.steps = r.cluster(pause)
	if e.Steps = len(e.steps.at); !e.resolvable() {
		e.Refused = NotResolvable
		return e
	}
	e.steps.classify(r, pause)
	e.points = e.steps.clean()
	if e.Clean = len(e.points); e.Clean < fewestClean {
		e.Refused = FewSteps
		return e
	}
	e.extent()
	e.fit()
	e.bootstrap()
	return e
}

// pause returns the time without chunks that tells steps apart: a third of what
// nearly all steps take.
func (r *Replica) pause() int64 {
	var gaps []int64
	n, stride := 0, 1+int(r.chunks/madSample)
	for i := range r.requests {
		for _, gap := range r.requests[i].Gaps {
			if n++; n%stride == 0 {
				gaps = append(gaps, gap)
			}
		}
	}
	if len(gaps) == 0 {
		return 0
	}
	slices.Sort(gaps)
	return gaps[len(gaps)/20] / 3
}

// cluster unites the chunks of r to steps: a step ends before a chunk of a request
// that has one in it already, and at a time without chunks longer than pause.
func (r *Replica) cluster(pause int64) *steps {
	n := r.guess()
	c := clusters{steps: steps{
		at: make([]int64, 0, n), b: make([]int32, 0, n), context: make([]float64, 0, n), flags: make([]flags, 0, n),
		admitted: true, prompts: true,
	}}
	r.merge(func(q, chunk int32, at int64) {
		x, last := &r.requests[q], len(c.at)
		if n := len(c.open); n > 0 && (at-c.open[n-1] > pause || chunk > 0 && int(x.last) == last) {
			c.end()
			last++
		}
		if len(c.open) == 0 {
			c.begin()
		}
		c.open = append(c.open, at)
		if chunk == 0 {
			x.first = int32(last)
			c.flags[last] |= first
			c.admitted = c.admitted && x.Admitted
			c.prompts = c.prompts && x.Prompt >= 0
		} else {
			if last > int(x.last)+1 {
				c.absences = append(c.absences, absence{q: q, from: x.last + 1, to: int32(last)})
			}
			if x.last >= c.full {
				c.flags[last] &^= partial
			}
			c.b[last]++
			c.context[last] += float64(max(x.Prompt, 0)) + float64(float64(chunk)*x.perChunk)
		}
		x.last = int32(last)
	})
	c.end()
	c.settle(r)
	return &c.steps
}

// guess returns about how many steps there are, to take the memory for them at
// once: each gives a chunk to as many requests as there are at a time.
func (r *Replica) guess() int {
	spans, end := 0.0, int64(0)
	for i := range r.requests {
		x := &r.requests[i]
		spans += float64(x.span())
		end = max(end, x.First+x.span())
	}
	if spans == 0 {
		return 0
	}
	return int(float64(r.chunks) * min(1, 1.1*float64(end-r.requests[0].First)/spans))
}

// tokens returns how many tokens came in (from, to]. It counts the tokens of first
// chunks only if first is true.
func (r *Replica) tokens(from, to int64, first bool) (n float64) {
	for i := range r.requests {
		x := &r.requests[i]
		at := x.First
		if first && at > from && at <= to {
			n += x.perChunk
		}
		for _, gap := range x.Gaps {
			if at += gap; at > from && at <= to {
				n += x.perChunk
			}
		}
	}
	return n
}
