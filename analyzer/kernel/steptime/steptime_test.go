package steptime

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/kerneltest"
	"servescope/analyzer/kernel/steps"
	"servescope/analyzer/query"
	"servescope/analyzer/report"
	"servescope/analyzer/trace"
)

// stepTimeView is a batch of steps of one rank: end, duration (-1: null), kind,
// sequences and group of each.
func stepTimeView(tp int64, rows ...[5]int64) *kernel.View {
	b := trace.NewBuilder(trace.Steps)
	var groups []int32
	for i, r := range rows {
		b.Int(trace.StepTP, tp)
		b.Int(trace.StepIndex, int64(i))
		b.Int(trace.StepT, r[0])
		b.Code(trace.StepQuantity, int32(trace.Interval))
		if r[1] >= 0 {
			b.Int(trace.StepDuration, r[1])
			b.Int(trace.StepCompute, r[1]-1)
			b.Int(trace.StepSampling, 0)
			b.Int(trace.StepCommunication, 1)
			b.Int(trace.StepScheduling, 0)
			b.Int(trace.StepRoutingLocal, 1)
		}
		b.Code(trace.StepKindCol, int32(r[2]))
		b.Int(trace.StepRunning, r[3])
		groups = append(groups, int32(r[4]))
		b.EndRow()
	}
	meta := &trace.RunMeta{Clock: trace.Clock{Kind: trace.Wall}, Config: []trace.Pair{{Key: "world_size", Value: "2"}}}
	return &kernel.View{Batch: b.Take(meta, "f"), Group: groups}
}

// linkView is a batch with the collectives of one rank: start, duration.
func linkView(tp int64, rows ...[2]int64) *kernel.View {
	b := trace.NewBuilder(trace.Collectives)
	for i, r := range rows {
		b.Int(trace.CollectiveTP, tp)
		b.Int(trace.CollectiveIndex, int64(i))
		b.Dict(trace.CollectiveName, []byte("nccl"))
		b.Bool(trace.CollectivePaired, false)
		b.Int(trace.CollectiveT, r[0])
		b.Int(trace.CollectiveDuration, r[1])
		b.List(trace.CollectiveExposed, []int64{0, 1})
		b.EndRow()
	}
	return &kernel.View{Batch: b.Take(new(trace.RunMeta), "f")}
}

const decode, prefill = int64(trace.StepDecode), int64(trace.StepPrefill)

// TestStepTimeCells: each cell has the steps of its own, but what their sequences
// have waited for may lie in steps of others.
func TestStepTimeCells(t *testing.T) {
	s := New().New(&query.Query{By: []string{"model"}, Window: 100}, new(kernel.Facts))
	s.Update(stepTimeView(0, [5]int64{10, -1, decode, 2, 0}, [5]int64{60, 50, prefill, 0, -1}, [5]int64{90, 30, decode, 2, 0}, [5]int64{130, 40, decode, 3, 1}, [5]int64{150, 20, decode, 1, -1}))
	out := kerneltest.NewSink()
	s.Finish(out)
	got := map[[3]int64]string{}
	for key, c := range out.Cells {
		for _, d := range c.Decompositions {
			if d.Of == "tpot" && d.By == "" && d.N > 0 {
				got[key] = fmt.Sprint(d.N, " in ", d.Total.V*float64(d.N))
			}
		}
	}
	const all = kernel.NoWindow
	// two of 80 and three of 40; the step of 150 is removed
	want := map[[3]int64]string{{0, -1, all}: "5 in 280", {0, 0, all}: "2 in 160", {0, 1, all}: "3 in 120",
		{0, -1, 0}: "2 in 160", {0, 0, 0}: "2 in 160", {0, -1, 100}: "3 in 120", {0, 1, 100}: "3 in 120"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v\nwant %v", got, want)
	}
	whole, window := out.Cells[[3]int64{0, -1, all}], out.Cells[[3]int64{0, -1, 0}]
	if n, m := len(whole.Decompositions), len(window.Decompositions); n != 3 || m != 2 || whole.Decompositions[2].By != "batch" || window.Decompositions[1].By != "" {
		t.Errorf("%d decompositions of the run, %d of a window", n, m)
	}
}

