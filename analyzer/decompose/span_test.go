package decompose

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"servescope/analyzer/trace"
)

// engine are the steps of an engine in ms: it prefills a request, decodes it,
// prefills another, and decodes both.
func engine(profiled bool) *StepEnds {
	t := new(Timeline)
	end := int64(0)
	for i, x := range []struct {
		end  int64
		kind trace.StepKind
		g    int64
	}{{100, trace.StepPrefill, 0}, {130, trace.StepDecode, 1}, {190, trace.StepPrefill, 0}, {221, trace.StepDecode, 2}, {251, trace.StepDecode, 2}} {
		k := Step{End: x.end * 1e6, Index: int64(i), Duration: (x.end - end) * 1e6, Kind: x.kind, Decoding: x.g, Context: -1, Emitted: x.g}
		if i == 0 {
			k.Duration = -1
		} else if profiled {
			k.Parts = &StepParts{KnownClass: 1<<StepClasses - 1, Class: [StepClasses]int64{k.Duration - 5e6, 0, 2e6, 0, 3e6}}
		}
		end = x.end
		t.Steps = append(t.Steps, k)
	}
	return t.Ends()
}

// taken takes a request apart whose tokens are at the given ms.
func taken(t *testing.T, e *StepEnds, at ...int64) *TokenTime {
	t.Helper()
	var gaps []int64
	for i := range at[1:] {
		gaps = append(gaps, (at[i+1]-at[i])*1e6)
	}
	list, ok := e.Members(at[0]*1e6, gaps, nil)
	if !ok {
		return nil
	}
	s := &TokenTime{SpanSource: e.Source()}
	s.Add(e, list, (at[len(at)-1]-at[0])*1e6, int64(len(at)-1))
	return s
}

// TestSpan works the parts of requests out by hand. The first waits for the
// prefill of the second, which has its tokens up to 1 ms before the first has.
func TestSpan(t *testing.T) {
	plain, profiled := engine(false), engine(true)
	for _, c := range []struct {
		e    *StepEnds
		at   []int64
		want string
	}{
		{plain, []int64{100, 130, 220, 251}, "151: interference 60, stall 0, residual 91"},
		{plain, []int64{190, 221, 250}, "60: interference 0, stall 0, residual 60"},
		{plain, []int64{130, 251}, "121: interference 60, stall 31, residual 30"},
		{plain, []int64{221}, "0: interference 0, stall 0, residual 0"},
		{profiled, []int64{100, 130, 220, 251}, "151: compute 76, sampling 0, communication 6, host_transfer 0, launch_wait 9, scheduling 0, host_exec 0, interference 60, stall 0, residual 0"},
		{profiled, []int64{190, 221, 250}, "60: compute 51, sampling 0, communication 4, host_transfer 0, launch_wait 6, scheduling 0, host_exec 0, interference 0, stall 0, residual -1"},
	} {
		s := taken(t, c.e, c.at...)
		if s == nil {
			t.Errorf("%v: no steps", c.at)
			continue
		}
		a := account{of: ofMember, source: s.Steps, sums: s.sums}
		got, rest := fmt.Sprint(s.total/1e6, ":"), s.total
		for _, p := range a.parts() {
			got += fmt.Sprint(" ", p.leaves[0], " ", p.ns/1e6, ",")
			rest -= p.ns
		}
		if got += fmt.Sprint(" residual ", rest/1e6); got != c.want {
			t.Errorf("%v: %s, want %s", c.at, got, c.want)
		}
	}
	for _, at := range [][]int64{{100, 160}, {100, 251, 221}, {300, 310}, {60, 130}} {
		if s := taken(t, plain, at...); s != nil {
			t.Errorf("tokens at %v are at the ends of steps", at)
		}
	}
	coarse := &Timeline{Steps: plain.steps, Resolution: 1e9}
	if coarse.Ends() != nil {
		t.Error("stamps of whole seconds tell which step a token is of")
	}
}

