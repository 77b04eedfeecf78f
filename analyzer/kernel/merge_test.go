package kernel

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"servescope/analyzer/metric"
	"servescope/analyzer/query"
	"servescope/analyzer/report"
	"servescope/analyzer/trace"
)

// randomRequest is a request of any kind: every status, every stamp missing now
// and then, token counts that do not fit the chunks.
func randomRequest(r *rand.Rand) req {
	q := of(trace.Status([]int{0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5}[r.IntN(12)]))
	maybe := func(v int64) int64 {
		if r.IntN(12) == 0 {
			return -1
		}
		return v
	}
	q.send = maybe(r.Int64N(20_000))
	q.first = q.send + r.Int64N(500)
	chunks := 1 + r.IntN(30)
	q.gaps = []int64{}
	at := q.first
	for range chunks - 1 {
		gap := r.Int64N(60)
		if r.IntN(50) == 0 {
			gap = r.Int64N(2500)
		}
		q.gaps = append(q.gaps, gap)
		at += gap
	}
	q.last = at
	q.finish = maybe(at + r.Int64N(80))
	q.n = int64(chunks)
	switch r.IntN(4) {
	case 0:
		q.tokens = make([]int64, chunks)
		q.n = 0
		for i := range q.tokens {
			q.tokens[i] = 1 + r.Int64N(4)
			q.n += q.tokens[i]
		}
		q.accepted = r.Int64N(2)
	case 1:
		q.n += r.Int64N(9)
	}
	if r.IntN(8) == 0 {
		q.source = trace.FromRequested
		q.max = q.n
	}
	q.n, q.client = maybe(q.n), maybe(q.n+r.Int64N(3))
	q.prompt, q.cached = maybe(r.Int64N(4000)), maybe(r.Int64N(100))
	q.event = maybe(q.first - r.Int64N(3)*20)
	if r.IntN(3) == 0 {
		q.answer, q.kind = q.first, int64(r.IntN(2))
		if len(q.gaps) > 2 {
			q.answer += q.gaps[0] + q.gaps[1]
		}
	}
	q.scheduled = maybe(q.send - r.Int64N(100))
	q.replica = []string{"", "a", "b"}[r.IntN(3)]
	q.admitted, q.stall, q.preempted = maybe(q.send+r.Int64N(300)), maybe(r.Int64N(2)*9), maybe(r.Int64N(2))
	q.stream = []int64{1, 1, 1, 1, -1, 0}[r.IntN(6)]
	switch r.IntN(15) {
	case 0:
		q.gaps, q.tokens = nil, nil
	case 1:
		q.first, q.gaps, q.tokens = -1, nil, nil
	case 2:
		q.last = -1
	case 3:
		q.clock = "request"
	}
	if q.status == trace.Empty {
		q.first, q.answer, q.last, q.n, q.gaps, q.tokens = -1, -1, -1, 0, nil, nil
	}
	return q
}

// randomViews are batches of requests in groups; group -1 is removed. Rows of a
// run are on one clock.
func randomViews(r *rand.Rand, rows int) []view {
	metas := []*trace.RunMeta{
		{Key: 0, Clock: trace.Clock{Kind: trace.Wall}, Duration: 25e9, HasDuration: true},
		{Key: 1, Clock: trace.Clock{Kind: trace.RunClock}},
		{Key: 2, Clock: trace.Clock{Kind: trace.Monotonic, Source: "h"}, Config: []trace.Pair{{Key: "accept_length", Value: "2.5"}}},
	}
	var views []view
	for rows > 0 {
		n := min(1+r.IntN(12), rows)
		rows -= n
		run := r.IntN(3)
		var list []req
		v := view{run: int32(run)}
		for range n {
			q := randomRequest(r)
			if run == 2 && r.IntN(2) == 0 {
				q.side = trace.Server
			}
			list = append(list, q)
			v.group = append(v.group, int32(r.IntN(4)-1))
		}
		v.b = build(metas[run], list...).Clone(true)
		views = append(views, v)
	}
	return views
}

