package simulate

import (
	"bytes"
	"cmp"
	"reflect"
	"slices"
	"testing"

	"servescope/analyzer/trace"
)

// seeds returns numbers of random scenarios.
func seeds(t *testing.T, most int) []uint64 {
	if testing.Short() {
		most = min(most, 8)
	}
	var out []uint64
	for i := range most {
		out = append(out, uint64(i))
	}
	return out
}

// TestConservation recounts from the requests alone what the steps hold, and
// holds the steps to the limits of the engine.
func TestConservation(t *testing.T) {
	preempted, busiest := 0, 0
	for _, seed := range seeds(t, 20) {
		w := simulate(pointer(Random(seed)))
		fail := func(format string, args ...any) {
			t.Helper()
			t.Fatalf("seed %d: "+format, append([]any{seed}, args...)...)
		}
		if len(w.requests) != w.s.Load.Requests || len(w.pending) > 0 {
			fail("%d requests of %d, %d pending", len(w.requests), w.s.Load.Requests, len(w.pending))
		}
		for n, e := range w.engines {
			if e.busy() || e.free != w.s.Engine.Blocks {
				fail("replica %d ends with work, or %d blocks free of %d", n, e.free, w.s.Engine.Blocks)
			}
			again := make([]step, len(e.steps))
			for _, r := range w.requests {
				if r.replica == n {
					recount(again, r)
				}
			}
			last := int64(0)
			for i, k := range e.steps {
				if x := again[i]; x.b != k.b || x.c != k.c || x.firsts != k.firsts {
					fail("step %d has B %d, C %d, %d first tokens; recounted %d, %d, %d", i, k.b, k.c, k.firsts, x.b, x.c, x.firsts)
				}
				if err := e.check(&k, last); err != "" {
					fail("step %d: %s: %+v", i, err, k)
				}
				last = k.end
				preempted += k.preempts
				busiest = max(busiest, k.b)
			}
		}
		for _, r := range w.requests {
			if err := r.check(w); err != "" {
				fail("request %d: %s", r.id, err)
			}
		}
	}
	if preempted == 0 || busiest < 30 {
		t.Errorf("only %d preemptions and batches of %d: the limits were not tried", preempted, busiest)
	}
}

func pointer(s Scenario) *Scenario { return s.complete() }

// recount adds the tokens of r to its steps.
func recount(steps []step, r *request) {
	for i, k := range r.steps {
		if i == 0 {
			steps[k].firsts++
			continue
		}
		steps[k].b++
		steps[k].c += int64(r.prompt + i)
	}
}

// check returns what is wrong with a step.
func (e *engine) check(k *step, last int64) string {
	tokens := k.decoding + k.prompts
	switch {
	case k.used > e.o.Blocks || k.used <= 0:
		return "blocks beyond the limit"
	case k.running > e.o.MaxRunning || k.decoding+k.contexts > k.running:
		return "more sequences than may run"
	case tokens == 0:
		return "no work"
	case e.o.Policy == Chunked && tokens > e.o.Budget, e.o.Policy == PrefillFirst && k.prompts > e.o.Budget:
		return "beyond the budget"
	case e.o.Policy == PrefillFirst && k.contexts > 0 && k.decoding > 0:
		return "mixed"
	case k.contexts == 0 && (k.prefill != 0 || k.prompts != 0 || k.firsts != 0), k.contexts > 0 && k.prompts < k.contexts:
		return "prompt tokens without prompts"
	case k.end-k.y < last, k.decode < 0, k.prefill < 0, k.stall < 0, k.b > 0 && k.decode == 0:
		return "times"
	case abs(float64(k.y-k.decode-k.prefill-k.stall)) > 6*e.cost.Noise*float64(k.decode)+2:
		return "noise beyond six standard deviations"
	}
	return ""
}

