package steps

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/big"
	"math/rand/v2"
	"testing"

	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/cell"
	"servescope/analyzer/kernel/kerneltest"
	"servescope/analyzer/query"
	"servescope/analyzer/report"
	"servescope/analyzer/trace"
)

// stepRow is a row of the steps table as tests write it; nil is null.
type stepRow struct {
	group    int32
	count    int64 // 0: null
	replica  string
	tp       int64
	clock    string
	t        int64
	kind     trace.StepKind
	quantity trace.Quantity
	duration int64 // -1: null, and the quantity too
	running  int64 // -1: null
	kv, gen  float64
	idle     bool
	classes  [8]int64 // only with a duration
}

func stepView(run int32, rows ...stepRow) *kernel.View {
	b := trace.NewBuilder(trace.Steps)
	var groups []int32
	for _, r := range rows {
		groups = append(groups, r.group)
		if r.count > 0 {
			b.Int(trace.StepCount, r.count)
		}
		if r.replica != "" {
			b.Dict(trace.StepReplica, []byte(r.replica))
		}
		if r.clock != "" {
			b.Dict(trace.StepClock, []byte(r.clock))
		}
		b.Int(trace.StepTP, r.tp)
		b.Int(trace.StepT, r.t)
		b.Int(trace.StepResolution, 1e9)
		b.Code(trace.StepKindCol, int32(r.kind))
		if r.duration >= 0 {
			b.Code(trace.StepQuantity, int32(r.quantity))
			b.Int(trace.StepDuration, r.duration)
			for i, c := range cell.StepClasses {
				b.Int(c, r.classes[i])
			}
		}
		if r.running >= 0 {
			b.Int(trace.StepRunning, r.running)
		}
		b.Float(trace.StepKVUsage, r.kv)
		b.Float(trace.StepGenerationTPS, r.gen)
		b.Bool(trace.StepAfterIdle, r.idle)
		b.EndRow()
	}
	return &kernel.View{Batch: b.Take(&trace.RunMeta{Clock: trace.Clock{Kind: trace.Wall}}, "f"), RunIndex: run, Group: groups}
}

// stepRuns is an output that only has runs.
type stepRuns map[int32]*report.Run

func (o stepRuns) Cell(run, _ int32, _ int64) *report.Cell { return &o[run].Cell }
func (o stepRuns) Run(run int32) *report.Run               { return o[run] }
func (o stepRuns) Idle(int32) kernel.Idle                  { return nil }

func finishSteps(s kernel.State, runs int32) stepRuns {
	out := stepRuns{}
	for i := range runs {
		out[i] = new(report.Run)
	}
	s.Finish(out)
	return out
}

// TestSteps compares with sums worked out by hand.
func TestSteps(t *testing.T) {
	s := New().New(new(query.Query), new(kernel.Facts))
	s.Update(stepView(0,
		stepRow{replica: "0", t: 10e9, kind: trace.StepWindow, duration: -1, running: 3, kv: 0.1, gen: 40.5, idle: true},
		stepRow{replica: "0", t: 20e9, kind: trace.StepWindow, quantity: trace.Mean, duration: 20, running: 4, kv: 0.2, gen: 100},
		stepRow{replica: "0", t: 5e9, kind: trace.StepWindow, quantity: trace.Mean, duration: 40, running: -1, kv: 0.6, gen: 150},
		stepRow{replica: "1", t: 7e9, kind: trace.StepDecode, quantity: trace.Interval, duration: 100, running: 2, classes: [8]int64{50, 5, 10, 0, 20, 3, 2, 10}},
		stepRow{replica: "1", t: 8e9, kind: trace.StepDecode, quantity: trace.Interval, duration: 60, running: 2, classes: [8]int64{60}},
	))
	got := finishSteps(s, 1)[0].Steps
	if len(got) != 2 {
		t.Fatalf("%d series: %+v", len(got), got)
	}
	w, d := got[0], got[1]
	if w.N != 3 || w.AfterIdle != 1 || w.From.Int != 5e9 || w.To.Int != 20e9 || w.Resolution.Int != 1e9 || w.Replica != "0" || w.Rank != "tp0" || w.Quantity != "mean" {
		t.Errorf("%+v", w)
	}
	for _, c := range []struct {
		name      string
		g         report.Gauge
		n         int64
		mean, max float64
	}{
		{"running", w.Running, 2, 3.5, 4}, {"kv", w.KVUsage, 3, 0.3, 0.6}, {"generation", w.GenerationTPS, 2, 125, 150},
		{"duration", w.Duration, 2, 30, 40}, {"interval", d.Duration, 2, 80, 100},
	} {
		if c.g.N != c.n || c.g.Mean.V != c.mean || c.g.Max.V != c.max {
			t.Errorf("%s: %+v, want %d %v %v", c.name, c.g, c.n, c.mean, c.max)
		}
	}
	if w.Waiting.N != 0 || w.Waiting.Mean.Known || w.Total.Known || len(w.Classes) != 8 {
		t.Errorf("%+v", w)
	}
	sum := int64(0)
	for _, v := range d.Classes {
		sum += v.Int
	}
	if d.Total.Int != 160 || sum != 160 || d.Classes["compute"].Int != 110 || d.Classes["launch_wait"].Int != 20 {
		t.Errorf("total %d, classes %d: %+v", d.Total.Int, sum, d.Classes)
	}
	s.Update(stepView(0, stepRow{replica: "1", clock: "monotonic/a", t: 1, kind: trace.StepDecode, quantity: trace.Interval, duration: 1, running: -1}))
	if d := finishSteps(s, 1)[0].Steps[1]; d.From.Known || d.From.Reason != "clock" || d.Total.Int != 161 {
		t.Errorf("stamps of two clocks: %+v", d)
	}
}

