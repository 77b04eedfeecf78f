package simulate

import (
	"cmp"
	"slices"
	"strconv"

	"servescope/analyzer/trace"
)

// epoch is the origin of the simulated clock in ns since 1970.
const epoch = int64(1_764_428_000_250_000_000)

// Log is what a scenario leaves behind.
type Log struct {
	Scenario Scenario

	// Requests holds the rows of the requests table by the time of their end,
	// all ok. Steps holds the engine's own log as rows of the steps table, or is
	// nil: the lines of vLLM's periodic statistics (kind window, the stamp cut
	// to 1 s) or of its iterations. Complete says that the caller vouches for the
	// log to hold every request. The batches are of one run and the caller's.
	Requests *trace.Batch
	Steps    *trace.Batch
	Complete bool

	Truth Truth
}

// Run simulates s. Numbers below the least that makes sense are raised to it.
func Run(s Scenario) *Log {
	full := s.complete()
	w := simulate(full)
	c := newClocks(full)
	logged := w.logged()
	run := &trace.RunMeta{Label: "simulated", Format: "simulate", Side: trace.Server, Clock: trace.Clock{Kind: trace.Wall}}
	if s.Logging.Client {
		run.Side = trace.Client
	}
	l := &Log{Scenario: *full, Requests: w.rows(logged, c, run), Truth: w.truth(logged, c)}
	switch s.Logging.Evidence {
	case Declared:
		l.Complete = true
	case Windows:
		l.Steps = w.windows(run)
	case Steps:
		l.Steps = w.iterations(run)
	}
	return l
}

// logged returns the requests that the log holds, by the time of their end.
func (w *world) logged() []*request {
	out := slices.Clone(w.requests)
	rnd := newRandom(w.s.Seed, ofMissing, 0)
	rnd.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	out = out[int(float64(w.s.Logging.Missing*float64(len(out)))+0.5):]
	slices.SortFunc(out, func(a, b *request) int { return cmp.Or(cmp.Compare(a.finished, b.finished), cmp.Compare(a.id, b.id)) })
	return out
}

// clocks makes the stamps of the hosts.
type clocks struct {
	quantum int64
	off     []int64 // by host
}

func newClocks(s *Scenario) *clocks {
	c := &clocks{quantum: s.Logging.Quantum}
	rnd := newRandom(s.Seed, ofClocks, 0)
	for range s.Logging.Hosts {
		c.off = append(c.off, int64(rnd.between(-float64(s.Logging.Skew), float64(s.Logging.Skew))))
	}
	return c
}

// stamp returns time t of the simulated clock as it stands in the row of r.
func (c *clocks) stamp(r *request, t int64) int64 {
	t += epoch + c.off[r.host]
	return t - t%c.quantum
}

// rows writes the requests table.
func (w *world) rows(logged []*request, c *clocks, run *trace.RunMeta) *trace.Batch {
	b, o := trace.NewBuilder(trace.Requests), &w.s.Logging
	var text []byte
	for _, r := range logged {
		b.Text(trace.RequestID, strconv.AppendInt(append(text[:0], "sim-"...), int64(r.id), 10))
		b.Code(trace.SideCol, int32(run.Side))
		b.Code(trace.StatusCol, int32(trace.OK))
		b.Bool(trace.Stream, true)
		if o.Named {
			b.Dict(trace.Replica, strconv.AppendInt(text[:0], int64(r.replica), 10))
		}
		if o.NamedClocks {
			b.Dict(trace.ClockCol, strconv.AppendInt(append(text[:0], "wall/host-"...), int64(r.host), 10))
		}
		if o.Quantum > 1 {
			b.Int(trace.Resolution, o.Quantum)
		}
		if o.Client {
			b.Int(trace.Sent, c.stamp(r, r.sent))
		} else {
			b.Int(trace.Received, c.stamp(r, r.received))
		}
		if o.Admitted {
			b.Int(trace.Admitted, c.stamp(r, r.admitted))
		}
		b.Int(trace.FirstToken, c.stamp(r, r.chunks[0].at))
		b.Int(trace.LastToken, c.stamp(r, r.chunks[len(r.chunks)-1].at))
		b.Int(trace.Finished, c.stamp(r, r.finished))
		b.Int(trace.PromptTokens, int64(r.prompt))
		b.Int(trace.OutputTokens, int64(r.output))
		b.Code(trace.OutputTokensSource, int32(trace.FromServer))
		lists(b, r, c, o.Counts)
		b.EndRow()
	}
	return b.Take(run, "simulated")
}

// lists sets the columns of the chunks.
func lists(b *trace.Builder, r *request, c *clocks, counts bool) {
	gaps := b.OpenList(trace.ChunkGaps)
	for i := 1; i < len(r.chunks); i++ {
		gaps = append(gaps, c.stamp(r, r.chunks[i].at)-c.stamp(r, r.chunks[i-1].at))
	}
	b.CloseList(trace.ChunkGaps, gaps)
	if !counts {
		return
	}
	b.Int(trace.FirstChunkTokens, r.chunks[0].tokens)
	tokens := b.OpenList(trace.ChunkTokens)
	for i := range r.chunks {
		tokens = append(tokens, r.chunks[i].tokens)
	}
	b.CloseList(trace.ChunkTokens, tokens)
}
