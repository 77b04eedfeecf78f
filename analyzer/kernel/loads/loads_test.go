package loads

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/cell"
	"servescope/analyzer/kernel/kerneltest"
	"servescope/analyzer/query"
	"servescope/analyzer/report"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
)

// loadRow is a row of the steps table: times in ms, -1 is null.
type loadRow struct {
	replica  string
	tp       int64
	t        int64
	kind     trace.StepKind
	quantity trace.Quantity
	length   int64 // -1: null, and the quantity too
	running  int64
	waiting  int64
	tps      float64
	group    int32
}

// line is a line of statistics.
func line(replica string, t, running int64) loadRow {
	return loadRow{replica: replica, t: t, kind: trace.StepWindow, length: -1, running: running, waiting: 0, tps: -1}
}

// step is a single step.
func step(kind trace.StepKind, quantity trace.Quantity, t, length, g int64) loadRow {
	return loadRow{t: t, kind: kind, quantity: quantity, length: length, running: g, waiting: -1, tps: -1}
}

func loadView(meta *trace.RunMeta, rows ...loadRow) *kernel.View {
	b := trace.NewBuilder(trace.Steps)
	v := &kernel.View{}
	for _, r := range rows {
		v.Group = append(v.Group, r.group)
		if r.replica != "" {
			b.Dict(trace.StepReplica, []byte(r.replica))
		}
		b.Int(trace.StepTP, r.tp)
		b.Int(trace.StepT, r.t*kerneltest.MS)
		b.Code(trace.StepKindCol, int32(r.kind))
		if r.length >= 0 {
			b.Code(trace.StepQuantity, int32(r.quantity))
			b.Int(trace.StepDuration, r.length*kerneltest.MS)
		}
		if r.running >= 0 {
			b.Int(trace.StepRunning, r.running)
		}
		if r.waiting >= 0 {
			b.Int(trace.StepWaiting, r.waiting)
		}
		if r.tps >= 0 {
			b.Float(trace.StepGenerationTPS, r.tps)
		}
		b.EndRow()
	}
	v.Batch = b.Take(meta, "f")
	return v
}

func vllmMeta(config ...trace.Pair) *trace.RunMeta {
	return &trace.RunMeta{Side: trace.Server, Engine: "vllm", Config: config}
}

// beside folds the views and puts what they say beside a run with W = [from, to)
// ms, TPOT 10 ms and 400 tokens per second.
func beside(q *query.Query, from, to int64, views ...*kernel.View) (*kerneltest.Sink, kernel.State) {
	out := kerneltest.NewSink()
	c := out.Cell(0, -1, kernel.NoWindow)
	c.Requests.Total = 1
	c.Throughput.From, c.Throughput.To = report.KnownInt(from*kerneltest.MS, unit.Nanosecond), report.KnownInt(to*kerneltest.MS, unit.Nanosecond)
	cell.SetValue(c, "tpot_weighted", report.Known(10e6, unit.NSPerToken))
	cell.SetValue(c, "tps_decode", report.Known(400, unit.TokenRate))
	s := New().New(q, &kernel.Facts{Runs: []kernel.RunFacts{{HasTimes: true, Clock: "wall"}}})
	for _, v := range views {
		s.Update(v)
	}
	s.Finish(out)
	return out, s
}

