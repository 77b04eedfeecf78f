package decompose

import (
	"fmt"
	"strings"
	"testing"

	"servescope/analyzer/collective"
	"servescope/analyzer/report"
	"servescope/analyzer/trace"
)

// TestStepShare divides the communication of two ranks. The first begins its
// collective 12 ns before the second does, on a clock of its own, and a kernel of
// its neighbour hides 3 ns of that.
func TestStepShare(t *testing.T) {
	rank := func(name string, tp int64, step Step, kernels ...collective.Kernel) *Timeline {
		first := profiled(step.End-step.Duration, -1, trace.StepDecode, 1, 0)
		return &Timeline{Name: name, World: 2, Place: collective.Place{DP: -1, TP: tp, PP: -1, EP: -1, Rank: tp}, Steps: []Step{first, step}, Kernels: kernels}
	}
	kernel := func(start, d int64, exposed ...int64) collective.Kernel {
		return collective.Kernel{Name: "nccl", Start: start, Duration: d, Exposed: exposed}
	}
	lines := func() []*Timeline {
		return []*Timeline{
			rank("tp0", 0, profiled(200, 100, trace.StepDecode, 1, 0, 73, 0, 27), kernel(150, 30, 0, 10, 13, 17)),
			rank("tp1", 1, profiled(1200, 100, trace.StepDecode, 1, 0, 82, 0, 18), kernel(1162, 18, 0, 18)),
		}
	}
	memos := func(list []report.Decomposition) string {
		var out []string
		for _, d := range list {
			if d.By != "rank" {
				continue
			}
			for _, b := range d.Tables {
				for _, m := range b.Memos {
					out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %g %s", b.Cohort, m.Name, m.Mean.V, m.Bound)))
				}
			}
		}
		return strings.Join(out, ", ")
	}
	// 30 of the first are 12 of waiting, of which 3 are not exposed but for the 10
	// before them, then 18 of transfer, of which one is hidden.
	want := "tp0 communication_transfer 17, tp0 communication_wait 10, tp0 communication_unsplit 0, tp1 communication_transfer 18, tp1 communication_wait 0, tp1 communication_unsplit 0"
	list := every(NewSteps(lines()), true)
	if got := memos(list); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	for _, d := range list {
		for _, n := range d.Notes {
			if strings.Contains(n, "at hand") {
				t.Errorf("all ranks are at hand: %s", n)
			}
		}
	}
	some := lines()
	some[0].World, some[1].World = 4, 4
	list = every(NewSteps(some), true)
	if got := memos(list); !strings.Contains(got, "transfer 17 upper") || !strings.Contains(got, "wait 10 lower") || !strings.Contains(fmt.Sprint(list[0].Notes), "2 of 4 ranks") {
		t.Errorf("%s; %s", got, list[0].Notes)
	}
	for name, change := range map[string]func([]*Timeline){
		"more than once":    func(l []*Timeline) { l[0].Kernels = append(l[0].Kernels, l[0].Kernels[0]) },
		"different steps":   func(l []*Timeline) { l[1].Kernels = append(l[1].Kernels, collective.Kernel{Index: 1}) },
		"is send on rank 1": func(l []*Timeline) { l[1].Kernels[0].Name = "send" },
	} {
		l := lines()
		change(l)
		list := every(NewSteps(l), true)
		if got := memos(list); got != "" || !strings.Contains(fmt.Sprint(list[0].Notes), name) {
			t.Errorf("%s: %s; %s", name, got, list[0].Notes)
		}
	}
	l := lines() // the parts do not add up to the class
	l[0].Steps[1].Parts.Class[Communication]++
	if got := memos(every(NewSteps(l), true)); strings.Contains(got, "tp0") || !strings.Contains(got, "tp1") {
		t.Error(got)
	}
}

// TestStepShareAcross: a collective that ends in another interval than it begins
// in is divided in both.
func TestStepShareAcross(t *testing.T) {
	line := func(tp int64, d int64) *Timeline {
		steps := []Step{profiled(100, -1, trace.StepDecode, 1, 0), profiled(200, 100, trace.StepDecode, 1, 0, 60, 0, 40), profiled(300, 100, trace.StepDecode, 1, 0, 80, 0, 20)}
		return &Timeline{Name: fmt.Sprint("tp", tp), World: 2, Place: collective.Place{TP: tp, Rank: tp}, Steps: steps,
			Kernels: []collective.Kernel{{Name: "nccl", Start: 160, Duration: d, Exposed: []int64{0, 60}}}}
	}
	first := line(0, 60)
	NewSteps([]*Timeline{first, line(1, 35)})
	for i, want := range []string{"", "15 25 0", "20 0 0"} { // waiting ends at 185
		if i == 0 {
			continue
		}
		m := first.Steps[i].Parts.Memo
		if got := fmt.Sprint(m[Transfer], m[Waiting], m[Unsplit]); got != want {
			t.Errorf("step %d: %s, want %s", i, got, want)
		}
	}
}
