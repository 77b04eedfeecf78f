package decompose

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"servescope/analyzer/collective"
	"servescope/analyzer/report"
	"servescope/analyzer/trace"
)

// profiled returns a step with classes in the order of ClassColumns.
func profiled(end, duration int64, kind trace.StepKind, decoding, context int64, classes ...int64) Step {
	k := Step{End: end, Index: end, Duration: duration, Kind: kind, Decoding: decoding, Context: context, Emitted: decoding}
	if duration >= 0 {
		k.Parts = &StepParts{KnownClass: 1<<StepClasses - 1}
		copy(k.Parts.Class[:], classes)
	}
	return k
}

// worked are the steps of the specification's example: one of 90, one of 50 that
// only prefills, one of 95.
func worked() []Step {
	first := profiled(90, 90, trace.StepDecode, 1, 0, 48, 0, 20, 6, 7, 6, 2, 1)
	first.Parts.Memo[Overlapped], first.Parts.KnownMemo = 10, 1<<Overlapped
	return []Step{first, profiled(140, 50, trace.StepPrefill, 0, 1, 50), profiled(235, 95, trace.StepDecode, 1, 0, 70, 0, 15, 0, 10)}
}

func every(s *Steps, detail bool) []report.Decomposition { return s.Decompositions(s.All(), detail) }

// decomposed returns the decompositions of one rank, by what they are of.
func decomposed(t *testing.T, steps ...Step) map[string]report.Decomposition {
	t.Helper()
	out := map[string]report.Decomposition{}
	for _, d := range every(NewSteps([]*Timeline{{Name: "tp0", Steps: steps}}), true) {
		out[strings.TrimSuffix(d.Of+" "+d.By, " ")] = d
	}
	return out
}

// figures prints the terms, the residual and the memos of a table, times n.
func figures(b *report.Breakdown) string {
	scaled := func(v report.Value) string {
		if !v.Known {
			return v.Reason
		}
		return fmt.Sprint(v.V * float64(b.N))
	}
	list := []string{"total " + scaled(b.Total)}
	for _, term := range b.Terms {
		s := strings.TrimPrefix(term.Name, "t_") + " " + scaled(term.Mean)
		if !term.Mean.Known {
			s += "[" + scaled(term.Low) + "," + scaled(term.High) + "]"
		}
		list = append(list, s)
	}
	list = append(list, "residual "+scaled(b.Residual.Mean))
	for _, m := range b.Memos {
		list = append(list, m.Name+" "+scaled(m.Mean))
	}
	return strings.Join(list, ", ")
}

// TestStepRollUp holds the worked step to its figures.
func TestStepRollUp(t *testing.T) {
	d := decomposed(t, worked()[0])["step batch"]
	if len(d.Tables) != 1 || d.Tables[0].Cohort != "decode steps of 1" {
		t.Fatalf("%+v", d)
	}
	b := &d.Tables[0]
	if got, want := figures(b), "total 90, decode_compute 48, communication 26, scheduling 6, framework_overhead 9, residual 1, communication_overlapped 10"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if b.Signature != "compute, sampling, communication, host_transfer, launch_wait, scheduling, host_exec" || fmt.Sprint(b.Residual.MayContain) != "[host_gap]" {
		t.Errorf("%s, residual may contain %v", b.Signature, b.Residual.MayContain)
	}
}

