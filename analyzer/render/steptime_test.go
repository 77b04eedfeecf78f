package render

import (
	"strings"
	"testing"

	"servescope/analyzer/decompose"
	"servescope/analyzer/report"
	"servescope/analyzer/trace"
)

// profiledRun is a run of one rank or several with the given steps each.
func profiledRun(query report.Query, ranks ...*decompose.Timeline) *report.Report {
	steps := decompose.NewSteps(ranks)
	every := steps.All()
	run := report.Run{Label: "t.json", Format: "torchtrace", Engine: "vllm", Side: "engine", Clock: "wall"}
	run.Decompositions = steps.Decompositions(every, true)
	run.Steps = []report.Steps{{Kind: "decode", Quantity: "interval", N: 3, Classes: map[string]report.Value{"compute": report.KnownInt(7, "ns")}}}
	if query.Window > 0 {
		run.Windows = []report.Window{{From: 1764428000e9, Cell: report.Cell{Decompositions: steps.Decompositions(every, false), Steps: run.Steps}}}
	}
	for _, dim := range query.By {
		run.Groups = []report.Group{{By: map[string]string{dim: "m"}, Cell: run.Cell}}
	}
	return &report.Report{Query: query, Runs: []report.Run{run}}
}

func timedStep(end, ns int64, kind trace.StepKind, g, context int64, classes ...int64) decompose.Step {
	k := decompose.Step{End: end, Index: end / 1e6, Duration: ns, Kind: kind, Decoding: g, Emitted: g, Context: context, Parts: &decompose.StepParts{KnownClass: 1<<decompose.StepClasses - 1}}
	copy(k.Parts.Class[:], classes)
	if ns < 0 {
		k.Parts = nil
	}
	return k
}

// lines returns the lines of a text with single spaces.
func lines(text string) []string {
	list := strings.Split(text, "\n")
	for i := range list {
		list[i] = strings.Join(strings.Fields(list[i]), " ")
	}
	return list
}

// wantLines checks that the given lines follow one another.
func wantLines(t *testing.T, out string, want ...string) {
	t.Helper()
	if text := strings.Join(want, "\n"); !strings.Contains("\n"+strings.Join(lines(out), "\n")+"\n", "\n"+text+"\n") {
		t.Errorf("no lines\n%s\nin\n%s", text, out)
	}
}

const ms = 1e6

func mixedTimeline(name string, tp int64) *decompose.Timeline {
	t := &decompose.Timeline{Name: name, Steps: []decompose.Step{
		timedStep(0, -1, trace.StepDecode, 2, 0),
		timedStep(20*ms, 20*ms, trace.StepDecode, 2, 0, 12*ms, 1*ms, 4*ms, 1*ms, 2*ms),
		timedStep(30*ms, 10*ms, trace.StepPrefill, 0, 2, 10*ms),
		timedStep(60*ms, 30*ms, trace.StepMixed, 3, 1, 29*ms, 0, 0, 0, 0, 0, 0, 1*ms),
		timedStep(360*ms, 300*ms, trace.StepDecode, 4, 0, 10*ms, 0, 0, 0, 290*ms),
		timedStep(380*ms, 20*ms, trace.StepDecode, 4, 0, 20*ms),
	}}
	t.Place.TP = tp
	return t
}

