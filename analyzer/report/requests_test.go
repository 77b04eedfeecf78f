package report

import (
	"encoding/json"
	"strings"
	"testing"

	"servescope/analyzer/unit"
)

// TestUnknownRequests: counts of a run without rows are null in JSON, in the
// schema and in the long form.
func TestUnknownRequests(t *testing.T) {
	cell := Cell{Requests: Requests{Reason: "no_requests", Claimed: &ClaimedRequests{OK: KnownInt(5, unit.Request), Failed: Null("not_recorded")}}}
	rep := Report{Schema: Schema, Runs: []Run{{Label: "a", Cell: cell}, {Label: "b", Cell: Cell{Requests: Requests{Reason: "no_requests"}}}}}
	out, err := json.Marshal(rep)
	if err != nil {
		t.Fatal(err)
	}
	validate(t, out)
	for _, want := range []string{
		`"failed":null,"aborted":null,"empty":null,"open":null,"head_missing":null,"filtered":null,"end_later":null,"begun_earlier":null,"reason":"no_requests","claimed":{"ok":{"value":5,"unit":"requests"},"failed":{"value":null,"reason":"not_recorded"}}}`,
		`"filtered":null,"end_later":null,"begun_earlier":null,"reason":"no_requests"}`,
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("%s is not in %s", want, out)
		}
	}
	n := 0
	for row := range rep.Tidy() {
		if row.Metric == "requests" {
			if n++; row.Value.Known || row.Value.Reason != "no_requests" {
				t.Errorf("%s %s: %+v", row.Run, row.Stat, row.Value)
			}
		}
	}
	if n != 20 {
		t.Errorf("%d counts", n)
	}
}
