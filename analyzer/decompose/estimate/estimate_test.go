package estimate

import (
	"reflect"
	"testing"

	"servescope/analyzer/trace"
	"servescope/testdata/generate/simulate"
)

// TestSplitExample: y = 24 24 61 24 50 25, ŷ = 24 24 25 24 – 24, f_lo = 20, step 3
// with a prompt, the request missing in step 5: 208 = 100 + 21 + 36 + 50 + 1.
func TestSplitExample(t *testing.T) {
	s := &steps{
		at:       []int64{0, 24, 48, 109, 133, 183, 208},
		b:        []int32{1, 1, 1, 1, 1, 1, 1},
		context:  []float64{0, 24, 24, 25, 24, 99, 24},
		kind:     []kind{prefill, clean, clean, prefill, clean, clean, clean},
		absences: []absence{{q: 0, from: 5, to: 6}},
	}
	x := &request{Request: Request{Gaps: []int64{24, 24, 61, 24, 75}}, first: 0, last: 6}
	p, vague := s.split(0, x, model{c: 1}, 20)
	if want := (Parts{100, 21, 36, 50, 1}); p != want || p.Sum() != 208 || vague != 0 {
		t.Errorf("got %v and %d, want %v", p, vague, want)
	}
}

// TestAddsUp: the parts of every request add up to its span, in whatever order its
// rows come, and the intervals hold it.
func TestAddsUp(t *testing.T) {
	for seed := uint64(2000); seed < 2012; seed++ {
		l := simulate.Run(simulate.Random(seed))
		r := logOf(l).Estimate(l.Complete)
		s := r.Summary(all)
		n, spans := int64(0), int64(0)
		gaps := l.Requests.Lists(trace.ChunkGaps)
		for _, e := range r.Replicas {
			for q := range e.replica.requests {
				x := &e.replica.requests[q]
				list, _ := gaps.At(int(x.Row))
				d := int64(0)
				for _, gap := range list {
					d += gap
				}
				if e.Refused != None || len(list) == 0 {
					continue
				}
				if p, _ := e.steps.split(q, x, e.model, e.Low); p.Sum() != d {
					t.Fatalf("seed %d row %d: %v is %d, want %d", seed, x.Row, p, p.Sum(), d)
				}
				n, spans = n+1, spans+d
			}
		}
		if s.N != n || s.Parts.Sum() != spans {
			t.Errorf("seed %d: %d requests, %d ns; want %d, %d", seed, s.N, s.Parts.Sum(), n, spans)
		}
		for p, v := range s.Parts {
			if near := 1 + abs(float64(v))/1e3; !s.Merged && n > 0 && (float64(v) < s.Low[p]-near || float64(v) > s.High[p]+near) {
				t.Errorf("seed %d: %s %d is outside of %g to %g", seed, Part(p), v, s.Low[p], s.High[p])
			}
		}
	}
}

// TestOrder: the order of rows and the way they are cut into batches do not matter.
func TestOrder(t *testing.T) {
	l := simulate.Run(simulate.Random(1018))
	want := logOf(l).Estimate(true).Summary(all)
	log := new(Log)
	n := l.Requests.Rows
	for _, half := range []func(i int) bool{func(i int) bool { return i >= n/3 }, func(i int) bool { return i < n/3 }} {
		keep := make([]bool, n)
		for i := range keep {
			keep[i] = half(i)
		}
		log.Add(l.Requests.Select(keep))
	}
	log.AddSteps(l.Steps)
	if got := log.Estimate(true).Summary(all); want.N == 0 || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestSelection: the parts of two selections add up to those of both.
func TestSelection(t *testing.T) {
	l := simulate.Run(simulate.Random(1018))
	r := logOf(l).Estimate(true)
	even := r.Summary(func(row int64) bool { return row%2 == 0 })
	odd := r.Summary(func(row int64) bool { return row%2 == 1 })
	both := r.Summary(all)
	sum := even.Parts
	sum.Add(odd.Parts)
	if even.N == 0 || sum != both.Parts || even.N+odd.N != both.N || even.Tokens+odd.Tokens != both.Tokens {
		t.Errorf("%v and %v do not make %v", even, odd, both)
	}
}

// TestModel: a fit finds a, b and c of a log without noise, and keeps them from
// being negative.
func TestModel(t *testing.T) {
	f := func(want model, y func(b, c float64) float64) {
		t.Helper()
		s := &steps{at: []int64{0}, b: []int32{0}, context: []float64{0}, prompts: true}
		var points []point
		for k := 1; k <= 400; k++ {
			b, c := int32(1+k%17), float64(k*7919%5003)
			s.at = append(s.at, s.at[k-1]+int64(y(float64(b), c)))
			s.b, s.context = append(s.b, b), append(s.context, c)
			points = append(points, point{k: int32(k)})
		}
		m := s.huber(points)
		if abs(m.a-want.a) > 1e-4*abs(want.a)+1 || abs(m.b-want.b) > 1e-4*want.b+0.1 || abs(m.c-want.c) > 1e-4*want.c+0.01 {
			t.Errorf("got %+v, want %+v", m, want)
		}
	}
	f(model{1e7, 2e5, 300}, func(b, c float64) float64 { return 1e7 + 2e5*b + 300*c })
	f(model{1e7, 0, 300}, func(_, c float64) float64 { return 1e7 + 300*c })
	f(model{1e7, 2e5, 300}, func(b, c float64) float64 { // one of ten is out of line
		y := 1e7 + 2e5*b + 300*c
		if int(c)%10 == 3 {
			y *= 4
		}
		return y
	})
	s := new(sums)
	for b := 1.0; b < 9; b++ {
		s.add(1, b, 0, 100-5*b)
	}
	if m := s.solve(); m.b != 0 || abs(m.a-77.5) > 1e-9 { // their mean
		t.Errorf("falling: %+v", m)
	}
}

// TestBatch: load comes of the batch and of the context in proportion to b·(B − B₅)
// and c·(C − C₅).
func TestBatch(t *testing.T) {
	e := &Estimate{model: model{a: 10, b: 2, c: 1}, lowB: 1, lowC: 5, steps: &steps{
		at: []int64{0, 17, 60}, b: []int32{0, 1, 4}, context: []float64{0, 5, 23}, kind: make([]kind, 3),
	}}
	c := &cohort{to: 3, own: []int32{0, 1, 3}, redone: make([]int32, 3), away: make([]int32, 3)}
	// f_lo is 17; ŷ of the last step 41: load 24 of three requests, 6 of it of the batch.
	if got := e.batch(c); got != 18 {
		t.Errorf("got %v", got)
	}
	if got := e.under(e.model, c); got.part != [parts]float64{17 + 3*17, 3 * 24, 0, 0, 3 * 2} {
		t.Errorf("got %v", got)
	}
}
