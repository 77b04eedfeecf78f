package loads

import (
	"testing"

	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/concurrency"
	"servescope/analyzer/kernel/kerneltest"
	"servescope/analyzer/metric"
	"servescope/analyzer/query"
	"servescope/analyzer/report"
	"servescope/analyzer/trace"
)

// idleSink is a sink that knows what engines log.
type idleSink struct {
	*kerneltest.Sink
	loads kernel.State
}

func (s idleSink) Idle(run int32) kernel.Idle { return IdleOf(s.loads, run) }

func loadsOf(meta *trace.RunMeta, rows ...loadRow) kernel.State {
	s := New().New(&query.Query{}, &kernel.Facts{Runs: []kernel.RunFacts{{HasTimes: true, Clock: "wall"}}})
	s.Update(loadView(meta, rows...))
	return s
}

// TestIdleEnd: when a request that is last seen at some second is over.
func TestIdleEnd(t *testing.T) {
	waits := line("0", 20, 0)
	waits.waiting = 1
	for name, c := range map[string]struct {
		rows []loadRow
		seen int64
		want int64 // -1: nobody knows
	}{
		"a line is busy behind it, the next idle":        {[]loadRow{line("0", 10, 1), line("0", 20, 0)}, 5, 20},
		"in the same step of the clock":                  {[]loadRow{line("0", 10, 1), line("0", 20, 0)}, 10, 20},
		"the busy line is about others":                  {[]loadRow{line("0", 10, 1), line("0", 20, 0)}, 11, -1},
		"idle twice behind it":                           {[]loadRow{line("0", 10, 1), line("0", 20, 0), line("0", 30, 0)}, 11, 30},
		"busy again before the second":                   {[]loadRow{line("0", 10, 1), line("0", 20, 0), line("0", 30, 1), line("0", 40, 0)}, 11, 40},
		"what waits is not over":                         {[]loadRow{line("0", 10, 1), waits}, 5, -1},
		"no line behind it":                              {[]loadRow{line("0", 10, 0)}, 10, -1},
		"one of two engines is busy":                     {[]loadRow{line("0", 10, 1), line("1", 10, 1), line("0", 20, 0), line("1", 20, 1)}, 5, -1},
		"both are idle":                                  {[]loadRow{line("0", 10, 1), line("1", 10, 1), line("0", 20, 0), line("1", 25, 0)}, 5, 25},
		"the other one says nothing behind it":           {[]loadRow{line("1", 2, 0), line("0", 10, 1), line("0", 20, 0), line("0", 30, 0)}, 5, -1},
		"steps say nothing of requests that are waiting": {[]loadRow{step(trace.StepDecode, trace.Elapsed, 10, 1, 1), step(trace.StepDummy, trace.Elapsed, 20, 1, 0)}, 5, -1},
	} {
		end, ok := IdleOf(loadsOf(vllmMeta(), c.rows...), 0).End(c.seen * kerneltest.MS)
		if ok != (c.want >= 0) || ok && end != c.want*kerneltest.MS {
			t.Errorf("%s: %v %v, want %v", name, end/kerneltest.MS, ok, c.want)
		}
	}
	sglang := &trace.RunMeta{Side: trace.Server, Engine: "sglang"} // its count lacks requests in their prefill
	for _, meta := range []*trace.RunMeta{sglang, vllmMeta(trace.Pair{Key: "data_parallel_size", Value: "2"})} {
		if x := IdleOf(loadsOf(meta, line("0", 10, 1), line("0", 20, 0)), 0); x != nil {
			t.Errorf("%s: %v", meta.Engine, x)
		}
	}
}

// TestInferredEnds: of two open requests the engine's log ends one.
func TestInferredEnds(t *testing.T) {
	a, b, c := kerneltest.Of(trace.Open), kerneltest.Of(trace.Open), kerneltest.Streamed(0, 2, 100, 1000)
	a.Send, b.Send, c.Finish = 50, 900, 1000
	k := concurrency.New(metric.Default)
	s := k.New(&query.Query{}, &kernel.Facts{})
	s.Update(kerneltest.View{B: kerneltest.Build(kerneltest.WallMeta(), a, b, c)}.Of())
	out := idleSink{kerneltest.NewSink(), loadsOf(vllmMeta(), line("0", 100, 2), line("0", 500, 0))}
	s.Finish(out)
	got := out.Cell(0, -1, kernel.NoWindow).Concurrency
	// c is in flight for 1000 ms, a from 50 to 500, b from 900 on.
	kerneltest.Near(t, "mean", got.Mean.V, (1000+450+100)/1000.0)
	if got.Inferred != 1 || got.Max.V != 2 || len(got.Curve) != 4 || got.Curve[2] != (report.Point{T: 500 * kerneltest.MS, V: 1}) {
		t.Errorf("%+v", got)
	}
	if want := "the end of 1 request is inferred"; len(got.Mean.Note) < len(want) || got.Mean.Note[:len(want)] != want {
		t.Errorf("note %q", got.Mean.Note)
	}

	// Without an engine's log both stay open.
	s.Finish(out.Sink)
	got = out.Sink.Cell(0, -1, kernel.NoWindow).Concurrency
	kerneltest.Near(t, "mean", got.Mean.V, (1000+950+100)/1000.0)
	if got.Inferred != 0 {
		t.Errorf("%+v", got)
	}
}