// TestStepUnknownParts: what a source cannot tell apart is one entry, and the
// terms that it touches are bounds.
func TestStepUnknownParts(t *testing.T) {
	for _, c := range []struct{ unknown, want, signature string }{
		{"scheduling", "total 90, decode_compute 48, communication 26, scheduling merged[0,7], framework_overhead merged[9,16], residual 0", "compute, sampling, communication, host_transfer, launch_wait, scheduling+host_gap, host_exec"},
		{"sampling", "total 90, decode_compute 48, communication 26, scheduling 6, framework_overhead 9, residual 1", "compute+sampling, communication, host_transfer, launch_wait, scheduling, host_exec"},
		{"communication", "total 90, decode_compute comm_not_recognised[0,48], communication comm_not_recognised[6,54], scheduling 6, framework_overhead 9, residual 21", "compute+communication, sampling, host_transfer, launch_wait, scheduling, host_exec"},
	} {
		k := worked()[0]
		k.Parts.KnownMemo = 0
		for l := range StepLeaf(StepClasses) {
			if l.String() == c.unknown {
				k.Parts.KnownClass &^= 1 << l
				switch l {
				case Scheduling: // all of it is in the gap then
					k.Parts.Class[HostGap] += k.Parts.Class[l]
					k.Parts.Class[l] = 0
				case Communication:
					k.Parts.Class[l] = 0
				}
			}
		}
		b := &decomposed(t, k)["step batch"].Tables[0]
		if got := figures(b); got != c.want || b.Signature != c.signature {
			t.Errorf("%s: %s of %s\nwant %s of %s", c.unknown, got, b.Signature, c.want, c.signature)
		}
		for _, leaf := range b.Leaves {
			if leaf.Name == c.unknown && leaf.State != "merged" {
				t.Errorf("%+v", leaf)
			}
		}
	}
	none := worked()[0]
	none.Parts.KnownClass &^= 1 << Scheduling
	none.Parts.Class = [StepClasses]int64{84, 0, 0, 0, 6}
	if got, want := figures(&decomposed(t, none)["step batch"].Tables[0]), "total 90, decode_compute 84, communication 0, scheduling 0, framework_overhead 6, residual 0"; !strings.HasPrefix(got, want) {
		t.Errorf("no time of the host, and scheduling is unknown: %s", got)
	}
}

// TestTPOTOverPrefill: a token that waits for a step that only prefills waits for
// both, and the term scheduling has the interference.
func TestTPOTOverPrefill(t *testing.T) {
	d := decomposed(t, worked()...)["tpot"]
	if d.N != 1 || d.Total.V != 145 || d.Low.V != 95 || d.High.V != 145 || d.Label != "membership assumed" || d.Excluded["head_missing"] != 1 {
		t.Errorf("%+v", d)
	}
	if got, want := figures(&d.Tables[0]), "total 145, decode_compute 70, communication 15, scheduling 50, framework_overhead 10, residual 0"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	for _, leaf := range d.Tables[0].Leaves {
		if leaf.Name == "interference" && leaf.State != "value" || leaf.Name == "stall" && leaf.Reason != "outside_total" {
			t.Errorf("%+v", leaf)
		}
	}
}

// TestTPOTMembership works one step out by hand: 3 sequences before two prefill
// steps of 10 and 20, with 1 and 3 prompts, and 5 sequences behind them, 100.
func TestTPOTMembership(t *testing.T) {
	steps := []Step{profiled(10, -1, trace.StepDecode, 3, 0), profiled(20, 10, trace.StepPrefill, 0, 1), profiled(40, 20, trace.StepPrefill, 0, 3), profiled(140, 100, trace.StepMixed, 5, 1, 100)}
	d := decomposed(t, steps...)["tpot"]
	// Three go on, 130 each, two came with the last prefill, 100; or 5 − 4 = 1 goes on.
	if d.N != 5 || d.Total.V != (3*130+2*100)/5. || d.Low.V != (130+4*100)/5. || d.High.V != d.Total.V {
		t.Errorf("%+v", d)
	}
	steps[2].Context = -1 // nobody knows how many prompts: no range but the value
	if d := decomposed(t, steps...)["tpot"]; d.Low.V != d.Total.V || d.High.V != d.Total.V {
		t.Errorf("%v to %v", d.Low, d.High)
	}
}