// TestTokenTime reads the parts of the time per token back from the text. In all:
// 2 tokens of 20; 2 of 40 and one of 30 over the prefill; 4 of 300 and of 20.
func TestTokenTime(t *testing.T) {
	r := profiledRun(report.Query{}, mixedTimeline("tp0", 0))
	out := string(render(t, text80, r))
	wantLines(t, out,
		"TPOT by part mean of 13 tokens in ms/tok, as steps tell",
		"part mean share decode mixed",
		"decode compute 17.8 16.2 % 14.4 29.0",
		"communication 0.8 0.7 % 1.0 0.0",
		"collectives 0.6 0.6 % 0.8 0.0",
		"host transfer 0.2 0.1 % 0.2 0.0",
		"scheduling 1.5 1.4 % 0.0 6.7",
		"interference 1.5 1.4 % 0.0 6.7",
		"framework overhead 89.7 81.5 % 116.6 0.0",
		"sampling 0.2 0.1 % 0.2 0.0",
		"launch wait 89.5 81.4 % 116.4 0.0",
		"residual"+note(t, out, "may contain host gap")+" 0.2 0.2 % 0.0 1.0",
		"TPOT 110.0 100.0 % 132.0 36.7",
	)
	for _, want := range []string{"TPOT is between 109.2 ms/tok and 110 ms/tok", "7.692 % of token time", "step 360 of tp0: 290 ms idle of 300 ms, 4 sequences waiting"} {
		if !strings.Contains(strings.Join(lines(out), " "), want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	wantLines(t, out,
		"steps by kind and batch size in ms",
		"steps n mean compute comm sched overhead residual",
		"prefill steps 1 10.0 10.0 0.0 0.0 0.0 0.0",
		"decode steps of 2 1 20.0 12.0 5.0 0.0 3.0 0.0",
		"decode steps of 4 2 160.0 15.0 0.0 0.0 145.0 0.0",
		"mixed steps of 3 1 30.0 29.0 0.0 0.0 0.0 1.0",
		"length from the end of the step before to the end of the step",
		"left out 1 step begun before the log")
	for _, x := range lines(out) {
		if len([]rune(x)) > 80 {
			t.Errorf("%d columns: %s", len([]rune(x)), x)
		}
	}
	if strings.Contains(out, "intervals") {
		t.Errorf("sums by class are shown beside the parts:\n%s", out)
	}
}

// TestTokenTimeRanks: a few ranks are columns, more of them rows.
func TestTokenTimeRanks(t *testing.T) {
	line := func(tp int64) *decompose.Timeline {
		t := &decompose.Timeline{Name: "tp" + string(rune('0'+tp)) + " rank7", Steps: []decompose.Step{timedStep(0, -1, trace.StepDecode, 1, 0),
			timedStep(20*ms, 20*ms, trace.StepDecode, 1, 0, (10+tp)*ms, 0, (10-tp)*ms)}}
		t.Place.TP = tp
		t.Steps[1].Parts.Memo[decompose.Transfer], t.Steps[1].Parts.Memo[decompose.Waiting] = 4*ms, (6-tp)*ms
		t.Steps[1].Parts.KnownMemo = 1<<decompose.Transfer | 1<<decompose.Waiting
		return t
	}
	r := profiledRun(report.Query{}, line(0), line(1))
	for i := range r.Runs[0].Decompositions {
		for _, b := range r.Runs[0].Decompositions[i].Tables {
			b.Memos[0].Bound, b.Memos[1].Bound = "upper", "lower"
		}
	}
	out := string(render(t, text80, r))
	wantLines(t, out, "part mean share tp0 tp1", "decode compute 10.5 52.5 % 10.0 11.0", "communication 9.5 47.5 % 10.0 9.0",
		"transfer, at most 4.0 20.0 % 4.0 4.0", "waiting, at least 5.5 27.5 % 6.0 5.0")
	var many []*decompose.Timeline
	for tp := range int64(8) {
		many = append(many, line(tp))
	}
	out = string(render(t, text80, profiledRun(report.Query{}, many...)))
	wantLines(t, out, "part mean share", "decode compute 13.5 67.5 %")
	wantLines(t, out, "TPOT by rank in ms/tok", "rank n mean compute comm sched overhead residual", "tp0 rank7 1 20.0 10.0 10.0 0.0 0.0 0.0", "tp1 rank7 1 20.0 11.0 9.0 0.0 0.0 0.0")
}

// TestTokenTimeUnknown: parts that cannot be told apart are one row, and what the
// terms can be is a footnote; where nothing can be told there is the reason.
func TestTokenTimeUnknown(t *testing.T) {
	line := mixedTimeline("tp0", 0)
	for i := range line.Steps {
		if p := line.Steps[i].Parts; p != nil {
			p.KnownClass &^= 1<<decompose.Scheduling | 1<<decompose.Communication
		}
	}
	out := string(render(t, text80, profiledRun(report.Query{}, line)))
	wantLines(t, out, "decode compute"+note(t, out, "no communication kernel was recognised: between 0.0 and 18.4 ms/tok")+" — — — —")
	wantLines(t, out, "compute + collectives (not separable) 18.4 16.7 % 15.2 29.0", "scheduling + host gap (not separable) 0.2 0.2 % 0.0 1.0")
	line.Refused = "event_without_launch"
	out = string(render(t, text80, profiledRun(report.Query{}, line)))
	wantLines(t, out, "TPOT by part", "none over 1 % of the device's time has no launching call")
	if !strings.Contains(out, "steps by kind and batch size") {
		t.Errorf("no steps in\n%s", out)
	}
}

// TestTokenTimeWindows: windows and groups are rows.
func TestTokenTimeWindows(t *testing.T) {
	out := string(render(t, text80, profiledRun(report.Query{Window: 10e9, By: []string{"model"}}, mixedTimeline("tp0", 0))))
	wantLines(t, out, "TPOT by model in ms/tok", "model n mean compute comm sched overhead residual", "m 13 110.0 17.8 0.8 1.5 89.7 0.2")
	wantLines(t, out, "TPOT in windows of 10s in ms/tok", "from n mean compute comm sched overhead residual", "14:53:20 13 110.0 17.8 0.8 1.5 89.7 0.2")
	markdown := string(render(t, Markdown, profiledRun(report.Query{}, mixedTimeline("tp0", 0))))
	if !strings.Contains(markdown, "TPOT by part") {
		t.Error("nothing of it in Markdown")
	}
}

// TestTokenTimeInCSV reads figures back from the long form.
func TestTokenTimeInCSV(t *testing.T) {
	out := string(render(t, CSV, profiledRun(report.Query{}, mixedTimeline("tp0", 0))))
	const all = "compute|sampling|communication|host_transfer|launch_wait|scheduling|host_exec"
	for _, want := range []string{
		"parts.tpot.engine,mean,110000000,ns/token,13,", "parts.tpot.engine,high,110000000,ns/token,13,", "parts.tpot.engine,excluded.head_missing,2,,,",
		"parts.tpot.engine.kind." + all + "|interference.mixed steps.interference,mean,", "parts.tpot.engine.memo.mixed_share,mean,",
		"parts.step.engine.batch." + all + ".decode steps of 2.communication,mean,4000000,ns,1,", "parts.step.engine.batch." + all + ".mixed steps of 3.t_decode_compute,mean,29000000,ns,1,",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %s in\n%s", want, out)
		}
	}
}