// shuffled folds views into several states in random order, sends some through
// their encoding, and merges them in a random tree.
func shuffled(t testing.TB, r *rand.Rand) func(fresh func() State, views []view) State {
	return func(fresh func() State, views []view) State {
		views = slices.Clone(views)
		r.Shuffle(len(views), func(i, j int) { views[i], views[j] = views[j], views[i] })
		states := make([]State, 1+r.IntN(5))
		for i := range states {
			states[i] = fresh()
		}
		for _, v := range views {
			state := states[r.IntN(len(states))]
			state.Update(v.of())
			settle(r, state)
		}
		for len(states) > 1 {
			i, j := r.IntN(len(states)), r.IntN(len(states))
			if i == j {
				continue
			}
			if r.IntN(2) == 0 {
				loaded := fresh()
				if err := loaded.LoadState(states[j].AppendState(nil)); err != nil {
					t.Fatalf("%T: %v", loaded, err)
				}
				states[j] = loaded
			}
			if err := states[i].Merge(states[j]); err != nil {
				t.Fatal(err)
			}
			settle(r, states[i])
			states = slices.Delete(states, j, j+1)
		}
		return states[0]
	}
}

// settle settles a state now and then, if it can.
func settle(r *rand.Rand, s State) {
	if s, ok := s.(Settler); ok && r.IntN(4) == 0 {
		s.Settle()
	}
}

func queries() map[string]*query.Query {
	slo := []query.Limit{{Metric: "ttft", Max: 200e6}, {Metric: "tpot", Max: 30e6}, {Metric: "e2e", Max: 1200e6}}
	return map[string]*query.Query{
		"plain":  {SLO: slo},
		"groups": {By: []string{"tenant"}, SLO: slo[:1], Ranks: []float64{0.5, 0.99}},
		"window": {Window: 1500e6, SLO: slo},
		"both":   {Window: 4e9, By: []string{"tenant"}, From: &query.Instant{NS: 2e9, Relative: true}, To: &query.Instant{NS: 15e9, Relative: true}},
		"tiny":   {Window: 1e6},
	}
}

// TestAnyCutGivesTheSame is the property that workers, browsers and clusters
// rest on: however rows are cut and states are merged, the report is the same.
func TestAnyCutGivesTheSame(t *testing.T) {
	defer func(n int) { maxCells = n }(maxCells)
	maxCells = 60 // so that the tiny windows run over
	for name, q := range queries() {
		for _, def := range metric.Definitions() {
			t.Run(name+"/"+def.Name, func(t *testing.T) {
				r := rand.New(rand.NewPCG(42, uint64(len(name)+len(def.Name))))
				views := randomViews(r, 250)
				want := run(t, def, q, views, whole).text(t)
				for round := range 4 {
					if got := run(t, def, q, views, shuffled(t, r)).text(t); got != want {
						t.Fatalf("round %d: %s", round, firstDifference(got, want))
					}
				}
			})
		}
	}
}

// TestTinyWindowsKeepTheRun: more windows than are kept cost windows, nothing
// else, and what they cost is counted.
func TestTinyWindowsKeepTheRun(t *testing.T) {
	defer func(n int) { maxCells = n }(maxCells)
	maxCells = 40
	r := rand.New(rand.NewPCG(3, 33))
	views := randomViews(r, 200)
	q := query.Query{By: []string{"tenant"}, SLO: queries()["plain"].SLO}
	plain := run(t, metric.Default, &q, views, whole)
	q.Window = 1e6
	tiny := run(t, metric.Default, &q, views, whole)
	windows := 0
	for key, c := range tiny.cells {
		if key[2] != NoWindow {
			windows++
			continue
		}
		got := &sink{cells: map[[3]int64]*report.Cell{key: c}}
		want := &sink{cells: map[[3]int64]*report.Cell{key: plain.cells[key]}}
		if g, w := got.text(t), want.text(t); g != w {
			t.Errorf("cell %v: %s", key, firstDifference(g, w))
		}
	}
	if windows == 0 {
		t.Error("there are no windows")
	}
	k := requests{metric.Default}
	s := whole(func() State { return k.New(&q, &Facts{Pass: 1}) }, views).(*requestsState)
	lost, placed := s.Overflow(), int64(0)
	for p, c := range s.cells.byPlace {
		if p.window != NoWindow {
			placed += c.weight()
		}
	}
	if all := s.cells; lost == 0 || all.windows != 40 || placed == 0 {
		t.Errorf("%d requests in %d windows, %d lost", placed, all.windows, lost)
	}
}

