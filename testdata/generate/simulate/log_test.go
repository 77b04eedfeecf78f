package simulate

import (
	"testing"

	"servescope/analyzer/trace"
)

// sound is a scenario in which every assumption holds.
func sound() Scenario {
	return Scenario{
		Seed:     3,
		Load:     Load{Requests: 200, Rate: 4},
		Prompt:   Lengths{Shape: Exponential, Mean: 500},
		Output:   Lengths{Shape: Exponential, Mean: 100},
		Engine:   Engine{Budget: 2048, MaxRunning: 64, Blocks: 20_000},
		Cost:     Cost{Overhead: 1e6, Weights: 8e6, PerToken: 20e3, PerContext: 20, PerPair: 1, Noise: 0.02},
		Delivery: Delivery{Delay: 2e5, Jitter: 1e5},
		Logging:  Logging{Admitted: true, Quantum: 1000, Evidence: Windows, Period: 5e9},
	}
}

// TestAssumptions breaks one assumption at a time.
func TestAssumptions(t *testing.T) {
	f := func(name string, breakIt func(*Scenario), want Assumption) {
		t.Helper()
		s := sound()
		breakIt(&s)
		if got := Run(s).Truth; got.Fails != want || got.Holds() != (want == 0) {
			t.Errorf("%s: fails %05b, want %05b: missing %v, near %v, neighbouring %v, drift %v",
				name, got.Fails, want, got.Missing, got.Near, got.Neighbouring, got.Drift)
		}
	}
	f("nothing", func(*Scenario) {}, 0)
	f("a few missing", func(s *Scenario) { s.Logging.Missing = 0.02 }, 0)
	f("half missing", func(s *Scenario) { s.Logging.Missing = 0.5 }, A1)
	f("half missing, declared complete", func(s *Scenario) { s.Logging.Missing, s.Logging.Evidence = 0.5, Declared }, A1)
	f("no evidence", func(s *Scenario) { s.Logging.Evidence = Nothing }, A1)
	f("two replicas", func(s *Scenario) { s.Engine.Replicas = 2 }, A2)
	f("two replicas, named", func(s *Scenario) { s.Engine.Replicas, s.Logging.Named = 2, true }, 0)
	f("coalesced", func(s *Scenario) { s.Delivery.Coalesce = 0.3 }, A3)
	f("in chunks of four", func(s *Scenario) { s.Delivery.Every = 4 }, A3)
	f("network", func(s *Scenario) { s.Delivery.Network, s.Delivery.NetworkJitter = 20e6, 10e6 }, A3)
	f("a network without jitter", func(s *Scenario) { s.Delivery.Network = 20e6 }, 0)
	f("clocks", func(s *Scenario) { s.Logging.Hosts, s.Logging.Skew = 3, 50e6 }, A3|A4)
	f("clocks less than a step apart", func(s *Scenario) { s.Logging.Hosts, s.Logging.Skew = 2, 5e5 }, A4)
	f("drift", func(s *Scenario) { s.Cost.Drift = 0.5 }, A5)
	f("a jump", func(s *Scenario) { s.Cost.Drift, s.Cost.Jump = -0.2, true }, A5)
	f("little drift", func(s *Scenario) { s.Cost.Drift = 0.05 }, 0)
	f("prompts first", func(s *Scenario) { s.Engine.Policy = PrefillFirst }, 0)
}

func TestMissing(t *testing.T) {
	for _, share := range []float64{0, 0.2, 0.333, 0.8, 1} {
		s := sound()
		s.Logging.Missing = share
		want := 200 - int(200*share+0.5)
		l := Run(s)
		if got := l.Requests.Rows; got != want || len(l.Truth.Spans) != want {
			t.Errorf("%v missing: %d rows, want %d", share, got, want)
		}
		if l.Truth.Missing < share-0.0025 {
			t.Errorf("%v missing: said %v", share, l.Truth.Missing)
		}
	}
}

// TestColumns checks that a row has what was asked for and nothing else.
func TestColumns(t *testing.T) {
	has := func(b *trace.Batch, c trace.Col, want bool) {
		t.Helper()
		if b.Has(c) != want {
			t.Errorf("%s: got %v, want %v", b.Table.Fields[c].Name, b.Has(c), want)
		}
	}
	s := sound()
	l := Run(s)
	has(l.Requests, trace.Received, true)
	has(l.Requests, trace.Sent, false)
	has(l.Requests, trace.Admitted, true)
	has(l.Requests, trace.Replica, false)
	has(l.Requests, trace.ChunkTokens, false)
	has(l.Requests, trace.ClockCol, false)
	s.Logging = Logging{Client: true, Admitted: true, Named: true, Counts: true, Hosts: 2, NamedClocks: true}
	l = Run(s)
	if l.Steps != nil || l.Complete {
		t.Error("evidence out of nothing")
	}
	has(l.Requests, trace.Received, false)
	has(l.Requests, trace.Sent, true)
	has(l.Requests, trace.Admitted, false)
	has(l.Requests, trace.Replica, true)
	has(l.Requests, trace.ChunkTokens, true)
	has(l.Requests, trace.ClockCol, true)
	s.Logging.Evidence = Declared
	if l = Run(s); !l.Complete || l.Steps != nil {
		t.Error("not declared complete")
	}
}