// TestSpanDecomposition: requests whose steps are known and others are tables of
// their own, and their times per token are weighted by tokens.
func TestSpanDecomposition(t *testing.T) {
	e := engine(false)
	told := taken(t, e, 100, 130, 220, 251)
	told.Merge(taken(t, e, 190, 221, 250))
	other := new(TokenTime)
	other.Add(nil, nil, 90e6, 1)
	d := SpanDecomposition("server", []*TokenTime{other, told}, map[string]int64{"open": 2})
	if d.N != 6 || d.Total.V != (151e6+60e6+90e6)/6 || len(d.Tables) != 2 || d.Excluded["open"] != 2 || d.By != "request" {
		t.Fatalf("%d tokens of %v in %d tables, %v", d.N, d.Total, len(d.Tables), d.Excluded)
	}
	b := &d.Tables[0]
	if b.N != 5 || b.Signature != "interference, stall" || b.Sum.Int != 211e6 || b.Entries[0].Sum.Int != 60e6 || b.Residual.Sum.Int != 151e6 || b.Entries[1].Term != "t_scheduling" {
		t.Errorf("%+v", b)
	}
	if len(d.Tables[1].Entries) != 0 || d.Tables[1].Residual.Sum.Int != 90e6 || len(d.Tables[1].Residual.MayContain) != StepLeaves {
		t.Errorf("%+v", d.Tables[1].Residual)
	}
	for _, leaf := range d.Tables[1].Leaves {
		if leaf.State != "null" || leaf.Reason != "not_recorded" {
			t.Errorf("%+v", leaf)
		}
	}
	if d := SpanDecomposition("server", nil, map[string]int64{"n_lt_2": 3}); d.Total.Known || d.Total.Reason != "n_lt_2" {
		t.Errorf("%+v", d.Total)
	}
}

// TestSpanRandom: members are the steps of the tokens, and parts and residual add
// up to the span with what is only delivery as the rest, however requests share
// steps.
func TestSpanRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	for range 200 {
		line := new(Timeline)
		end := int64(0)
		for i := range 30 {
			d := 20e6 + r.Int64N(30e6)
			end += d
			k := Step{End: end, Index: int64(i), Duration: d, Kind: []trace.StepKind{trace.StepDecode, trace.StepPrefill, trace.StepMixed}[r.IntN(3)], Decoding: 1}
			k.Parts = &StepParts{KnownClass: 1<<StepClasses - 1}
			k.Parts.Class[Compute], k.Parts.Class[LaunchWait] = d-7, 7
			line.Steps = append(line.Steps, k)
		}
		e := line.Ends()
		var own []int32
		var at []int64
		var want, others int64
		for i := range e.steps {
			if r.IntN(3) > 0 {
				own, at = append(own, int32(i)), append(at, e.steps[i].End-r.Int64N(3e6))
			}
		}
		if len(own) < 2 {
			continue
		}
		var gaps []int64
		for i := range at[1:] {
			gaps = append(gaps, at[i+1]-at[i])
		}
		list, ok := e.Members(at[0], gaps, nil)
		if !ok || fmt.Sprint(list) != fmt.Sprint(own) {
			t.Fatalf("%v, want %v", list, own)
		}
		for i := own[0] + 1; i <= own[len(own)-1]; i++ {
			want += e.steps[i].Duration
		}
		for j := 1; j < len(own); j++ {
			for i := own[j-1] + 1; i < own[j]; i++ {
				others += e.steps[i].Duration
			}
		}
		last := len(at) - 1
		s := &TokenTime{SpanSource: e.Source()}
		s.Add(e, list, at[last]-at[0], int64(last))
		var kinds, mixed int64
		for i, x := range s.kinds {
			kinds += x.total
			own := int64(0)
			for _, v := range x.leaf {
				own += v
			}
			if own != x.total {
				t.Fatalf("%s: parts make %d of %d", kindNames[i], own, x.total)
			}
		}
		for j := 1; j < len(own); j++ {
			if e.steps[own[j]].Kind == trace.StepMixed {
				mixed += e.steps[own[j]].Duration
			}
		}
		if got := s.kinds[1].leaf[Compute] + s.kinds[1].leaf[LaunchWait]; kinds != want || got != mixed || s.kinds[0].leaf[Compute]+s.kinds[1].leaf[Compute] != s.leaf[Compute] {
			t.Fatalf("both kinds %d, want %d; own mixed steps %d, want %d", kinds, want, got, mixed)
		}
		jitter := at[last] - e.steps[own[last]].End - at[0] + e.steps[own[0]].End
		sum := int64(0)
		for _, v := range s.leaf {
			sum += v
		}
		if s.leaf[Interference]+s.leaf[Stall] != others || sum != want || s.total-sum != jitter {
			t.Fatalf("%d and %d of others, want %d; %d in all, want %d; %d left, want %d", s.leaf[Interference], s.leaf[Stall], others, sum, want, s.total-sum, jitter)
		}
	}
}