// TestLoggedBatch: lines every 10 s say 2, 4 and 6, then nothing for 40 s, 8 and
// 0. Over [5, 65) s there are 2 for 5 s, 4 for 10 s and 8 for 5 s: 90 / 20 s.
func TestLoggedBatch(t *testing.T) {
	lines := []loadRow{line("0", 0, 2), line("0", 10_000, 4), line("0", 20_000, 6), line("0", 60_000, 8), line("0", 70_000, 0)}
	out, _ := beside(&query.Query{}, 5000, 65_000, loadView(vllmMeta(), lines...))
	c := out.Cell(0, -1, kernel.NoWindow)
	kerneltest.Value(t, c, "batch_logged", 4.5)
	kerneltest.Value(t, c, "cross_ratio", 4.5/0.010/400)
	kerneltest.Saying(t, c, "over the 33.33 % of the time that their lines cover", "batch_logged", "cross_ratio")
	kerneltest.Saying(t, c, "engines log batch_running", "batch_logged")
	kerneltest.NoRate(t, c, "decode_capacity", "not_recorded")
	e := c.Throughput.Engines
	if len(e) != 1 || e[0].Batch.V != 4.5 || e[0].Max.V != 8 || e[0].Lines != 3 || e[0].Interval.Int != 10e9 || e[0].Gauge != "batch_running" {
		t.Errorf("%+v", e)
	}
	kerneltest.Near(t, "coverage", e[0].Coverage.V, 1.0/3)

	// A second engine adds its own mean, over its own covered time.
	out, _ = beside(&query.Query{}, 5000, 65_000, loadView(vllmMeta(), append(lines, line("1", 0, 3), line("1", 30_000, 1), line("1", 60_000, 3), line("1", 90_000, 0))...))
	kerneltest.Value(t, out.Cell(0, -1, kernel.NoWindow), "batch_logged", 4.5+(25*3+30*1+5*3)/60.0)

	// Lines of all engines together say nothing beside those of each.
	out, _ = beside(&query.Query{}, 5000, 65_000, loadView(vllmMeta(), append(lines, line("all", 0, 100), line("all", 70_000, 100))...))
	kerneltest.Value(t, out.Cell(0, -1, kernel.NoWindow), "batch_logged", 4.5)

	// The first rank speaks for its engine.
	second := slices.Clone(lines)
	for i := range second {
		second[i].tp, second[i].running = 1, 1000
	}
	out, _ = beside(&query.Query{}, 5000, 65_000, loadView(vllmMeta(), append(second, lines...)...))
	kerneltest.Value(t, out.Cell(0, -1, kernel.NoWindow), "batch_logged", 4.5)

	// Under a filter that steps know nothing of, B is of other requests.
	filter, _ := query.ParseFilter("prompt_tokens > 5")
	out, _ = beside(&query.Query{Filter: filter}, 5000, 65_000, loadView(vllmMeta(), lines...))
	kerneltest.Value(t, out.Cell(0, -1, kernel.NoWindow), "batch_logged", 4.5)
	kerneltest.NoRate(t, out.Cell(0, -1, kernel.NoWindow), "cross_ratio", "filtered")

	// Without requests it is over the time of the log: [0, 70) s, 30 s of it covered.
	alone := kerneltest.NewSink()
	s := New().New(&query.Query{}, &kernel.Facts{Runs: []kernel.RunFacts{{HasTimes: true, Clock: "wall"}}})
	s.Update(loadView(vllmMeta(), lines...))
	s.Finish(alone)
	kerneltest.Value(t, alone.Cell(0, -1, kernel.NoWindow), "batch_logged", (10*2+10*4+10*8)/30.0)
	kerneltest.NoRate(t, alone.Cell(0, -1, kernel.NoWindow), "cross_ratio", "no_requests")
}

// TestP48FewerEnginesThanExist: two of sixteen engines log.
func TestP48FewerEnginesThanExist(t *testing.T) {
	meta := vllmMeta(trace.Pair{Key: "data_parallel_size", Value: "16"})
	out, _ := beside(&query.Query{}, 0, 20_000, loadView(meta, line("0", 0, 2), line("0", 10_000, 4), line("0", 20_000, 1), line("3", 0, 1), line("3", 20_000, 1)))
	c := out.Cell(0, -1, kernel.NoWindow)
	kerneltest.NoRate(t, c, "batch_logged", "coverage")
	kerneltest.NoRate(t, c, "cross_ratio", "coverage")
	if e := c.Throughput.Engines; len(e) != 2 || e[0].Batch.V != 3 || e[1].Batch.V != 1 {
		t.Errorf("%+v", e)
	}
}