// TestStepTimeOrder: the order and the cuts of updates, merges and encodings do
// not matter, and what a cut encoding holds is refused.
func TestStepTimeOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	var views []*kernel.View
	for tp := range int64(2) {
		end := int64(0)
		for range 20 {
			end += 10 + r.Int64N(50)
			views = append(views, stepTimeView(tp, [5]int64{end, 10, int64(r.IntN(3)), 1 + r.Int64N(4), r.Int64N(3) - 1}))
		}
		views = append(views, linkView(tp, [2]int64{5, 3 + tp}, [2]int64{end - 4, 2}))
	}
	var code []byte
	var text string
	for round := range 20 {
		r.Shuffle(len(views), func(i, j int) { views[i], views[j] = views[j], views[i] })
		states := make([]kernel.State, 3)
		for i := range states {
			states[i] = New().New(&query.Query{By: []string{"model"}}, new(kernel.Facts))
		}
		for _, v := range views {
			states[r.IntN(3)].Update(v)
		}
		loaded := New().New(&query.Query{By: []string{"model"}}, new(kernel.Facts))
		if err := loaded.LoadState(states[2].AppendState(nil)); err != nil {
			t.Fatal(err)
		}
		for _, o := range []kernel.State{states[1], loaded} {
			if err := states[0].Merge(o); err != nil {
				t.Fatal(err)
			}
		}
		own := states[0].AppendState(nil)
		out := kerneltest.NewSink()
		states[0].Finish(out)
		cells, err := json.Marshal([]*report.Cell{out.Cells[[3]int64{0, -1, kernel.NoWindow}], out.Cells[[3]int64{0, 1, kernel.NoWindow}]})
		if err != nil {
			t.Fatal(err)
		}
		if round == 0 {
			code, text = own, string(cells)
			if states[0].Size() < 40*100 {
				t.Errorf("a size of %d", states[0].Size())
			}
		}
		if !bytes.Equal(own, code) || string(cells) != text {
			t.Fatal("the order matters")
		}
	}
	for n := range code {
		if New().New(new(query.Query), new(kernel.Facts)).LoadState(code[:n]) == nil {
			t.Fatalf("an encoding cut at %d of %d was loaded", n, len(code))
		}
	}
	if err := New().New(new(query.Query), new(kernel.Facts)).Merge(steps.New().New(new(query.Query), new(kernel.Facts))); err == nil {
		t.Error("states of two kernels were merged")
	}
}

// TestStepTimeRows: what a row says becomes a step.
func TestStepTimeRows(t *testing.T) {
	b := trace.NewBuilder(trace.Steps)
	b.Code(trace.StepKindCol, int32(trace.StepWindow)) // a line of statistics: no step
	b.Int(trace.StepRunning, 7)
	b.EndRow()
	for _, kind := range []trace.StepKind{trace.StepVerify, trace.StepPrefill, trace.StepMixed} {
		b.Code(trace.StepQuantity, int32(trace.Elapsed))
		b.Code(trace.StepKindCol, int32(kind))
		b.Int(trace.StepDuration, 5)
		b.Int(trace.StepRunning, 4)
		b.Int(trace.StepContext, 3)
		if kind == trace.StepMixed {
			b.Int(trace.StepAccepted, 2)
		}
		b.EndRow()
	}
	s := New().New(new(query.Query), new(kernel.Facts)).(*state)
	s.Update(&kernel.View{Batch: b.Take(&trace.RunMeta{NoTPOT: "event_without_launch"}, "f"), Group: make([]int32, 4)})
	for _, line := range s.ranks {
		got := line.Refused
		for _, k := range line.Steps {
			got += fmt.Sprint(" ", k.Kind, ":", k.Decoding, "/", k.Emitted, "/", k.Context)
		}
		if want := "event_without_launch 3:4/-1/3 0:0/0/3 2:4/6/3"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if len(s.ranks) != 1 {
		t.Errorf("%d ranks", len(s.ranks))
	}
}