// TestStepsHeld: where every row says how long it holds, means are over that
// time; lengths are not.
func TestStepsHeld(t *testing.T) {
	row := func(replica string, quantity trace.Quantity, duration, count, running int64, gen float64) stepRow {
		return stepRow{replica: replica, t: 1, quantity: quantity, kind: trace.StepWindow, duration: duration, count: count, running: running, gen: gen}
	}
	s := New().New(new(query.Query), new(kernel.Facts))
	s.Update(stepView(0,
		row("a", trace.Elapsed, 100, 0, 2, 10), row("a", trace.Elapsed, 300, 0, 6, 20), // (2·100+6·300)/400, (10·100+20·300)/400
		row("b", trace.Mean, 10, 40, 1, 1), row("b", trace.Mean, 20, 10, 4, 4), // 400 and 200 ns: (400+800)/600
		row("c", trace.Mean, 10, 0, 1, 1), row("c", trace.Mean, 20, 10, 4, 4), // of how many steps is the first the mean?
		row("d", trace.Interval, 100, 0, -1, 8), row("d", trace.Interval, 0, 0, 5, 2),
		row("e", trace.Mean, 1<<62, 1<<62, 3, 3),
	))
	got := finishSteps(s, 1)[0].Steps
	for i, want := range []struct {
		running, gen float64
		timed        [2]bool
	}{{5, 17.5, [2]bool{true, true}}, {2, 2, [2]bool{true, true}}, {2.5, 2.5, [2]bool{}}, {5, 5, [2]bool{}}, {3, 3, [2]bool{}}} {
		g := got[i]
		if g.Running.Mean.V != want.running || g.GenerationTPS.Mean.V != want.gen || g.Running.Timed != want.timed[0] || g.GenerationTPS.Timed != want.timed[1] {
			t.Errorf("%s: running %+v, generation %+v, want %+v", g.Replica, g.Running, g.GenerationTPS, want)
		}
	}
	if got[0].Duration.Mean.V != 200 || got[0].Duration.Timed {
		t.Errorf("the mean length is %+v", got[0].Duration)
	}
}

