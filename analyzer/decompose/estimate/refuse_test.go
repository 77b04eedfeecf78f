package estimate

import (
	"testing"

	"servescope/analyzer/trace"
	"servescope/testdata/generate/simulate"
)

// plain is a scenario in which everything holds: a chunked engine that logs every
// step, and users who come and go.
func plain() simulate.Scenario {
	return simulate.Scenario{
		Seed:     9,
		Load:     simulate.Load{Arrivals: simulate.Poisson, Requests: 150, Rate: 4},
		Prompt:   simulate.Lengths{Shape: simulate.Uniform, Mean: 300},
		Output:   simulate.Lengths{Shape: simulate.Exponential, Mean: 120},
		Engine:   simulate.Engine{Budget: 2048, MaxRunning: 64, Blocks: 20_000},
		Cost:     simulate.Cost{Overhead: 2e6, Weights: 8e6, PerToken: 30e3, PerContext: 40, PerPair: 1, Noise: 0.01},
		Delivery: simulate.Delivery{Delay: 2e5, Jitter: 1e5},
		Logging:  simulate.Logging{Admitted: true, Named: true, Quantum: 1000, Evidence: simulate.Steps},
	}
}

// TestRefusals: what fails is refused with its reason.
func TestRefusals(t *testing.T) {
	f := func(name string, want Reason, change func(*simulate.Scenario)) {
		t.Helper()
		s := plain()
		change(&s)
		l := simulate.Run(s)
		got := logOf(l).Estimate(l.Complete).Summary(all)
		if want == None {
			if got.N == 0 || got.Null != [parts]Reason{} {
				t.Errorf("%s: %+v", name, got)
			}
			return
		}
		if got.N != 0 || len(got.Excluded) != 1 || got.Excluded[want] == 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
	f("all is well", None, func(*simulate.Scenario) {})
	f("the caller vouches", None, func(s *simulate.Scenario) { s.Logging.Evidence = simulate.Declared })
	f("windows", None, func(s *simulate.Scenario) { s.Logging.Evidence, s.Logging.Period = simulate.Windows, 5e9 })
	f("nothing shows that it is complete", Uncovered, func(s *simulate.Scenario) { s.Logging.Evidence = simulate.Nothing })
	f("a third is missing", Uncovered, func(s *simulate.Scenario) { s.Logging.Missing = 0.33 })
	f("replicas without names", Uncovered, func(s *simulate.Scenario) { s.Logging.Named, s.Engine.Replicas = false, 2 })
	f("replicas with names", None, func(s *simulate.Scenario) { s.Engine.Replicas = 2 })
	f("clocks", Clock, func(s *simulate.Scenario) {
		s.Logging.Hosts, s.Logging.Skew, s.Logging.NamedClocks = 2, 1e6, true
	})
	f("a network", NotResolvable, func(s *simulate.Scenario) {
		s.Logging.Client, s.Delivery.Network, s.Delivery.NetworkJitter = true, 1e6, 20e6
	})
	f("chunks of eight tokens", NotResolvable, func(s *simulate.Scenario) { s.Delivery.Every = 8 })
	f("few steps", FewSteps, func(s *simulate.Scenario) { s.Load.Requests, s.Output.Mean = 8, 20 })
}

// TestEvidence: the engine's lines count where they are about the time of the
// requests and by their clock; there they go before what the caller says.
func TestEvidence(t *testing.T) {
	f := func(name string, want Coverage, change func(*trace.Builder, *trace.RunMeta) (rate float64, shift int64)) {
		t.Helper()
		var log Log
		log.Add(even())
		b, run := trace.NewBuilder(trace.Steps), &trace.RunMeta{}
		rate, shift := change(b, run)
		for i := range int64(4) { // windows of 1 s end at 1, 2, 3 and 4 s
			b.Int(trace.StepT, (i+1)*1e9+shift)
			b.Code(trace.StepKindCol, int32(trace.StepWindow))
			b.Float(trace.StepGenerationTPS, rate)
			b.EndRow()
		}
		log.AddSteps(b.Take(run, "lines"))
		if got := log.Estimate(true).Replicas; len(got) != 1 || got[0].Coverage != want || (got[0].Refused == Uncovered) != (want == Incomplete || want == Several) {
			t.Errorf("%s: %+v", name, got[0])
		}
	}
	f("the same", Proven, func(*trace.Builder, *trace.RunMeta) (float64, int64) { return 100, 0 })
	f("4 % more", Proven, func(*trace.Builder, *trace.RunMeta) (float64, int64) { return 104, 0 })
	f("10 % more", Incomplete, func(*trace.Builder, *trace.RunMeta) (float64, int64) { return 110, 0 })
	f("less", Incomplete, func(*trace.Builder, *trace.RunMeta) (float64, int64) { return 50, 0 })
	f("an hour later", Unproven, func(*trace.Builder, *trace.RunMeta) (float64, int64) { return 100, 3600e9 })
	f("another clock", Unproven, func(_ *trace.Builder, run *trace.RunMeta) (float64, int64) {
		run.Clock.Kind = trace.Monotonic
		return 100, 0
	})
	f("busy before", Proven, func(b *trace.Builder, _ *trace.RunMeta) (float64, int64) {
		for i := range int64(9) {
			b.Int(trace.StepT, (i-11)*1e9)
			b.Code(trace.StepKindCol, int32(trace.StepWindow))
			b.Float(trace.StepGenerationTPS, 5000)
			b.EndRow()
		}
		return 100, 0
	})
	f("two engines", Several, func(b *trace.Builder, _ *trace.RunMeta) (float64, int64) {
		for i := range int64(4) {
			b.Int(trace.StepT, (i+1)*1e9)
			b.Code(trace.StepKindCol, int32(trace.StepWindow))
			b.Float(trace.StepGenerationTPS, 0)
			b.EndRow()
		}
		return 100, 0
	})
}

// even is a log of one request with a token every 10 ms, from 10 ms to 4 s.
func even() *trace.Batch {
	b := trace.NewBuilder(trace.Requests)
	b.Int(trace.Received, 0)
	b.Int(trace.FirstToken, 10e6)
	b.Int(trace.OutputTokens, 400)
	gaps := b.OpenList(trace.ChunkGaps)
	for range 399 {
		gaps = append(gaps, 10e6)
	}
	b.CloseList(trace.ChunkGaps, gaps)
	b.EndRow()
	return b.Take(&trace.RunMeta{}, "even")
}

// TestNulls: parts that cannot be told are null with the reason, and the others
// stand.
func TestNulls(t *testing.T) {
	f := func(name string, change func(*simulate.Scenario), want map[Part]Reason) {
		t.Helper()
		s := plain()
		change(&s)
		l := simulate.Run(s)
		got := logOf(l).Estimate(l.Complete).Summary(all)
		if got.N == 0 {
			t.Fatalf("%s: %+v", name, got.Excluded)
		}
		for p, reason := range got.Null {
			if reason != want[Part(p)] {
				t.Errorf("%s: %s is %q, want %q", name, Part(p), reason, want[Part(p)])
			}
		}
	}
	f("the cost jumps", func(s *simulate.Scenario) { s.Cost.Drift, s.Cost.Jump = 0.5, true },
		map[Part]Reason{Floor: NotConstant, Load: NotConstant, Interference: NotConstant, Rest: NotConstant})
	f("the host stalls", func(s *simulate.Scenario) { s.Cost.StallChance, s.Cost.StallMean = 0.02, 80e6 },
		map[Part]Reason{Interference: Unexplained, Rest: Unexplained})
	f("half is missing, and the caller vouches", func(s *simulate.Scenario) {
		s.Logging.Evidence, s.Logging.Missing, s.Prompt.Mean, s.Load.Rate = simulate.Declared, 0.5, 1500, 3
	}, map[Part]Reason{Interference: Unexplained, Rest: Unexplained})
}

// TestMerged: of a single user, nothing tells floor and load apart.
func TestMerged(t *testing.T) {
	s := plain()
	s.Load = simulate.Load{Arrivals: simulate.Closed, Users: 1, Requests: 5}
	s.Prompt = simulate.Lengths{Shape: simulate.Fixed, Mean: 3000}
	s.Output = simulate.Lengths{Shape: simulate.Fixed, Mean: 300}
	l := simulate.Run(s)
	if got := logOf(l).Estimate(false).Summary(all); !got.Merged || got.N != 5 || got.Parts[Floor]+got.Parts[Load] < got.Parts.Sum()*9/10 {
		t.Errorf("%+v", got)
	}
	s.Prompt.Shape, s.Prompt.Mean = simulate.Exponential, 20 // context grows from little to a lot
	l = simulate.Run(s)
	if got := logOf(l).Estimate(false).Summary(all); got.Merged || got.N != 5 {
		t.Errorf("%+v", got)
	}
}

// TestLong: gaps of more than three medians are listed, the longest first.
func TestLong(t *testing.T) {
	var r Replica
	r.Add(Request{Row: 3, First: 100, Gaps: []int64{10, 31, 10, 10, 50}})
	r.Add(Request{Row: 4, First: 200, Gaps: []int64{10, 31, 10}})
	r.Add(Request{Row: 5, First: 300, Gaps: []int64{900}})
	var l Long
	l.add(&r, func(row int64) bool { return row != 5 })
	want := []Gap{{3, 161, 50}, {3, 110, 31}, {4, 210, 31}}
	if l.N != 3 || l.Time != 112 || l.Span != 162 || l.Gaps != 8 || l.Median != 10 || len(l.Top) != 3 {
		t.Fatalf("%+v", l)
	}
	for i := range want {
		if l.Top[i] != want[i] {
			t.Errorf("%d: got %+v, want %+v", i, l.Top[i], want[i])
		}
	}
	for i := range int64(30) {
		l.keep(Gap{Row: i, Length: 1000 + i})
	}
	if len(l.Top) != mostGaps || l.Top[0].Length != 1029 || l.Top[9].Length != 1020 {
		t.Errorf("%+v", l.Top)
	}
}

// TestTooMany: beyond the limit nothing is kept, and nothing is said.
func TestTooMany(t *testing.T) {
	if testing.Short() {
		t.Skip("takes 80 MB")
	}
	b := trace.NewBuilder(trace.Requests)
	for range 10 {
		b.Int(trace.Received, 0)
		b.Int(trace.FirstToken, 5)
		gaps := b.OpenList(trace.ChunkGaps)
		b.CloseList(trace.ChunkGaps, append(gaps, make([]int64, MaxTokens/100)...))
		b.EndRow()
	}
	batch := b.Take(&trace.RunMeta{}, "many")
	log := new(Log)
	for range 10 {
		log.Add(batch)
	}
	if got := log.Estimate(true).Replicas; len(got) != 1 || got[0].Refused != TooMany {
		t.Errorf("%+v", got)
	}
	if log.chunks <= MaxTokens || log.sides[0].members != 0 {
		t.Errorf("%d chunks, %d members", log.chunks, log.sides[0].members)
	}
}

// BenchmarkEstimate takes the decode spans of a log apart.
func BenchmarkEstimate(b *testing.B) {
	s := plain()
	s.Load.Requests, s.Load.Rate = 3000, 6
	l := simulate.Run(s)
	b.ReportAllocs()
	chunks := int64(0)
	for b.Loop() {
		r := logOf(l).Estimate(false)
		r.Summary(all)
		chunks = r.Chunks
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(chunks), "ns/token")
}
