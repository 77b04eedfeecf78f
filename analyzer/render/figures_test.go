package render

import (
	"fmt"
	"strings"
	"testing"

	"servescope/analyzer/report"
	"servescope/analyzer/unit"
)

// TestManyFigures: of many figures each is shown, those of a metric of ours in the row
// of their distribution and the others one by one.
func TestManyFigures(t *testing.T) {
	run := report.Run{Format: "locust"}
	for i := range manyFigures + 5 {
		run.Reported = append(run.Reported, report.Reported{Key: fmt.Sprintf("figure%02d", i), Stat: "0.9", Value: float64(i+1) * 1e6, Unit: unit.Nanosecond})
	}
	text := func() string {
		var b strings.Builder
		if err := Text(&b, &report.Report{Runs: []report.Run{run}}, TextOptions{}); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	got := text()
	for i := range run.Reported {
		if !strings.Contains(got, run.Reported[i].Key+"  ") {
			t.Errorf("%s is not shown", run.Reported[i].Key)
		}
	}
	if strings.Contains(got, "distribution") {
		t.Error("a table without rows is shown")
	}
	run.Reported = append(run.Reported, report.Reported{Key: "p99_ttft_ms", Metric: "ttft", Stat: "0.99", Value: 7.25e8, Unit: unit.Nanosecond})
	if got = text(); !strings.Contains(got, "distribution") || !strings.Contains(got, "725") || !strings.Contains(got, "figure44") {
		t.Error(got)
	}
}
