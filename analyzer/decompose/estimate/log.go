package estimate

import (
	"servescope/analyzer/sorting"
	"servescope/analyzer/trace"
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

// order is the sides from the innermost on: whose stamps an estimate is made of.
var order = []trace.Side{trace.Engine, trace.Decode, trace.Server, trace.Proxy, trace.Client}

// Add adds the rows of a batch of the requests table, with their lists. The number
// of a row is that of the rows added before it.
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
	sorting.By(out, func(a, b *source) int {
		if a.name < b.name {
			return -1
		}
		return 1
	})
	return out
}
