package render

import (
	"bytes"
	stdcsv "encoding/csv"
	"regexp"
	"strings"
	"testing"

	"servescope/analyzer/report"
	"servescope/analyzer/unit"
)

// engineSteps is a server log and a profiler trace as one run.
func engineSteps() *report.Report {
	r := sample()
	none := report.Gauge{Mean: report.Null("not_recorded"), Max: report.Null("not_recorded")}
	gauge := func(n int64, mean, most float64, u unit.Unit) report.Gauge {
		return report.Gauge{N: n, Mean: report.Known(mean, u), Max: report.Known(most, u)}
	}
	at := func(v int64) report.Value { return report.KnownInt(v, unit.Nanosecond) }
	r.Runs[0].Steps = []report.Steps{
		{Replica: "0", Kind: "window", N: 85, From: at(1764428000e9), To: at(1764428720e9), Resolution: at(1e9), Running: gauge(48, 1.354, 4, ""),
			Waiting: gauge(48, 0.25, 3, ""), KVUsage: gauge(85, 0.01127, 0.029, unit.Ratio), PromptTPS: gauge(85, 3893, 19956, unit.TokenRate),
			GenerationTPS: gauge(80, 28.74, 198.7, unit.TokenRate), AfterIdle: 5, Duration: none, Total: report.Null("not_recorded")},
		{Rank: "tp1", Kind: "decode", Quantity: "interval", N: 8, From: report.Null("clock"), To: report.Null("clock"), Resolution: at(1),
			Running: gauge(8, 1, 1, ""), Waiting: none, KVUsage: none, PromptTPS: none, GenerationTPS: none, Duration: gauge(7, 26.69e6, 27.21e6, unit.Nanosecond),
			Total: at(186841919), Classes: map[string]report.Value{"compute": at(120098651), "host_gap": at(66743268)}},
	}
	return r
}

// TestSteps reads what the engine said of its steps back from the text.
func TestSteps(t *testing.T) {
	out := string(render(t, text132, engineSteps()))
	fields := func(start string) string {
		m := regexp.MustCompile(`(?m)^`+start+` .*$`).FindAllString(out, -1)
		for i := range m {
			m[i] = strings.Join(strings.Fields(m[i]), " ")
		}
		return strings.Join(m, "\n")
	}
	behind := note(t, out, "stated by 80 of 85 lines, without 5 behind a pause, whose rates count it")
	some := note(t, out, "stated by 48 of 85 lines")
	part := note(t, out, "stated by 7 of 8 lines")
	for start, want := range map[string]string{
		"0":       "0 window 85 1.354 (4)" + some + " 0.250 (3)" + some + " 1.127 (2.900) 3893 (19956) 28.74 (198.7)" + behind + " —",
		"tp1":     "tp1 decode 8 1 (1) — — — — 26.69 (27.21)" + part + "\ntp1 decode 8 186.84 120.10 66.74",
		"stamps":  "stamps over 12 min, 2025-11-29 14:53:20 to 2025-11-29 15:05:20 UTC, in steps of 1 s",
		"means":   "means over lines, not over time: they do not say how long they hold",
		"replica": "replica kind n running waiting KV cache prompt generation length\nreplica kind n total compute gap",
	} {
		if got := fields(start); got != want {
			t.Errorf("%s:\n got %s\nwant %s\n%s", start, got, want, out)
		}
	}
	if out := string(render(t, text80, sample())); strings.Contains(out, "engine steps") {
		t.Error("a run without steps has a section of them")
	}
}

// TestTimedSteps: the table says which means are over time.
func TestTimedSteps(t *testing.T) {
	r := engineSteps()
	timed := &r.Runs[0].Steps[1].Running
	timed.Timed, timed.Mean, timed.Max = true, report.Known(2.5, unit.None), report.Known(3, unit.None)
	out := string(render(t, text80, r))
	if mark := note(t, out, "mean over time: each line says how long it holds"); !strings.Contains(out, "2.500 (3)"+mark) || !strings.Contains(out, "where no footnote") {
		t.Errorf("no mark of the mean over time in\n%s", out)
	}
	r.Runs[0].Steps = r.Runs[0].Steps[1:]
	if out = string(render(t, text80, r)); !strings.Contains(out, "over time: each line says how long it holds") || strings.Contains(out, "footnote") {
		t.Errorf("means over time alone are\n%s", out)
	}
	if out = string(render(t, CSV, r)); !strings.Contains(out, "steps.tp1.decode.interval.running,time_mean,2.5") {
		t.Errorf("no mean over time in\n%s", out)
	}
}

// TestStepsInWindows: steps are in tables of their own by window and group, and
// a run without requests has no table of requests.
func TestStepsInWindows(t *testing.T) {
	r := engineSteps()
	run := &r.Runs[0]
	steps := run.Steps[:1]
	run.Cell = report.Cell{Steps: steps}
	run.Groups = []report.Group{{By: map[string]string{"model": "m"}, Cell: report.Cell{Steps: steps}, Windows: []report.Window{{From: 1764428000e9, Cell: report.Cell{Steps: steps}}}}}
	run.Windows = []report.Window{{From: 1764428000e9, Cell: report.Cell{Steps: steps}}, {From: 1764428010e9, Cell: report.Cell{Steps: steps}}, {From: 1764428020e9}}
	r.Query = report.Query{Window: 10e9, By: []string{"model"}}
	lines := strings.Split(string(render(t, text80, r)), "\n")
	for i := range lines {
		lines[i] = strings.Join(strings.Fields(lines[i]), " ")
	}
	out := strings.Join(lines, "\n")
	for _, want := range []string{
		"engine steps in windows of 10s mean (max) of lines, as logged\nfrom replica n running",
		"\n14:53:20 0 85 1.354", "\n14:53:30 0 85 1.354",
		"engine steps by model mean (max) of lines, as logged\nmodel replica n", "\nm 0 85 1.354",
		"windows of engine steps by model mean", "\nm 14:53:20 0 85",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if strings.Contains(out, "ttft p50") {
		t.Errorf("a run without requests has a table of them:\n%s", out)
	}
	r.Query.By = []string{"replica"}
	run.Groups[0].By = map[string]string{"replica": "0"}
	if out := string(render(t, text80, r)); strings.Contains(out, "engine steps by") {
		t.Errorf("replicas are told apart twice:\n%s", out)
	}
}

// TestStepsInCSV reads the figures of steps back from the CSV.
func TestStepsInCSV(t *testing.T) {
	rows, err := stdcsv.NewReader(bytes.NewReader(render(t, CSV, engineSteps()))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, row := range rows {
		got[row[5]+" "+row[6]] = strings.Join(row[7:], "|")
	}
	for key, want := range map[string]string{
		"steps.0.window n":                         "85|||",
		"steps.0.window after_idle":                "5|||",
		"steps.0.window to":                        "1764428720000000000|ns||",
		"steps.0.window.kv_usage mean":             "0.01127|ratio|85|",
		"steps.0.window.duration total":            "||" + "|not_recorded",
		"steps.tp1.decode.interval from":           "||" + "|clock",
		"steps.tp1.decode.interval.waiting max":    "||0|not_recorded",
		"steps.tp1.decode.interval.compute total":  "120098651|ns||",
		"steps.tp1.decode.interval.duration total": "186841919|ns||",
	} {
		if got[key] != want {
			t.Errorf("%s is %q, want %q", key, got[key], want)
		}
	}
}