// TestTPOTKinds: mixed steps are a table of their own, and what they cost more
// than decode steps of the same size is an estimate beside the tables.
func TestTPOTKinds(t *testing.T) {
	steps := []Step{profiled(0, -1, trace.StepDecode, 2, 0)}
	end := int64(0)
	for _, x := range []struct {
		kind     trace.StepKind
		g, ns    int64
		launched int64
	}{{trace.StepDecode, 2, 10, 1}, {trace.StepDecode, 2, 20, 2}, {trace.StepMixed, 2, 45, 5}, {trace.StepMixed, 3, 60, 6}} {
		end += x.ns
		steps = append(steps, profiled(end, x.ns, x.kind, x.g, 0, x.ns-x.launched, 0, 0, 0, x.launched))
	}
	all := decomposed(t, steps...)
	if d := all["tpot"]; d.N != 9 || d.Total.V != (2*10+2*20+2*45+3*60)/9. {
		t.Errorf("%+v", d)
	}
	memos := map[string]report.Memo{}
	for _, m := range all["tpot"].Memos {
		memos[m.Name] = m
	}
	// 45 against the mean 15 of the decode steps of 2; there is none of 3.
	if m := memos["mixed_excess"]; m.Mean.V != 30 || m.N != 2 || !strings.Contains(m.Mean.Note, "estimate") {
		t.Errorf("%+v", m)
	}
	if m := memos["mixed_share"]; m.Mean.V != 270/330. {
		t.Errorf("%+v", m)
	}
	got := ""
	for _, b := range all["tpot kind"].Tables {
		got += fmt.Sprintf("%s %d %s; ", b.Cohort, b.N, figures(&b))
	}
	if want := "decode steps 4 total 60, decode_compute 54, communication 0, scheduling 0, framework_overhead 6, residual 0; mixed steps 5 total 270, decode_compute 242, communication 0, scheduling 0, framework_overhead 28, residual 0; "; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	got = ""
	for _, b := range all["step batch"].Tables {
		got += fmt.Sprintf("%s: %d×%g, ", b.Cohort, b.N, b.Total.V)
	}
	if want := "decode steps of 2: 2×15, mixed steps of 2: 1×45, mixed steps of 3: 1×60, "; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// TestTPOTRefused: each reason for which a rank gives no time per token.
func TestTPOTRefused(t *testing.T) {
	decode := func(end, d int64) Step { return profiled(end, d, trace.StepDecode, 2, 0, d) }
	verify := profiled(30, 20, trace.StepVerify, 2, 0, 20)
	verify.Emitted = -1
	unnamed := profiled(30, 20, NoKind, -1, -1, 20)
	unnamed.Emitted = -1
	for _, c := range []struct {
		why   string
		t     Timeline
		steps bool // of single steps there are figures
	}{
		{"single_step", Timeline{Place: collective.Place{PP: -1}, Steps: []Step{decode(10, -1)}}, false},
		{"pipeline", Timeline{Place: collective.Place{PP: 1}, Steps: []Step{decode(10, -1), decode(30, 20)}}, true},
		{"no_step_range", Timeline{Place: collective.Place{PP: -1}, Steps: []Step{unnamed, unnamed}}, true},
		{"event_without_launch", Timeline{Place: collective.Place{PP: -1}, Refused: "event_without_launch", Steps: []Step{decode(10, -1), decode(30, 20)}}, true},
		{"no_token", Timeline{Place: collective.Place{PP: 0}, Steps: []Step{profiled(10, 10, trace.StepDummy, 0, 0, 10), profiled(30, 20, trace.StepDummy, 0, 0, 20)}}, true},
		{"accepted_unknown", Timeline{Place: collective.Place{PP: 0}, Steps: []Step{decode(10, -1), verify}}, true},
		{"head_missing", Timeline{Place: collective.Place{PP: 0}, Steps: []Step{decode(10, -1), profiled(20, 10, trace.StepDummy, 0, 0, 10), decode(40, 20)}}, true},
	} {
		list := every(NewSteps([]*Timeline{&c.t}), true)
		d := list[0]
		if d.Of != "tpot" || d.Total.Known || d.Total.Reason != c.why || d.N != 0 || d.Excluded[c.why] == 0 || len(d.Tables) != 0 {
			t.Errorf("%s: %+v", c.why, d)
		}
		if steps := len(list) == 3 && list[1].Of == "step" && list[1].Total.Known && list[2].By == "batch"; steps != c.steps {
			t.Errorf("%s: %d decompositions", c.why, len(list))
		}
	}
	verify.Emitted = 5 // another source tells: two sequences of 20, five tokens
	if d := every(NewSteps([]*Timeline{{Steps: []Step{decode(10, -1), verify}}}), true)[0]; d.N != 5 || d.Total.V != 8 {
		t.Errorf("%+v", d)
	}
}

// TestStops: a step behind a stop is listed, by what its device idled, not by its
// length.
func TestStops(t *testing.T) {
	steps := []Step{profiled(0, -1, trace.StepDecode, 4, 0)}
	for i := range int64(9) {
		steps = append(steps, profiled(10*(i+1), 10, trace.StepDecode, 4, 0, 9, 0, 0, 0, 1))
	}
	steps = append(steps, profiled(300, 210, trace.StepDecode, 7, 0, 100, 0, 0, 0, 20, 30, 40, 20), profiled(411, 111, trace.StepDecode, 5, 0, 10, 0, 0, 0, 25, 25, 25, 26),
		profiled(900, 489, trace.StepMixed, 5, 1, 489), profiled(1500, 600, trace.StepPrefill, 0, 1, 0, 0, 0, 0, 600))
	d := decomposed(t, steps...)["tpot"]
	if len(d.Stops) != 2 || d.Stops[0].Idle != 110 || d.Stops[1] != (report.Stop{Rank: "tp0", Step: 411, At: report.KnownInt(411, "ns"), Duration: 111, Idle: 101, Sequences: 5}) {
		t.Errorf("%+v", d.Stops)
	}
}

// TestTPOTRandom holds random sequences of steps to a sum over single sequences by
// the ends of steps, and the parts of each table to its total.
func TestTPOTRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for range 300 {
		var steps []Step
		end := r.Int64N(1000)
		for i := range 1 + r.IntN(40) {
			d := 1 + r.Int64N(100)
			end += d
			k := profiled(end, d, trace.StepDecode, 1+r.Int64N(6), 0)
			switch r.IntN(8) {
			case 0, 1:
				k = profiled(end, d, trace.StepPrefill, 0, r.Int64N(4))
			case 2:
				k = profiled(end, d, trace.StepMixed, 1+r.Int64N(6), 1+r.Int64N(3))
			case 3:
				if r.IntN(3) == 0 {
					k = profiled(end, d, trace.StepDummy, 0, 0)
				}
			}
			for left := d; left > 0; {
				n := 1 + r.Int64N(left)
				k.Parts.Class[r.IntN(StepClasses)] += n
				left -= n
			}
			if i == 0 {
				k.Duration, k.Parts = -1, nil
			}
			steps = append(steps, k)
		}
		tokens, total, unknown := bruteWaits(steps)
		r.Shuffle(len(steps), func(i, j int) { steps[i], steps[j] = steps[j], steps[i] })
		all := decomposed(t, steps...)
		d := all["tpot"]
		if tokens > 0 && (d.N != tokens || d.Total.V != float64(total)/float64(tokens) || d.Excluded["head_missing"] != unknown) {
			t.Fatalf("%d tokens in %v (%d unknown), want %d in %d (%d): %+v", d.N, d.Total, d.Excluded["head_missing"], tokens, total, unknown, steps)
		}
		for name, d := range all {
			members := int64(0)
			for i := range d.Tables {
				b := &d.Tables[i]
				members += b.N
				sum, exact := b.Residual.Mean.V, b.Residual.Sum.Int
				for _, e := range b.Entries {
					sum, exact = sum+e.Mean.V, exact+e.Sum.Int
				}
				if exact != b.Sum.Int {
					t.Fatalf("%s: parts add up to %d, not to %d", name, exact, b.Sum.Int)
				}
				if diff := sum - b.Total.V; diff > 1e-9*b.Total.V || diff < -1e-9*b.Total.V {
					t.Fatalf("%s: parts add up to %v, not to %v", name, sum, b.Total.V)
				}
			}
			if members != d.N {
				t.Fatalf("%s: tables of %d members, %d in all", name, members, d.N)
			}
		}
	}
}

