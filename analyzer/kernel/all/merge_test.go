package all

import (
	"math/rand/v2"
	"slices"
	"testing"

	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/cell"
	"servescope/analyzer/kernel/kerneltest"
	"servescope/analyzer/metric"
	"servescope/analyzer/query"
	"servescope/analyzer/report"
)

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
	defer func(n int) { cell.MaxCells = n }(cell.MaxCells)
	cell.MaxCells = 60 // so that the tiny windows run over
	for name, q := range queries() {
		for _, def := range metric.Definitions() {
			t.Run(name+"/"+def.Name, func(t *testing.T) {
				r := rand.New(rand.NewPCG(42, uint64(len(name)+len(def.Name))))
				views := kerneltest.RandomViews(r, 250)
				want := run(t, def, q, views, kerneltest.Whole).Text(t)
				rounds := 1 // definitions differ in what they measure, not in how states merge
				if def == metric.Default {
					rounds = 4
				}
				for round := range rounds {
					if got := run(t, def, q, views, kerneltest.Shuffled(t, r)).Text(t); got != want {
						t.Fatalf("round %d: %s", round, kerneltest.FirstDifference(got, want))
					}
				}
			})
		}
	}
}

// TestTinyWindowsKeepTheRun: more windows than are kept cost windows, nothing
// else, and what they cost is counted.
func TestTinyWindowsKeepTheRun(t *testing.T) {
	defer func(n int) { cell.MaxCells = n }(cell.MaxCells)
	cell.MaxCells = 40
	r := rand.New(rand.NewPCG(3, 33))
	views := kerneltest.RandomViews(r, 200)
	q := query.Query{By: []string{"tenant"}, SLO: queries()["plain"].SLO}
	plain := run(t, metric.Default, &q, views, kerneltest.Whole)
	q.Window = 1e6
	tiny := run(t, metric.Default, &q, views, kerneltest.Whole)
	windows := 0
	for key, c := range tiny.Cells {
		if key[2] != kernel.NoWindow {
			windows++
			continue
		}
		got := &kerneltest.Sink{Cells: map[[3]int64]*report.Cell{key: c}}
		want := &kerneltest.Sink{Cells: map[[3]int64]*report.Cell{key: plain.Cells[key]}}
		if g, w := got.Text(t), want.Text(t); g != w {
			t.Errorf("cell %v: %s", key, kerneltest.FirstDifference(g, w))
		}
	}
	if windows == 0 {
		t.Error("there are no windows")
	}
}

// TestNothingVanishes: in the whole run and in every group, values and
// exclusions add up to the requests, whatever these lack; windows hold the
// requests of the run; verdicts add up.
func TestNothingVanishes(t *testing.T) {
	r := rand.New(rand.NewPCG(77, 1))
	for round := range 12 {
		var rows []kerneltest.Request
		v := kerneltest.View{}
		for range 150 {
			rows = append(rows, kerneltest.RandomRequest(r))
			v.Group = append(v.Group, int32(r.IntN(4)-1))
		}
		v.B = kerneltest.Build(kerneltest.WallMeta(), rows...)
		def := metric.Definitions()[round%len(metric.Definitions())]
		q := *queries()["window"]
		q.By = []string{"tenant"}
		out := run(t, def, &q, []kerneltest.View{v}, kerneltest.Whole)
		var windows report.Requests
		unplaced := int64(0)
		for i, q := range rows {
			if q.Clock != "" && v.Group[i] >= 0 || v.Group[i] >= 0 && max(q.Send, q.Event, q.First, q.Last, q.Finish) == -1 {
				unplaced++
			}
		}
		for key, c := range out.Cells {
			if key[2] != kernel.NoWindow {
				if key[1] < 0 {
					windows.Total += c.Requests.Total
				}
				continue
			}
			for _, m := range metric.Distributions() {
				if m.Name == "engine_step" { // it counts steps, not requests
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
		all := out.Cell(0, -1, kernel.NoWindow).Requests
		if windows.Total+unplaced != all.Total || all.Filtered+all.Total != 150 {
			t.Errorf("windows hold %d and %d have no time, of %d; %d filtered", windows.Total, unplaced, all.Total, all.Filtered)
		}
	}
}

// TestLoadStateRejects feeds altered encodings: an error, never a panic.
func TestLoadStateRejects(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	views := kerneltest.RandomViews(r, 60)
	q := queries()["both"]
	q.From, q.To = nil, nil
	for _, k := range All(metric.Default) {
		s := kerneltest.Whole(func() kernel.State { return k.New(q, &kernel.Facts{}) }, views)
		code := s.AppendState(nil)
		for n := 0; n < len(code); n += 1 + len(code)/300 {
			if k.New(q, &kernel.Facts{}).LoadState(code[:n]) == nil {
				t.Errorf("%s: the first %d of %d bytes were accepted", k.Name(), n, len(code))
			}
		}
		for range 1000 {
			bad := slices.Clone(code)
			for range 1 + r.IntN(3) {
				bad[r.IntN(len(bad))] = byte(r.Uint32())
			}
			loaded := k.New(q, &kernel.Facts{})
			if loaded.LoadState(bad) == nil {
				loaded.Finish(kerneltest.NewSink())
			}
		}
		if err := s.Merge(nil); err == nil {
			t.Errorf("%s merges with anything", k.Name())
		}
	}
}
