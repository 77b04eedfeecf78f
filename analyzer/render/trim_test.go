package render

import (
	"strings"
	"testing"

	"servescope/analyzer/report"
)

// textOf is the text of a report with its white space made single.
func textOf(t *testing.T, r *report.Report) string {
	t.Helper()
	var b strings.Builder
	if err := Text(&b, r, TextOptions{Width: 100}); err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// trimmed is a report of a run that a steady trim leaves n of 1000 requests of.
func trimmed(n int64) *report.Report {
	whole := sampleCell(1000, 1)
	run := report.Run{Label: "a", Untrimmed: &whole, Removed: report.Removed{Trim: 1000 - n}}
	if n > 0 {
		run.Cell = sampleCell(n, 1)
	}
	run.Requests.Filtered = 1000 - n
	return &report.Report{Schema: report.Schema, Query: report.Query{Trim: "steady"}, Runs: []report.Run{run}}
}

func TestTextOfATrim(t *testing.T) {
	text := textOf(t, trimmed(800))
	const want = "before the trim 1000 requests, over 42.13 s, mean ttft"
	if !strings.Contains(text, want) {
		t.Errorf("%q is not in\n%s", want, text)
	}
	// the plateau from 3.2 s to 38.65 s after the first send is that of the whole run
	if n := strings.Count(text, "steady from"); n != 1 || !strings.Contains(text, "steady from +3.200 s to +38.65 s") {
		t.Errorf("steady from %d times in\n%s", n, text)
	}
}

func TestTextOfNothingLeft(t *testing.T) {
	r := trimmed(0)
	r.Runs[0].Untrimmed.Concurrency.SteadyFrom = report.Null("open_loop")
	const all = "requests none: all 1000 are left out by the query"
	if text := textOf(t, r); !strings.Contains(text, all+"; no steady window: open loop") {
		t.Error(text)
	}
	r.Query.Trim, r.Runs[0].Untrimmed = "", nil
	if text := textOf(t, r); !strings.Contains(text, all) || strings.Contains(text, "steady") {
		t.Error(text)
	}
}

func TestTextOfSeveralModels(t *testing.T) {
	r := trimmed(800)
	r.Runs[0].Models = []string{"a", "b", "c"}
	if text := textOf(t, r); !strings.Contains(text, "model 3 models: a, b, c") {
		t.Error(text)
	}
	for range shownModels {
		r.Runs[0].Models = append(r.Runs[0].Models, "more")
	}
	if text := textOf(t, r); !strings.Contains(text, "model 13 models: a, b, c, more") || !strings.Contains(text, " and 3 more") {
		t.Error(text)
	}
}