// TestStepsCells: each row is in its run, its group and its window, and in none
// if the query removes it.
func TestStepsCells(t *testing.T) {
	wall := []kernel.Bound{{Clock: "wall", From: 10, To: 40}}
	s := New().New(&query.Query{By: []string{"model"}, Window: 20, From: new(query.Instant)}, &kernel.Facts{Runs: []kernel.RunFacts{{Bounds: wall}}})
	s.Update(stepView(0,
		stepRow{t: 12, group: 0, running: 1, duration: -1}, stepRow{t: 19, group: 1, running: 2, duration: -1}, stepRow{t: 20, group: 1, running: 4, duration: -1},
		stepRow{t: 39, group: 0, running: 8, duration: -1}, stepRow{t: 41, group: -1, running: 16, duration: -1},
	))
	out := kerneltest.NewSink()
	s.Finish(out)
	got := map[[3]int64]int64{}
	for key, c := range out.Cells {
		for _, x := range c.Steps {
			got[key] += int64(x.Running.Mean.V*float64(x.Running.N) + 0.5)
		}
	}
	const all = kernel.NoWindow
	want := map[[3]int64]int64{{0, -1, all}: 15, {0, 0, all}: 9, {0, 1, all}: 6, {0, -1, 0}: 3, {0, -1, 20}: 12,
		{0, 0, 0}: 1, {0, 1, 0}: 2, {0, 1, 20}: 4, {0, 0, 20}: 8}
	if !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestStepsOrder: the order and the cuts of updates, merges and encodings do not
// matter, and sums are exact beyond 64 bits.
func TestStepsOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var rows []stepRow
	exact := new(big.Int)
	for range 400 {
		row := stepRow{replica: []string{"", "a", "b"}[r.IntN(3)], tp: r.Int64N(2), clock: []string{"", "monotonic/x"}[r.IntN(20)/19],
			t: r.Int64() - r.Int64(), kind: trace.StepKind(r.IntN(6)), quantity: trace.Quantity(r.IntN(3)), duration: r.Int64() - 1, count: r.Int64N(3),
			running: r.Int64N(50) - 1, kv: r.Float64(), gen: 1e4 * r.Float64(), idle: r.IntN(5) == 0}
		for i := range row.classes {
			row.classes[i] = r.Int64() - r.Int64()
		}
		rows = append(rows, row)
		exact.Add(exact, big.NewInt(row.t))
	}
	var want []byte
	for round := range 20 {
		r.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		states := []kernel.State{New().New(new(query.Query), new(kernel.Facts)), New().New(new(query.Query), new(kernel.Facts)), New().New(new(query.Query), new(kernel.Facts))}
		for rest := rows; len(rest) > 0; {
			n := min(len(rest), 1+r.IntN(50))
			states[r.IntN(3)].Update(stepView(1, rest[:n]...))
			rest = rest[n:]
		}
		loaded := New().New(new(query.Query), new(kernel.Facts))
		if err := loaded.LoadState(states[2].AppendState(nil)); err != nil {
			t.Fatal(err)
		}
		for _, o := range []kernel.State{states[1], loaded} {
			if err := states[0].Merge(o); err != nil {
				t.Fatal(err)
			}
		}
		code := states[0].AppendState(nil)
		if round == 0 {
			want = code
			sum := new(big.Int)
			for _, x := range states[0].(*state).series {
				part := new(big.Int).Lsh(big.NewInt(x.t.Hi), 64)
				sum.Add(sum, part.Add(part, new(big.Int).SetUint64(x.t.Lo)))
			}
			if sum.Cmp(exact) != 0 {
				t.Errorf("the stamps add up to %s, want %s", sum, exact)
			}
		}
		if !bytes.Equal(code, want) {
			t.Fatal("the order matters")
		}
	}
	if err := New().New(new(query.Query), new(kernel.Facts)).LoadState(want[:len(want)-1]); err == nil {
		t.Error("a cut encoding was loaded")
	}
}

// TestStepsCapped: more series than a report holds are counted, and which are
// kept depends on no order.
func TestStepsCapped(t *testing.T) {
	var rows []stepRow
	const extra = cell.MaxSeries + 3000
	for i := range int64(cell.MaxSeries + extra) {
		rows = append(rows, stepRow{tp: i, t: i, duration: -1, running: 1})
	}
	var want string
	for round := range 3 {
		r := rand.New(rand.NewPCG(uint64(round), 9))
		r.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		s := New().New(new(query.Query), new(kernel.Facts))
		for i := 0; i < len(rows); i += 500 {
			s.Update(stepView(0, rows[i:min(len(rows), i+500)]...))
			if n := len(s.(*state).series); n > 2*cell.MaxSeries+500 {
				t.Fatalf("%d series are held", n)
			}
		}
		run := finishSteps(s, 1)[0]
		kept := int64(0)
		for _, x := range run.Steps {
			kept += x.N
		}
		if len(run.Steps) != cell.MaxSeries || kept+s.(*state).other[0] != int64(len(rows)) {
			t.Fatalf("%d series of %d rows", len(run.Steps), kept)
		}
		text, _ := json.Marshal(run.Steps)
		if round == 0 {
			want = string(text)
		} else if string(text) != want {
			t.Error("the order matters")
		}
	}
}