// bruteWaits adds up how long each sequence of each step had waited, by the ends
// of the steps that gave or prefilled it.
func bruteWaits(steps []Step) (tokens, total, unknown int64) {
	for k := range steps {
		g := steps[k].Decoding
		j := k - 1
		q := -1
		for j >= 0 && steps[j].Kind == trace.StepPrefill {
			q = max(q, j)
			j--
		}
		for i := range g {
			switch {
			case j < 0 || q < 0 && steps[j].Kind == trace.StepDummy:
				unknown++
				continue
			case q < 0 || i < steps[j].Decoding:
				total += steps[k].End - steps[j].End
			default:
				total += steps[k].End - steps[q].End
			}
			tokens++
		}
	}
	return tokens, total, unknown
}

// TestSumsOverflow: sums beyond 64 bits are unknown, not wrong.
func TestSumsOverflow(t *testing.T) {
	const long = 1 << 61
	steps := []Step{profiled(0, -1, trace.StepDecode, 2, 0), profiled(1, long, trace.StepDecode, 2, 0, long), profiled(2, long, trace.StepDecode, 2, 0, long)}
	if d := decomposed(t, steps...)["tpot"]; d.Total.Known || d.Total.Reason != "out_of_range" || len(d.Tables) != 0 {
		t.Errorf("%+v", d)
	}
	var s sums
	s.plus(&s.total, -5, 3)
	s.plus(&s.total, 1<<62, 1)
	if s.total != 1<<62-15 || s.over > 0 {
		t.Errorf("%d, %v", s.total, s.over)
	}
	if s.plus(&s.total, 1<<62, 1); s.total != 1<<63-15 || s.over > 0 {
		t.Errorf("%d, %v", s.total, s.over)
	}
	if s.plus(&s.total, 15, 1); s.over == 0 {
		t.Errorf("%d, %v", s.total, s.over)
	}
}