// check returns what is wrong with a request.
func (r *request) check(w *world) string {
	var tokens int64
	for i, c := range r.chunks {
		tokens += c.tokens
		if c.tokens < 1 || c.step != r.steps[tokens-1] {
			return "chunk of other tokens"
		}
		if c.at < w.engines[r.replica].steps[c.step].end || i > 0 && c.at < r.chunks[i-1].at {
			return "chunk before its token"
		}
	}
	e := w.engines[r.replica]
	switch {
	case len(r.steps) != r.output || tokens != int64(r.output):
		return "tokens"
	case r.blocks != 0 || r.computed != r.prompt+r.output-1:
		return "computed"
	case !slices.IsSorted(r.steps) || len(slices.Compact(slices.Clone(r.steps))) != r.output:
		return "two tokens in a step"
	case !slices.IsSorted(r.redone) || len(r.redone) > 0 && r.preempts == 0:
		return "computed anew without a reason"
	case r.sent > r.received || r.received > r.admitted || r.admitted >= e.steps[r.steps[0]].end || r.finished < r.chunks[len(r.chunks)-1].at:
		return "order of stamps"
	case r.prompt+r.output > w.s.Engine.Blocks*BlockTokens:
		return "longer than the cache"
	}
	return ""
}

// TestQueue checks that every replica admits first what it received first, and
// that one kind of scheduler interrupts decoding and the other does not.
func TestQueue(t *testing.T) {
	waited := 0
	for _, seed := range seeds(t, 15) {
		w := simulate(pointer(Random(seed)))
		for n := range w.engines {
			var mine []*request
			for _, r := range w.requests {
				if r.replica == n {
					mine = append(mine, r)
				}
			}
			slices.SortStableFunc(mine, func(a, b *request) int { return cmp.Compare(a.received, b.received) })
			for i := 1; i < len(mine); i++ {
				if mine[i].admitted < mine[i-1].admitted {
					t.Fatalf("seed %d: request %d overtook %d", seed, mine[i].id, mine[i-1].id)
				}
			}
			for _, k := range w.engines[n].steps {
				waited += k.waiting
			}
		}
	}
	if waited == 0 {
		t.Error("nobody ever waited")
	}
}

// TestAdmission lets two requests arrive at once where one may run: the second is
// admitted when the first has ended, on its own replica if there are two.
func TestAdmission(t *testing.T) {
	s := Scenario{
		Load:   Load{Arrivals: Closed, Users: 2, Requests: 2},
		Prompt: Lengths{Mean: 10}, Output: Lengths{Mean: 3},
		Engine:  Engine{Budget: 64, MaxRunning: 1, Blocks: 100},
		Cost:    Cost{Overhead: 1e6},
		Logging: Logging{Admitted: true},
	}
	admitted := func() []int64 {
		b, out := Run(s).Requests, []int64(nil)
		for i := range b.Rows {
			at, _ := b.Ints(trace.Admitted).At(i)
			out = append(out, at-epoch)
		}
		return out
	}
	if got := admitted(); !slices.Equal(got, []int64{0, 3e6}) {
		t.Errorf("one replica: admitted at %v", got)
	}
	s.Engine.Replicas = 2
	if got := admitted(); !slices.Equal(got, []int64{0, 0}) {
		t.Errorf("two replicas: admitted at %v", got)
	}
	// Of 300 blocks, 3 stay free for those who run; an idle engine needs none.
	for _, x := range []struct{ free, running, want int }{{7, 1, 1}, {8, 1, 2}, {5, 0, 1}, {4, 0, 0}} {
		e := newEngine(pointer(Scenario{Engine: Engine{Policy: PrefillFirst, Budget: 640, MaxRunning: 8, Blocks: 300}}), 0)
		e.free, e.running, e.waiting = x.free, make([]*request, x.running), []*request{{prompt: 80}}
		budget := 640
		if e.admitWhole(&budget); len(e.running) != x.want {
			t.Errorf("%+v: %d running", x, len(e.running))
		}
	}
}