// TestDecodeCapacity: decode-only steps of 1, 4 and 8 sequences, of which the last
// are too few; steps of other kinds tell nothing.
func TestDecodeCapacity(t *testing.T) {
	var rows []loadRow
	at := int64(0)
	add := func(n int, kind trace.StepKind, length, g int64) {
		for range n {
			at += length
			rows = append(rows, step(kind, trace.Interval, at, length, g))
		}
	}
	add(30, trace.StepDecode, 10, 1) // 100 tok/s
	add(15, trace.StepDecode, 10, 4)
	add(15, trace.StepDecode, 8, 4)   // 9 ms on average: 444 tok/s
	add(29, trace.StepDecode, 10, 8)  // 800 tok/s, of too few
	add(50, trace.StepVerify, 10, 50) // drafts
	add(50, trace.StepMixed, 10, 50)
	out, _ := beside(&query.Query{}, 0, at, loadView(vllmMeta(), rows...))
	c := out.Cell(0, -1, kernel.NoWindow)
	kerneltest.Value(t, c, "decode_capacity", 4/0.009)
	kerneltest.Value(t, c, "decode_capacity_unused", 1-400/(4/0.009))
	// Intervals tile time, so that the batch has no gaps.
	kerneltest.Value(t, c, "batch_logged", float64(300*1+270*4+290*8+1000*50)/float64(at))
	if e := c.Throughput.Engines[0]; e.Best.Int != 4 || e.Quantity != "interval" || e.Coverage.V != 1 || e.Gauge != "batch_decode_active" {
		t.Errorf("%+v", e)
	}

	out, _ = beside(&query.Query{}, 0, at, loadView(vllmMeta(), rows[30:]...))
	kerneltest.Value(t, out.Cell(0, -1, kernel.NoWindow), "decode_capacity_unused", 1-400/(4/0.009))
	out, _ = beside(&query.Query{}, 0, at, loadView(vllmMeta(), rows[60:]...))
	kerneltest.NoRate(t, out.Cell(0, -1, kernel.NoWindow), "decode_capacity", "few_steps")
	kerneltest.NoRate(t, out.Cell(0, -1, kernel.NoWindow), "decode_capacity_unused", "few_steps")

	// Two replicas decode and one of them tells of its steps.
	r := kerneltest.NewSink()
	cell.SetValue(r.Cell(0, -1, kernel.NoWindow), "replicas", report.Known(2, unit.None))
	s := New().New(&query.Query{}, &kernel.Facts{Runs: []kernel.RunFacts{{HasTimes: true, Clock: "wall"}}})
	s.Update(loadView(vllmMeta(), rows...))
	s.Finish(r)
	kerneltest.NoRate(t, r.Cell(0, -1, kernel.NoWindow), "decode_capacity", "coverage")

	// Elapsed times stand in for intervals, with a word of warning.
	for i := range rows {
		rows[i].quantity = trace.Elapsed
	}
	out, _ = beside(&query.Query{}, 0, at, loadView(vllmMeta(), rows...))
	kerneltest.Value(t, out.Cell(0, -1, kernel.NoWindow), "decode_capacity", 4/0.009)
	kerneltest.Saying(t, out.Cell(0, -1, kernel.NoWindow), "the capacity is less", "decode_capacity", "decode_capacity_unused")
}

// randomLines are lines of up to three engines at random times, sorted or not.
func randomLines(r *rand.Rand) []loadRow {
	var rows []loadRow
	for e := range 1 + r.IntN(3) {
		at := r.Int64N(300)
		for range 2 + r.IntN(60) {
			at += []int64{0, 50, 50, 50, 60, 40, 130, 400}[r.IntN(8)]
			l := line(fmt.Sprint(e), at, r.Int64N(30))
			l.waiting, l.tps, l.group = r.Int64N(2), float64(r.IntN(5000)), int32(e%2)
			if r.IntN(9) == 0 {
				l.running = -1
			}
			rows = append(rows, l)
		}
	}
	r.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	return rows
}

// plainBatch computes the batch of each engine over [from, to) ms, millisecond by
// millisecond: the value of the last line, unless the next is too far away.
func plainBatch(rows []loadRow, from, to int64) (batch float64, known bool) {
	byEngine := map[string]map[int64][]int64{}
	for _, l := range rows {
		if l.running < 0 {
			continue
		}
		if byEngine[l.replica] == nil {
			byEngine[l.replica] = map[int64][]int64{}
		}
		byEngine[l.replica][l.t] = append(byEngine[l.replica][l.t], l.running)
	}
	for _, at := range byEngine {
		stamps := slices.Sorted(maps.Keys(at))
		var gaps []int64
		for i := 1; i < len(stamps); i++ {
			gaps = append(gaps, stamps[i]-stamps[i-1])
		}
		slices.Sort(gaps)
		area, covered := 0.0, 0.0
		for now := from; now < to; now++ {
			i, found := slices.BinarySearch(stamps, now)
			if !found {
				i--
			}
			if i < 0 || i+1 >= len(stamps) || float64(stamps[i+1]-stamps[i]) > 2.5*float64(gaps[len(gaps)/2]) {
				continue
			}
			sum := 0.0
			for _, v := range at[stamps[i]] {
				sum += float64(v)
			}
			area += sum / float64(len(at[stamps[i]]))
			covered++
		}
		if covered == 0 {
			return 0, false
		}
		batch += area / covered
	}
	return batch, len(byEngine) > 0
}

