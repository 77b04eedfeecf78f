package render

import (
	"slices"
	"strings"
	"testing"

	"servescope/analyzer/diag"
	"servescope/analyzer/report"
	"servescope/analyzer/unit"
)

// TestParts: a table that is wider than the terminal is set in parts, each with the
// names of the rows, and together they hold every cell.
func TestParts(t *testing.T) {
	g := &grid{align: "l", head: []cell{text("run")}, rows: [][]cell{{text("a-run")}, {text("b-run")}}}
	for _, name := range []string{"alpha", "bravo", "charlie", "delta", "echo"} {
		g.head = append(g.head, text(name))
		for i := range g.rows {
			g.rows[i] = append(g.rows[i], text(name+strings.Repeat("!", i)))
		}
	}
	pairs := &grid{align: "lrlr", rows: [][]cell{{text("rate"), text("1 req/s"), text("  tps"), text("2 tok/s")}, {text("tps_ok"), text("3 tok/s")}}}
	for width := 16; width < 80; width++ {
		for _, g := range []*grid{g, pairs} {
			d := &document{sections: []section{{title: "t", lead: "about it", grid: g}}}
			w := textWriter{opt: TextOptions{Width: max(width, 20)}}
			w.document(d)
			out := w.buf.String()
			for line := range strings.Lines(out) {
				if columns(strings.TrimSuffix(line, "\n")) > max(width, 20) {
					t.Errorf("width %d: too wide: %q", width, line)
				}
			}
			words := strings.Fields(out)
			for _, row := range append(g.rows, g.head) {
				for _, c := range row {
					for _, word := range strings.Fields(c.text) {
						if !slices.Contains(words, word) {
							t.Errorf("width %d: %q is missing in\n%s", width, word, out)
						}
					}
				}
			}
			if names := strings.Count(out, "a-run"); len(g.head) > 0 && names != strings.Count("\n"+out, "\nrun") {
				t.Errorf("width %d: a block lacks its names\n%s", width, out)
			}
		}
	}
}

// TestSameClaims: a median under two keys is one column of the producers' figures,
// two different figures are two.
func TestSameClaims(t *testing.T) {
	r := aggregates(2)
	for i := range r.Runs {
		claim := func(key string, v float64) report.Reported {
			return report.Reported{Key: key, Metric: "e2e", Stat: "0.5", Unit: unit.Nanosecond, Value: v, Ours: report.Null("no_requests")}
		}
		r.Runs[i].Reported = []report.Reported{claim("median", 19e6), claim("percentiles.p50", 19e6), claim("other.p50", float64(19-i)*1e6)}
	}
	out := string(render(t, text132, r))
	if n := strings.Count(out, "e2e p50"); n != 2 {
		t.Errorf("%d columns of e2e p50, want 2:\n%s", n, out)
	}
}

// TestAbsence: that some requests failed is no reason why a metric has no value, if
// the others lack what it needs.
func TestAbsence(t *testing.T) {
	for _, c := range []struct {
		excluded map[string]int64
		want     string
	}{
		{map[string]int64{"failed": 130, "not_recorded": 20}, "not_recorded"},
		{map[string]int64{"failed": 130}, "failed"},
		{map[string]int64{"aborted": 5, "open": 4, "n_lt_2": 1, "no_token": 2}, "no_token"},
	} {
		if got := absence(&report.Metric{Reason: "failed", Excluded: c.excluded}); got != c.want {
			t.Errorf("%v: %s, want %s", c.excluded, got, c.want)
		}
	}
}

// TestRelations counts relations in words.
func TestRelations(t *testing.T) {
	for _, c := range []struct {
		checks, broken int64
		want           string
	}{
		{1, 0, "1 relation holds"}, {1, 1, "1 relation does not hold"}, {3, 0, "3 relations all hold"},
		{3, 1, "3 relations 2 hold, 1 does not"}, {3, 2, "3 relations 1 hold, 2 do not"}, {3, 3, "3 relations none holds"},
	} {
		r := sample()
		r.Runs[0].Audit = &report.Audit{Checks: c.checks, Broken: c.broken}
		if out := string(render(t, text80, r)); !slices.Contains(lines(out), c.want) {
			t.Errorf("no line %q in\n%s", c.want, out)
		}
	}
}

// TestNothingCompared: an audit that compared nothing has no section.
func TestNothingCompared(t *testing.T) {
	r := aggregates(1)
	for _, c := range []struct {
		audit report.Audit
		want  bool
	}{
		{report.Audit{Figures: 10, Unchecked: 10}, false}, {report.Audit{Figures: 10, Unchecked: 10, Checks: 1}, true},
		{report.Audit{Figures: 10, Unchecked: 9, Equal: 1}, true}, {report.Audit{Figures: 1, Unchecked: 1, Findings: []report.Finding{{Kind: "impossible", Key: "k"}}}, true},
	} {
		r.Runs[0].Audit = &c.audit
		if out := string(render(t, text80, r)); strings.Contains(out, "\naudit") != c.want {
			t.Errorf("%+v: a section is %t in\n%s", c.audit, !c.want, out)
		}
	}
}

// TestSaidOnce: a note that gives the advice of a diagnostic is not printed, another is.
func TestSaidOnce(t *testing.T) {
	r := aggregates(1)
	r.Runs[0].Notes = []string{"this file holds no per-request data; save the details", "this file holds no per-request data; save the details to see why"}
	r.Diags = []diag.Diag{{Code: "no_requests", Severity: diag.Notice, Count: 1, Fix: "save the details"}}
	if out := string(render(t, text132, r)); strings.Count(out, "save the details\n") != 1 || !strings.Contains(out, "save the details to see why\n") {
		t.Error(out)
	}
	r.Diags = nil
	if out := string(render(t, text132, r)); strings.Count(out, "save the details\n") != 1 {
		t.Error(out)
	}
}

// TestScaled: times in notes are scaled when they are printed; numbers that are a
// part of something else stay.
func TestScaled(t *testing.T) {
	for note, want := range map[string]string{
		"span_end: here 140000 ns after the latency":                               "here 140 µs after the latency",
		"device 0: 186841919 ns in 7 intervals = compute 113483682 ns + idle 0 ns": "186.8 ms in 7 intervals = compute 113.5 ms + idle 0 ns",
		"nccl 58224007 ns (7.278 ms a step)":                                       "nccl 58.22 ms (7.278 ms a step)",
		"0.5 ns, r17 ns, 12 nsx, ns":                                               "0.5 ns, r17 ns, 12 nsx, ns",
	} {
		if got := words(note); got != want && got != "device 0: "+want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