// TestPreemption runs two sequences in a cache that holds one of them at its
// full length: the later one gives way and is computed anew.
func TestPreemption(t *testing.T) {
	for _, policy := range []Policy{Chunked, PrefillFirst} {
		s := Scenario{
			Load:   Load{Arrivals: Closed, Users: 2, Requests: 2},
			Prompt: Lengths{Mean: 32}, Output: Lengths{Mean: 48},
			Engine: Engine{Policy: policy, Budget: 64, MaxRunning: 8, Blocks: 6},
			Cost:   Cost{Overhead: 1e6, PerToken: 1000},
		}
		w := simulate(s.complete())
		first, second := w.requests[0], w.requests[1]
		if first.preempts != 0 || len(first.redone) != 0 {
			t.Errorf("policy %d: the first was preempted %d times", policy, first.preempts)
		}
		// Both hold 3 blocks for up to 48 tokens; the 49th is that of step 17.
		if second.preempts == 0 || second.steps[16] != 16 || second.steps[17] < first.steps[17] {
			t.Errorf("policy %d: the second was preempted %d times, steps %v", policy, second.preempts, second.steps)
		}
		if n := len(second.redone); n == 0 || second.redone[n-1] <= first.steps[17] {
			t.Errorf("policy %d: computed anew in steps %v", policy, second.redone)
		}
	}
}

// TestClosed checks that no more requests than users are ever under way.
func TestClosed(t *testing.T) {
	s := Random(1)
	s.Load = Load{Arrivals: Closed, Users: 5, Requests: 60, Stagger: 1e9, Think: 1e8}
	w := simulate(s.complete())
	for _, r := range w.requests {
		open := 0
		for _, o := range w.requests {
			if o.sent <= r.sent && r.sent < o.finished {
				open++
			}
		}
		if open > 5 {
			t.Fatalf("%d requests at the time of request %d", open, r.id)
		}
	}
}

// TestDeterminism checks that a seed decides everything, and that what a log
// leaves out does not change the rest.
func TestDeterminism(t *testing.T) {
	for _, seed := range seeds(t, 8) {
		a, b := Run(Random(seed)), Run(Random(seed))
		if !bytes.Equal(tokenlog(t, a), tokenlog(t, b)) || !reflect.DeepEqual(a.Truth, b.Truth) {
			t.Fatalf("seed %d: two runs differ", seed)
		}
		s := a.Scenario
		s.Logging.Missing = 0
		whole := tokenlog(t, Run(s))
		for line := range bytes.Lines(tokenlog(t, a)) {
			if !bytes.Contains(whole, line) {
				t.Fatalf("seed %d: a request differs when others are missing: %s", seed, line)
			}
		}
		s.Seed++
		if bytes.Equal(tokenlog(t, Run(s)), whole) {
			t.Fatalf("seed %d: the next seed gives the same", seed)
		}
	}
}

func tokenlog(t *testing.T, l *Log) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := l.WriteTokenlog(&b); err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(b.Bytes(), []byte("\n")); n != l.Requests.Rows {
		t.Fatalf("%d lines of %d rows", n, l.Requests.Rows)
	}
	return b.Bytes()
}

// TestRows checks each row against its truth: the parts add up to the span of its
// stamps to the ns.
func TestRows(t *testing.T) {
	for _, seed := range seeds(t, 20) {
		l := Run(Random(seed))
		var total Parts
		for i, p := range l.Truth.Spans {
			first, _ := l.Requests.Ints(trace.FirstToken).At(i)
			last, _ := l.Requests.Ints(trace.LastToken).At(i)
			gaps, ok := l.Requests.Lists(trace.ChunkGaps).At(i)
			sum := int64(0)
			for _, gap := range gaps {
				sum += gap
			}
			if !ok || p.D() != last-first || sum != last-first {
				t.Fatalf("seed %d row %d: D %d, parts %d, gaps %d", seed, i, last-first, p.D(), sum)
			}
			if p.Floor < 0 || p.Load < 0 || p.Interference < 0 || p.Stall < 0 {
				t.Fatalf("seed %d row %d: %+v", seed, i, p)
			}
			if q := l.Scenario.Logging.Quantum; first%q != 0 || last%q != 0 {
				t.Fatalf("seed %d row %d: stamps finer than %d", seed, i, q)
			}
			total.Add(p)
		}
		var byReplica Parts
		for _, r := range l.Truth.Replicas {
			byReplica.Add(r.Total)
		}
		if l.Requests.Rows != len(l.Truth.Spans) || total != l.Truth.Total || total != byReplica || total.D() == 0 {
			t.Fatalf("seed %d: %d rows, %d spans, totals %+v, %+v, %+v", seed, l.Requests.Rows, len(l.Truth.Spans), total, l.Truth.Total, byReplica)
		}
	}
}