// TestStepsElapsed: of steps of which the time inside is known, most parts are one,
// scheduling lies outside, and what lies between them shows over a minute only.
func TestStepsElapsed(t *testing.T) {
	elapsed := func(end, ns int64, kind trace.StepKind, g int64) Step {
		return Step{End: end, Duration: ns, Quantity: trace.Elapsed, Kind: kind, Decoding: g, Context: -1, Emitted: g}
	}
	steps := []Step{elapsed(100e9, 7e9, trace.StepDecode, 8), elapsed(120e9, 19e9, trace.StepDecode, 8), elapsed(130e9, 9e9, trace.StepMixed, 9),
		elapsed(131e9, 1e9, trace.StepDummy, 0), elapsed(165e9, 30e9, trace.StepDecode, 16)}
	memo := func(d report.Decomposition) report.Memo { return d.Memos[0] }
	line := &Timeline{Name: "0", Steps: steps, Resolution: 1e9}
	list := every(NewSteps([]*Timeline{line}), true)
	if len(list) != 2 || list[0].Of != "step" || list[0].N != 4 || list[0].Excluded["no_token"] != 1 || list[0].Total.V != (7e9+19e9+9e9+30e9)/4 {
		t.Fatalf("%d: %+v", len(list), list[0])
	}
	got := ""
	for _, b := range list[1].Tables {
		got += fmt.Sprintf("%s: %d×%g = %s; ", b.Cohort, b.N, b.Total.V, figures(&b))
	}
	want := "decode steps of 8: 2×1.3e+10 = total 2.6e+10, decode_compute merged[0,2.6e+10], communication merged[0,2.6e+10], scheduling outside_total[outside_total,outside_total], framework_overhead merged[0,2.6e+10], residual 0; "
	if !strings.HasPrefix(got, want) || !strings.Contains(got, "decode steps of 16: 1×3e+10") || !strings.Contains(got, "mixed steps of 9: 1×9e+09") || strings.Contains(got, "dummy") {
		t.Errorf("%s\nwant %s", got, want)
	}
	if b := &list[0].Tables[0]; len(b.Entries) != 1 || len(b.Entries[0].Leaves) != 6 || b.Entries[0].Term != "" {
		t.Errorf("%+v", b.Entries)
	}
	// 65 s from the first end to the last, 19 + 9 + 1 + 30 of them in 4 steps.
	if m := memo(list[0]); m.N != 4 || m.Mean.V != 6e9/4 || !strings.Contains(m.Mean.Note, "± 1s") {
		t.Errorf("%+v", m)
	}
	line.Steps[4].Duration = 38e9
	if m := memo(every(NewSteps([]*Timeline{line}), false)[0]); m.Mean.Known || m.Mean.Reason != "async" {
		t.Errorf("%+v", m)
	}
	if m := memo(every(NewSteps([]*Timeline{{Steps: steps[:4]}}), false)[0]); m.Mean.Known || m.Mean.Reason != "resolution" {
		t.Errorf("%+v", m)
	}
}

// TestStepsMean: of windows whose mean step is estimated no part is known.
func TestStepsMean(t *testing.T) {
	window := func(end, ns, g int64) Step {
		return Step{End: end, Duration: ns, Quantity: trace.Mean, Kind: trace.StepWindow, Decoding: g, Context: -1, Emitted: g}
	}
	list := every(NewSteps([]*Timeline{{Steps: []Step{window(1, 30, 4), window(2, 50, 4), window(3, -1, 5), window(4, 10, 1)}}}), true)
	if len(list) != 2 || list[0].N != 3 || list[0].Total.V != 30 || !strings.Contains(list[0].Label, "estimated") || len(list[1].Tables) != 2 {
		t.Fatalf("%d: %+v", len(list), list[0])
	}
	b := &list[1].Tables[1]
	if got, want := figures(b), "total 80, decode_compute not_recorded[0,80], communication not_recorded[0,80], scheduling not_recorded[0,80], framework_overhead not_recorded[0,80], residual 80"; b.Cohort != "windows of 4" || got != want || len(b.Entries) != 0 {
		t.Errorf("%s: %s\nwant %s", b.Cohort, got, want)
	}
}
