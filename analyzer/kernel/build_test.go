package kernel

import (
	"encoding/json"
	"strings"
	"testing"

	"servescope/analyzer/metric"
	"servescope/analyzer/query"
	"servescope/analyzer/report"
	"servescope/analyzer/trace"
)

const ms = int64(1e6)

// req is a request as tests write it: stamps in ms, -1 (or a nil list) unknown.
type req struct {
	side      trace.Side
	status    trace.Status
	send      int64
	scheduled int64
	event     int64
	first     int64
	answer    int64
	last      int64
	finish    int64
	n         int64
	source    trace.TokenSource
	max       int64
	client    int64
	reasoning int64
	prompt    int64
	cached    int64
	gaps      []int64 // ms
	tokens    []int64
	untold    bool // tokens is not recorded
	beam      bool
	stream    int64 // 1 yes, 0 no, -1 unknown
	kind      int64
	replica   string
	clock     string
	accepted  int64
	drafted   int64
	verified  int64
	decode    int64 // ms
	admitted  int64
	prefill   int64 // ms
	stall     int64 // ms
	preempted int64
}

// of returns a request with every optional column unknown.
func of(status trace.Status) req {
	return req{status: status, send: 0, scheduled: -1, event: -1, first: -1, answer: -1, last: -1, finish: -1, n: -1,
		max: -1, client: -1, reasoning: -1, prompt: -1, cached: -1, stream: 1, kind: -1, accepted: -1, drafted: -1, verified: -1, decode: -1,
		admitted: -1, prefill: -1, stall: -1, preempted: -1}
}

// streamed returns an ok request sent at send whose chunks come at the given
// times, in ms.
func streamed(send, n int64, chunks ...int64) req {
	r := of(trace.OK)
	r.send, r.n = send, n
	r.first, r.last = chunks[0], chunks[len(chunks)-1]
	r.gaps = []int64{}
	for i := 1; i < len(chunks); i++ {
		r.gaps = append(r.gaps, chunks[i]-chunks[i-1])
	}
	return r
}

// evented returns r with its first event at its first token: no role chunk came
// before it.
func evented(r req) req {
	r.event = r.first
	return r
}

func wallMeta() *trace.RunMeta { return &trace.RunMeta{Format: "test"} }

// build makes a batch of the rows, their stamps in ms.
func build(meta *trace.RunMeta, rows ...req) *trace.Batch {
	b := trace.NewBuilder(trace.Requests)
	for _, r := range rows {
		set := func(c trace.Col, v, scale int64) {
			if v != -1 {
				b.Int(c, v*scale)
			}
		}
		b.Code(trace.SideCol, int32(r.side))
		b.Code(trace.StatusCol, int32(r.status))
		start := trace.Sent
		switch {
		case r.side == trace.Server || r.side == trace.Proxy:
			start = trace.Received
		case r.side >= trace.Engine:
			start = trace.Queued
		}
		set(start, r.send, ms)
		set(trace.ScheduledSend, r.scheduled, ms)
		set(trace.FirstEvent, r.event, ms)
		set(trace.FirstToken, r.first, ms)
		set(trace.FirstAnswerToken, r.answer, ms)
		set(trace.LastToken, r.last, ms)
		set(trace.DDecode, r.decode, ms)
		set(trace.Finished, r.finish, ms)
		set(trace.Admitted, r.admitted, ms)
		set(trace.DPrefill, r.prefill, ms)
		set(trace.DStall, r.stall, ms)
		set(trace.Preemptions, r.preempted, 1)
		set(trace.OutputTokens, r.n, 1)
		set(trace.MaxTokens, r.max, 1)
		set(trace.ClientTokens, r.client, 1)
		set(trace.ReasoningTokens, r.reasoning, 1)
		set(trace.PromptTokens, r.prompt, 1)
		set(trace.CachedTokens, r.cached, 1)
		set(trace.SpecAccepted, r.accepted, 1)
		set(trace.SpecDrafted, r.drafted, 1)
		set(trace.VerifySteps, r.verified, 1)
		if r.n != -1 || r.source != 0 {
			b.Code(trace.OutputTokensSource, int32(r.source))
		}
		if r.stream != -1 {
			b.Bool(trace.Stream, r.stream == 1)
		}
		if r.beam {
			b.Bool(trace.BeamSearch, true)
		}
		if r.kind != -1 {
			b.Code(trace.TokenKind, int32(r.kind))
		}
		if r.replica != "" {
			b.Dict(trace.Replica, []byte(r.replica))
		}
		if r.clock != "" {
			b.Dict(trace.ClockCol, []byte(r.clock))
		}
		if r.gaps != nil {
			gaps := make([]int64, len(r.gaps))
			for i, g := range r.gaps {
				gaps[i] = g * ms
			}
			b.List(trace.ChunkGaps, gaps)
		}
		if r.tokens != nil && !r.untold {
			b.List(trace.ChunkTokens, r.tokens)
			b.Int(trace.FirstChunkTokens, r.tokens[0])
		}
		b.EndRow()
	}
	return b.Take(meta, "test.jsonl")
}