// TestNothingVanishes: in the whole run and in every group, values and
// exclusions add up to the requests, whatever these lack; windows hold the
// requests of the run; verdicts add up.
func TestNothingVanishes(t *testing.T) {
	r := rand.New(rand.NewPCG(77, 1))
	for round := range 12 {
		var rows []req
		v := view{}
		for range 150 {
			rows = append(rows, randomRequest(r))
			v.group = append(v.group, int32(r.IntN(4)-1))
		}
		v.b = build(wallMeta(), rows...)
		def := metric.Definitions()[round%len(metric.Definitions())]
		q := *queries()["window"]
		q.By = []string{"tenant"}
		out := run(t, def, &q, []view{v}, whole)
		var windows report.Requests
		unplaced := int64(0)
		for i, q := range rows {
			if q.clock != "" && v.group[i] >= 0 || v.group[i] >= 0 && max(q.send, q.event, q.first, q.last, q.finish) == -1 {
				unplaced++
			}
		}
		for key, c := range out.cells {
			if key[2] != NoWindow {
				if key[1] < 0 {
					windows.Total += c.Requests.Total
				}
				continue
			}
			for _, m := range metric.Distributions() {
				if m.Name == "engine_step" { // it is of steps
					continue
				}
				got := c.Metrics[m.Name]
				n := got.N
				if m.Kind == metric.Pooled {
					n = got.Requests
				}
				for _, k := range got.Excluded {
					n += k
				}
				if other := m.Name == "ttft_server" || m.Name == "ttft_engine"; !other && n != c.Requests.Total {
					t.Errorf("round %d, %s: %d values, %v left out, of %d requests", round, m.Name, got.N, got.Excluded, c.Requests.Total)
				}
				if (got.N == 0) != (got.Reason != "") || got.N > 0 && len(got.Quantiles) != 5 {
					t.Errorf("%s: n %d, reason %q, quantiles %v", m.Name, got.N, got.Reason, got.Quantiles)
				}
			}
			if g := c.Goodput; g.Good+g.Missed+g.Unknown != g.Denominator || g.Denominator > c.Requests.Total {
				t.Errorf("goodput %+v of %d requests", g, c.Requests.Total)
			}
			n := c.Requests
			if n.OK+n.Failed+n.Aborted+n.Empty+n.Open+n.HeadMissing != n.Total {
				t.Errorf("statuses do not add up: %+v", n)
			}
		}
		all := out.Cell(0, -1, NoWindow).Requests
		if windows.Total+unplaced != all.Total || all.Filtered+all.Total != 150 {
			t.Errorf("windows hold %d and %d have no time, of %d; %d filtered", windows.Total, unplaced, all.Total, all.Filtered)
		}
	}
}

func firstDifference(a, b string) string {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	cut := func(s string) string { return s[max(0, min(i, len(s))-300):min(len(s), i+100)] }
	return fmt.Sprintf("at byte %d:\n%s\n\n%s", i, cut(a), cut(b))
}

// TestLoadStateRejects feeds altered encodings: an error, never a panic.
func TestLoadStateRejects(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	views := randomViews(r, 60)
	q := queries()["both"]
	q.From, q.To = nil, nil
	for _, k := range All(metric.Default) {
		s := whole(func() State { return k.New(q, &Facts{}) }, views)
		code := s.AppendState(nil)
		for n := 0; n < len(code); n += 1 + len(code)/300 {
			if k.New(q, &Facts{}).LoadState(code[:n]) == nil {
				t.Errorf("%s: the first %d of %d bytes were accepted", k.Name(), n, len(code))
			}
		}
		for range 1000 {
			bad := slices.Clone(code)
			for range 1 + r.IntN(3) {
				bad[r.IntN(len(bad))] = byte(r.Uint32())
			}
			loaded := k.New(q, &Facts{})
			if loaded.LoadState(bad) == nil {
				loaded.Finish(newSink())
			}
		}
		if err := s.Merge(nil); err == nil {
			t.Errorf("%s merges with anything", k.Name())
		}
	}
}
