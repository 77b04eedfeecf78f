package estimate

import (
	"servescope/analyzer/trace"
	"slices"
)

// MaxTokens is how many chunks of tokens an estimate can be made of. It takes less
// than 100 bytes for each.
const MaxTokens = 10_000_000

// Log holds the rows of one run. It belongs to one goroutine at a time. The zero
// value is empty.
type Log struct {
	sides  [trace.Decode + 1]side
	rows   int64
	chunks int64
	engine engine
}

// side holds the requests that one side stamped.
type side struct {
	replicas map[string]*source
	members  int64 // with at least one chunk
	lost     int64 // tokens of requests without stamps of chunks
	tokens   int64 // of all requests
}

// source is a replica as rows name it.
type source struct {
	name string
	Replica
	clock     string
	clocks    bool  // of several clocks
	beginless int64 // requests that do not tell when they began
}

// order lists the sides from the innermost outwards: the first side with stamps is
// used for an estimate.
var order = []trace.Side{trace.Engine, trace.Decode, trace.Server, trace.Proxy, trace.Client}

// Add adds the rows of a batch of the requests table, with their lists. Rows are
// numbered from 0 in the order in which they are added.
func (l *Log) Add(b *trace.Batch) {
	c := columnsOf(b)
	for i := range b.Rows {
		l.row(c, i)
		l.rows++
	}
}

// columns is the views of a batch.
type columns struct {
	b                                               *trace.Batch
	side, replica, clock                            trace.Dicts
	admitted, received, sent, first, last, finished trace.Ints
	prompt, output                                  trace.Ints
	gaps                                            trace.Lists
}

func columnsOf(b *trace.Batch) *columns {
	return &columns{b, b.Dicts(trace.SideCol), b.Dicts(trace.Replica), b.Dicts(trace.ClockCol),
		b.Ints(trace.Admitted), b.Ints(trace.Received), b.Ints(trace.Sent), b.Ints(trace.FirstToken), b.Ints(trace.LastToken), b.Ints(trace.Finished),
		b.Ints(trace.PromptTokens), b.Ints(trace.OutputTokens), b.Lists(trace.ChunkGaps)}
}

// word returns the word of a row, or "".
func word(d trace.Dicts, i int) string {
	if code, ok := d.At(i); ok {
		return d.Values[code]
	}
	return ""
}

// row adds row i.
func (l *Log) row(c *columns, i int) {
	code, ok := c.side.At(i)
	if !ok {
		code = int32(c.b.Run.Side)
	}
	at := &l.sides[code]
	first, begun := c.first.At(i)
	gaps, listed := c.gaps.At(i)
	tokens, counted := c.output.At(i)
	if !counted {
		tokens = -1
	}
	from := at.of(word(c.replica, i))
	from.saw(c.clockOf(i))
	from.clocks = from.clocks || c.b.Run.Clock.Kind == trace.RequestClock
	begin, known, admitted := c.begin(i)
	if !begun {
		if end, ok := c.finished.At(i); ok && known && end > begin {
			from.AddHeld(begin, end)
		}
		return
	}
	at.tokens += max(tokens, int64(len(gaps))+1)
	if !listed {
		at.lost += max(1, tokens)
		return
	}
	if !known {
		from.beginless++
		begin = first
	}
	at.members++
	if l.chunks += int64(len(gaps)) + 1; l.chunks > MaxTokens {
		l.sides = [len(l.sides)]side{} // too many: nothing is kept
		return
	}
	prompt, ok := c.prompt.At(i)
	if !ok {
		prompt = -1
	}
	from.Add(Request{Row: l.rows, Begin: begin, Admitted: admitted, First: first, Gaps: gaps, Prompt: prompt, Output: tokens})
}

// begin returns when the computation of the prompt of row i can have begun.
func (c *columns) begin(i int) (at int64, ok, admitted bool) {
	if at, ok = c.admitted.At(i); ok {
		return at, true, true
	}
	if at, ok = c.received.At(i); ok {
		return at, true, false
	}
	at, ok = c.sent.At(i)
	return at, ok, false
}

func (c *columns) clockOf(i int) string {
	if s := word(c.clock, i); s != "" {
		return s
	}
	return c.b.Run.Clock.String()
}

// of returns the replica of a name.
func (s *side) of(name string) *source {
	r := s.replicas[name]
	if r == nil {
		if s.replicas == nil {
			s.replicas = make(map[string]*source)
		}
		r = &source{name: name}
		s.replicas[name] = r
	}
	return r
}

// saw takes note of the clock of a row.
func (r *source) saw(clock string) {
	r.clocks = r.clocks || r.clock != "" && r.clock != clock
	r.clock = clock
}

// sorted returns the replicas in order of their names.
func (s *side) sorted() []*source {
	var out []*source
	for _, r := range s.replicas {
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b *source) int {
		if a.name < b.name {
			return -1
		}
		return 1
	})
	return out
}

// AddSteps adds rows of the steps table.
func (l *Log) AddSteps(b *trace.Batch) {
	if l.engine.lines == nil {
		l.engine.lines = make(map[string]*lines)
	}
	replica, at, kind, index := b.Dicts(trace.StepReplica), b.Ints(trace.StepT), b.Dicts(trace.StepKindCol), b.Ints(trace.StepIndex)
	clock := b.Dicts(trace.StepClock)
	rate, tokens, resolution := b.Floats(trace.StepGenerationTPS), b.Ints(trace.StepDecodeTokens), b.Ints(trace.StepResolution)
	for i := range b.Rows {
		t, ok := at.At(i)
		k, typed := kind.At(i)
		if !ok || !typed {
			continue
		}
		name := word(replica, i)
		x := l.engine.lines[name]
		if x == nil {
			x = new(lines)
			l.engine.lines[name] = x
		}
		if x.clock = word(clock, i); x.clock == "" {
			x.clock = b.Run.Clock.String()
		}
		if r, ok := resolution.At(i); ok {
			x.resolution = max(x.resolution, r)
		}
		if trace.StepKind(k) == trace.StepWindow {
			if v, ok := rate.At(i); ok {
				x.windows = append(x.windows, line{t: t, rate: v})
			}
			continue
		}
		if n, ok := tokens.At(i); ok {
			number, ok := index.At(i)
			if !ok {
				number = -1
			}
			x.steps = append(x.steps, line{t: t, index: number, tokens: float64(n)})
		}
	}
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
