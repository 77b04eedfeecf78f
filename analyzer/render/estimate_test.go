package render

import (
	"strings"
	"testing"

	"servescope/analyzer/report"
	"servescope/analyzer/unit"
)

// guessed is a run with an estimate of one part that cannot be told, and one of
// which nothing can.
func guessed() *report.Report {
	r := sample()
	entry := func(v, low, high float64, leaves ...string) report.Entry {
		return report.Entry{Leaves: leaves, Mean: nanos(v), Share: report.Known(v/20e6, unit.Ratio), Low: nanos(low), High: nanos(high), Resolution: report.Null("not_recorded")}
	}
	null := report.Null("not_identifiable")
	table := report.Breakdown{
		Signature: "floor+load, stall", N: 5000, Share: report.Known(1, unit.Ratio), Total: nanos(20e6),
		Entries:  []report.Entry{entry(15e6, 14e6, 15.5e6, "floor", "load"), entry(1e6, 1e6, 1e6, "stall")},
		Residual: report.Residual{Mean: nanos(4e6), Share: report.Known(0.2, unit.Ratio), MayContain: []string{"interference", "rest"}},
		Leaves: []report.Leaf{{Name: "floor", State: "merged"}, {Name: "load", State: "merged"}, {Name: "interference", State: "null", Reason: "unexplained_stalls"},
			{Name: "stall", State: "value"}, {Name: "rest", State: "null", Reason: "unexplained_stalls"}},
		Terms: []report.Term{{Name: "decode_compute", Mean: null, Low: null, High: null}, {Name: "communication", Mean: null, Low: null, High: null}},
		Notes: []string{"unexplained_stalls: requests are probably missing", "estimate: mean over tokens behind the first, of 90 requests", "model: 400 steps, 300 clean"},
	}
	r.Runs[0].Decompositions = []report.Decomposition{
		{Of: "tpot", Side: "server", Label: report.Estimated, Members: "tokens", N: 5000, Total: nanos(20e6), Excluded: map[string]int64{"few_steps": 70},
			Tables: []report.Breakdown{table}, Notes: []string{"few_steps: too few"}},
		{Of: "tpot", Side: "client", Label: report.Estimated, Members: "tokens", Total: report.Null("steps_not_resolvable"), Excluded: map[string]int64{"steps_not_resolvable": 9},
			Notes: []string{"steps_not_resolvable: stamps do not tell steps apart", "gaps: 2 of 9 gaps are longer than three medians: 50 % of the time"},
			Gaps:  []report.Gap{{Request: "a|b", At: report.KnownInt(5, unit.Nanosecond), Duration: 90e6}, {At: report.KnownInt(6, unit.Nanosecond), Duration: 80e6}}},
	}
	return r
}

func TestEstimateGolden(t *testing.T) {
	golden(t, "estimate.txt", render(t, text80, guessed()))
	golden(t, "estimate.md", render(t, Markdown, guessed()))
	for line := range strings.Lines(string(render(t, text80, guessed()))) {
		if n := columns(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	rows := string(render(t, CSV, guessed()))
	for _, want := range []string{"parts.tpot.server.estimated.floor+load|stall.floor+load,low,14000000", "parts.tpot.server.estimated,excluded.few_steps,70"} {
		if !strings.Contains(rows, want) {
			t.Errorf("no %q", want)
		}
	}
}

// TestEstimateByWindow: windows and groups with an estimate are rows, with the
// share of each part.
func TestEstimateByWindow(t *testing.T) {
	r := guessed()
	run := &r.Runs[0]
	cell := report.Cell{Decompositions: run.Decompositions[:1]}
	run.Groups = []report.Group{{By: map[string]string{"model": "m"}, Cell: cell, Windows: []report.Window{{From: 1764428000e9, To: 1764428010e9, Cell: cell}}}}
	run.Windows = []report.Window{{From: 1764428000e9, To: 1764428010e9, Cell: cell}, {From: 1764428010e9, To: 1764428020e9}}
	r.Query.By, r.Query.Window = []string{"model"}, 10e9
	text := string(render(t, text80, r))
	for _, want := range []string{
		"TPOT by timestamps by model", "TPOT by timestamps in windows of 10s", "TPOT by timestamps in windows by model",
		"tokens ms floor load interf stall rest",
		"m 5000 20.0 75 % in floor — 5 % 20 %", "14:53:20 5000 20.0 75 % in floor — 5 % 20 %",
	} {
		if !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for line := range strings.Lines(text) {
		if n := columns(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}