// TestLoggedBatchAgainstPlainArithmetic compares the whole run, its groups and its
// windows.
func TestLoggedBatchAgainstPlainArithmetic(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 48))
	for round := range 60 {
		rows := randomLines(r)
		from := r.Int64N(500)
		to := from + 1 + r.Int64N(2500)
		window := 100 + r.Int64N(900)
		out, _ := beside(&query.Query{Window: window * kerneltest.MS, By: []string{"replica"}}, from, to, loadView(vllmMeta(), rows...))
		for key, c := range out.Cells {
			mine := slices.DeleteFunc(slices.Clone(rows), func(l loadRow) bool { return key[1] >= 0 && int64(l.group) != key[1] })
			lo, hi := from, to
			if key[2] != kernel.NoWindow {
				lo, hi = max(lo, key[2]/kerneltest.MS), min(hi, key[2]/kerneltest.MS+window)
			}
			want, known := plainBatch(mine, lo, hi)
			v := c.Throughput.Values["batch_logged"]
			switch where := fmt.Sprint("round ", round, " cell ", key); {
			case v.Known != known:
				t.Errorf("%s: %+v, want %v, known %v", where, v, want, known)
			case known:
				kerneltest.Near(t, where, v.V, want)
			case lo < hi && v.Reason != "coverage":
				t.Errorf("%s: %+v", where, v)
			}
		}
		if t.Failed() {
			t.FailNow()
		}
	}
}

// TestLoadsOfAnyCut: cuts, order, merges and encoding do not change the result.
func TestLoadsOfAnyCut(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	for round := range 20 {
		q := &query.Query{Window: 300 * kerneltest.MS, By: []string{"replica"}}
		rows := randomLines(r)
		for range 200 {
			rows = append(rows, step(trace.StepKind(r.IntN(6)), trace.Quantity(r.IntN(3)), r.Int64N(3000), r.Int64N(20), r.Int64N(3)))
		}
		if round%5 == 4 {
			defer func(n int) { maxPoints = n }(maxPoints)
			maxPoints = 150
		}
		whole, state := beside(q, 200, 2600, loadView(vllmMeta(), rows...))
		want, code := whole.Text(t), state.AppendState(nil)
		if full := maxPoints == 150; full != (whole.Cell(0, -1, kernel.NoWindow).Throughput.Values["batch_logged"].Reason == "too_many") {
			t.Errorf("round %d: %+v", round, whole.Cell(0, -1, kernel.NoWindow).Throughput.Values["batch_logged"])
		}
		facts := &kernel.Facts{Runs: []kernel.RunFacts{{HasTimes: true, Clock: "wall"}}}
		states := []kernel.State{New().New(q, facts), New().New(q, facts), New().New(q, facts)}
		r.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		for len(rows) > 0 {
			n := min(1+r.IntN(40), len(rows))
			states[r.IntN(3)].Update(loadView(vllmMeta(), rows[:n]...))
			rows = rows[n:]
		}
		loaded := New().New(q, facts)
		if err := loaded.LoadState(states[1].AppendState(nil)); err != nil {
			t.Fatal(err)
		}
		for _, o := range []kernel.State{states[2], states[0]} {
			if err := loaded.Merge(o); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(loaded.AppendState(nil), code) {
			t.Errorf("round %d: another state", round)
		}
		got, _ := beside(q, 200, 2600)
		loaded.Finish(got)
		if g := got.Text(t); g != want {
			t.Fatalf("round %d: %s", round, kerneltest.FirstDifference(g, want))
		}
		for n := range code {
			if New().New(q, facts).LoadState(code[:n]) == nil {
				t.Fatalf("the first %d of %d bytes were accepted", n, len(code))
			}
		}
		if err := loaded.Merge(nil); err == nil {
			t.Error("merges with anything")
		}
	}
}