// sink collects cells.
type sink struct {
	runs  map[int32]*report.Run
	cells map[[3]int64]*report.Cell
}

func newSink() *sink {
	return &sink{map[int32]*report.Run{}, map[[3]int64]*report.Cell{}}
}

func (s *sink) Run(i int32) *report.Run {
	if s.runs[i] == nil {
		s.runs[i] = new(report.Run)
	}
	return s.runs[i]
}

func (s *sink) Cell(run, group int32, window int64) *report.Cell {
	key := [3]int64{int64(run), int64(group), window}
	if s.cells[key] == nil {
		s.cells[key] = new(report.Cell)
	}
	return s.cells[key]
}

// text is the whole result as JSON.
func (s *sink) text(t testing.TB) string {
	t.Helper()
	var out strings.Builder
	for _, c := range sortedCells(s.cells) {
		b, err := json.Marshal(struct {
			Key  [3]int64
			Cell report.Report
		}{c, report.Report{Runs: []report.Run{{Cell: *s.cells[c]}}}})
		if err != nil {
			t.Fatal(err)
		}
		out.Write(append(b, '\n'))
	}
	return out.String()
}

func sortedCells(m map[[3]int64]*report.Cell) [][3]int64 {
	byName := map[string][3]int64{}
	for k := range m {
		b, _ := json.Marshal(k)
		byName[string(b)] = k
	}
	var list [][3]int64
	for _, name := range sortedKeys(byName) {
		list = append(list, byName[name])
	}
	return list
}

// view is a batch with its run and groups.
type view struct {
	b     *trace.Batch
	run   int32
	group []int32 // nil: all in group 0
}

func (v view) of() *View {
	g := v.group
	if g == nil {
		g = make([]int32, v.b.Rows)
	}
	return &View{Batch: v.b, RunIndex: v.run, Group: g}
}

// run folds views through all kernels as a session does and returns the cells.
// split decides how a pass is cut into states and merged.
func run(t testing.TB, def *metric.Definition, q *query.Query, views []view, split func(fresh func() State, views []view) State) *sink {
	t.Helper()
	return runKernels(t, All(def), q, views, split)
}

// runKernels is run with the given kernels.
func runKernels(t testing.TB, kernels []Kernel, q *query.Query, views []view, split func(fresh func() State, views []view) State) *sink {
	t.Helper()
	out := newSink()
	facts := &Facts{Runs: boundsOf(q, views)}
	final := make([]State, len(kernels))
	again := make([]bool, len(kernels))
	for i := range again {
		again[i] = true
	}
	for pass := 0; ; pass++ {
		next := &Facts{Pass: pass + 1, Runs: append([]RunFacts{}, facts.Runs...), Private: map[string][]byte{}}
		more := false
		for i, k := range kernels {
			if !again[i] {
				continue
			}
			final[i] = split(func() State { return k.New(q, facts) }, views)
			again[i] = final[i].Next(next)
			more = more || again[i]
		}
		if !more {
			break
		}
		if pass > 6 {
			t.Fatal("no end of passes")
		}
		facts = next
	}
	for _, s := range final {
		s.Finish(out)
	}
	return out
}

// boundsOf returns the interval of q as every clock of every run has it: From and
// To are stamps on all of them.
func boundsOf(q *query.Query, views []view) []RunFacts {
	if !q.Timed() {
		return nil
	}
	var list []RunFacts
	for _, v := range views {
		for int(v.run) >= len(list) {
			list = append(list, RunFacts{})
		}
		f := &list[v.run]
		for _, name := range append(v.b.Dicts(trace.ClockCol).Values, v.b.Run.Clock.String()) {
			if c, ok := trace.ParseClock(name); ok {
				f.Bounds = append(f.Bounds, Bound{Axis(c), q.From.NS, q.To.NS})
			}
		}
	}
	return list
}

// whole folds everything into one state.
func whole(fresh func() State, views []view) State {
	s := fresh()
	for _, v := range views {
		s.Update(v.of())
	}
	return s
}

// cellOf runs rows as one batch without a query and returns the run's cell.
func cellOf(t testing.TB, def *metric.Definition, rows ...req) *report.Cell {
	t.Helper()
	return runOf(t, def, &query.Query{}, wallMeta(), rows...)
}

func runOf(t testing.TB, def *metric.Definition, q *query.Query, meta *trace.RunMeta, rows ...req) *report.Cell {
	t.Helper()
	return run(t, def, q, []view{{b: build(meta, rows...)}}, whole).Cell(0, -1, NoWindow)
}