// TestEngineLog compares the engine's own log with the requests: both count the
// same tokens.
func TestEngineLog(t *testing.T) {
	s := sound()
	s.Logging.Evidence = Steps
	s.Engine.Replicas, s.Logging.Named = 2, true
	l := Run(s)
	var prompts, outputs int64
	for i := range l.Requests.Rows {
		p, _ := l.Requests.Ints(trace.PromptTokens).At(i)
		o, _ := l.Requests.Ints(trace.OutputTokens).At(i)
		prompts, outputs = prompts+p, outputs+o
	}
	var computed, decoded int64
	for i := range l.Steps.Rows {
		p, _ := l.Steps.Ints(trace.StepPrefillTokens).At(i)
		d, _ := l.Steps.Ints(trace.StepDecodeTokens).At(i)
		computed, decoded = computed+p, decoded+d
	}
	if l.Truth.Preemptions != 0 || computed != prompts || decoded != outputs-200 { // the first token comes with the prompt
		t.Errorf("iterations: %d prompt and %d decode tokens of %d and %d", computed, decoded, prompts, outputs)
	}
	s.Logging.Evidence = Windows
	l = Run(s)
	var generated, busy float64
	for i := range l.Steps.Rows {
		tps, _ := l.Steps.Floats(trace.StepGenerationTPS).At(i)
		generated += tps * 5
		if n, ok := l.Steps.Ints(trace.StepRunning).At(i); !ok || n < 0 || n > 64 {
			t.Errorf("row %d: %d running", i, n)
		} else {
			busy += float64(n)
		}
	}
	if abs(generated-float64(outputs)) > 1e-6*generated || busy == 0 {
		t.Errorf("windows: %v tokens of %d, %v running", generated, outputs, busy)
	}
}

// TestRandom checks that random scenarios are of all kinds.
func TestRandom(t *testing.T) {
	const n = 2000
	var missing, vouched, mixed, network, chunks, clocks, drift, millis, sent, single, steady, full, named int
	count := func(x *int, is bool) {
		if is {
			*x++
		}
	}
	for seed := range uint64(n) {
		s := Random(seed)
		o := &s.Logging
		count(&missing, o.Missing >= 0.2)
		count(&vouched, o.Missing >= 0.2 && o.Evidence == Declared)
		count(&mixed, s.Engine.Replicas == 2 && !o.Named)
		count(&named, s.Engine.Replicas == 2 && o.Named)
		count(&network, s.Delivery.Network > 0)
		count(&chunks, s.Delivery.Coalesce > 0 || s.Delivery.Every > 1)
		count(&clocks, o.Skew > 0)
		count(&drift, abs(s.Cost.Drift) > 0.1)
		count(&millis, o.Quantum == 1e6)
		count(&sent, !o.Admitted)
		count(&single, s.Load.Arrivals == Closed && s.Load.Users == 1)
		count(&steady, s.Load.Arrivals == Closed && s.Load.Users > 1 && s.Output.Shape == Fixed && s.Prompt.Shape == Fixed)
		count(&full, float64(s.Engine.Blocks*BlockTokens) < 6*(s.Prompt.Mean+s.Output.Mean))
		if s.Load.Requests < 1 || s.Engine.Blocks < 1 || s.Engine.Budget < s.Engine.MaxRunning/8 {
			t.Fatalf("seed %d: %+v", seed, s)
		}
	}
	for i, x := range []int{missing, vouched, mixed, network, chunks, clocks, drift, millis, sent, single, steady, full, named} {
		if x < n/100 {
			t.Errorf("kind %d: only %d of %d", i, x, n)
		}
	}
	holds, fails := 0, Assumption(0)
	some := seeds(t, 60)
	for _, seed := range some {
		truth := Run(Random(100 + seed)).Truth
		fails |= truth.Fails
		count(&holds, truth.Holds())
	}
	if !testing.Short() && (fails&(A1|A2|A3|A5) != A1|A2|A3|A5 || holds < len(some)*2/5 || holds > len(some)*3/4) {
		t.Errorf("of %d, %d hold; broken somewhere: %05b", len(some), holds, fails)
	}
}
