package render

import (
	"bytes"
	"maps"
	"strings"
	"testing"

	"servescope/analyzer/report"
	"servescope/analyzer/unit"
)

func nanos(v float64) report.Value { return report.Known(v, unit.Nanosecond) }

// part is an entry whose mean is v of a total of 100 ms.
func part(v float64, term string, leaves ...string) report.Entry {
	return report.Entry{Leaves: leaves, Term: term, Mean: nanos(v), Share: report.Known(v/100e6, unit.Ratio), Resolution: report.Null("not_recorded")}
}

// staged is a server whose requests have two sets of stages, in groups and
// windows of 10 s.
func staged() *report.Report {
	r := sample()
	whole := report.Breakdown{
		Signature: "queue, prefill, input+ingress+egress", N: 90, Share: report.Known(0.9, unit.Ratio), Total: nanos(100e6),
		Entries:  []report.Entry{part(30e6, "t_queue", "queue"), part(62e6, "t_prefill_compute", "prefill"), part(8e6, "", "input", "ingress", "egress")},
		Residual: report.Residual{Mean: nanos(0), Share: report.Known(0, unit.Ratio)},
		Leaves:   []report.Leaf{{Name: "network", State: "null", Reason: "outside_total"}, {Name: "queue", State: "value"}},
		Terms: []report.Term{
			{Name: "t_queue", Mean: report.Null("not_separable"), Low: nanos(30e6), High: nanos(38e6)},
			{Name: "t_input_processing", Mean: report.Null("not_separable"), Low: nanos(0), High: nanos(8e6)},
			{Name: "t_prefill_compute", Mean: nanos(62e6), Low: nanos(62e6), High: nanos(62e6)},
		},
		Memos: []report.Memo{{Name: "multimodal", Mean: nanos(2.5e6), N: 7}},
		Tails: []report.Tail{{Rank: "0.9", From: nanos(410e6), N: 9, Total: nanos(450e6), Entries: []report.Value{nanos(380e6), nanos(61e6), nanos(9e6)}, Residual: nanos(0)}},
	}
	odd := report.Breakdown{
		Signature: "queue, ingress", N: 10, Share: report.Known(0.1, unit.Ratio), Total: nanos(100e6),
		Entries:  []report.Entry{part(-20e6, "t_queue", "ingress"), part(30e6, "t_queue", "queue")},
		Residual: report.Residual{Mean: nanos(90e6), Share: report.Known(0.9, unit.Ratio), Negative: 1, Reason: "overlap", MayContain: []string{"prefill", "egress"}},
		Leaves:   []report.Leaf{{Name: "input", State: "null", Reason: "outside_total"}, {Name: "prefill", State: "null", Reason: "not_recorded"}, {Name: "egress", State: "null", Reason: "not_recorded"}},
		Terms:    []report.Term{{Name: "t_prefill_compute", Mean: report.Null("not_recorded"), Low: nanos(-1e6), High: nanos(91e6)}},
	}
	odd.Entries[0].Negative, odd.Entries[0].Reason, odd.Entries[1].Resolution = 10, "order", report.KnownInt(10e6, unit.Nanosecond)
	all := report.Decomposition{
		Of: "ttft", Side: "server", N: 100, Total: nanos(100e6), Excluded: map[string]int64{"failed": 3}, Censored: 2,
		Late: map[string]report.Value{"0.5": nanos(90e6), "0.99": report.Null("unbounded")}, Tables: []report.Breakdown{whole, odd},
		Notes: []string{"first_event: 1 of 100 totals end at the first event, the only one recorded"},
	}
	run := &r.Runs[0]
	run.Decompositions = []report.Decomposition{all}
	r.Query.By, r.Query.Window = []string{"tenant"}, 10e9
	part := all
	part.N, part.Tables = 40, []report.Breakdown{whole}
	part.Tables[0].N = 30
	idle := run.Cell
	idle.Metrics = maps.Clone(idle.Metrics)
	busy := idle
	busy.Decompositions, idle.Decompositions = []report.Decomposition{part}, nil
	run.Groups = []report.Group{{By: map[string]string{"tenant": "a"}, Cell: busy}, {By: map[string]string{"tenant": "b"}, Cell: idle}}
	run.Windows = []report.Window{{From: 1764428000e9, To: 1764428010e9, Cell: busy}, {From: 1764428010e9, To: 1764428020e9, Cell: idle}}
	return r
}

func TestDecompositionGolden(t *testing.T) {
	golden(t, "stages.txt", render(t, text80, staged()))
	golden(t, "stages.md", render(t, Markdown, staged()))
	var rows bytes.Buffer
	for line := range strings.Lines(string(render(t, CSV, staged()))) {
		if strings.Contains(line, ",parts.") {
			rows.WriteString(line)
		}
	}
	golden(t, "stages.csv", rows.Bytes())
	for line := range strings.Lines(string(render(t, text80, staged()))) {
		if n := columns(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

// TestClientsTellNoStages: a run of a client says so in one line.
func TestClientsTellNoStages(t *testing.T) {
	r := sample()
	before := strings.Count(string(render(t, text80, r)), "\n")
	r.Runs[0].Decompositions = []report.Decomposition{{Of: "ttft", Side: "client", N: 9, Total: nanos(1e6), Tables: []report.Breakdown{{
		N: 9, Total: nanos(1e6), Residual: report.Residual{Mean: nanos(1e6), MayContain: []string{"network", "prefill"}},
	}}}}
	out := string(render(t, text80, r))
	if !strings.Contains(out, "\nttft by stage  no server stamps: residual = total\n") || strings.Count(out, "\n") != before+2 {
		t.Errorf("%d lines more:\n%s", strings.Count(out, "\n")-before, out)
	}
}
