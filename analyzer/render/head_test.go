package render

import (
	"regexp"
	"strings"
	"testing"

	"servescope/analyzer/report"
	"servescope/analyzer/unit"
)

// TestP85AllFailed: where no request can be counted, the head says how they
// ended by the producer's count.
func TestP85AllFailed(t *testing.T) {
	figure := func(metric string, n float64) report.Reported {
		return report.Reported{Key: metric, Metric: metric, Stat: "value", Unit: unit.Request, Value: n, Ours: report.Null("no_requests")}
	}
	for _, c := range []struct {
		reported []report.Reported
		want     string
	}{
		{[]report.Reported{figure("requests.ok", 0), figure("requests.failed", 8)}, "8, all failed (reported); there is no per-request data"},
		{[]report.Reported{figure("requests.ok", 5), figure("requests.failed", 3)}, "8: 5 ok, 3 failed (reported); there is no per-request data"},
		{[]report.Reported{figure("requests.ok", 0)}, "none succeeded (reported); there is no per-request data"},
		{[]report.Reported{figure("requests.ok", 4)}, "4 ok (reported); there is no per-request data"},
		{nil, "none: there is no per-request data"},
	} {
		r := aggregates(1)
		r.Runs[0].Reported = c.reported
		out := string(render(t, text80, r))
		if want := "requests  " + c.want + "\n"; !strings.Contains(out, want) {
			t.Errorf("want %q in\n%s", want, out)
		}
	}
}

// TestWindowsOfDays: windows of several days, and those on both sides of
// midnight, have a date; those of one day have none.
func TestWindowsOfDays(t *testing.T) {
	const midnight = 1764460800e9 // 2025-11-30 00:00:00 UTC
	for _, c := range []struct{ from, step, length int64 }{{midnight - 10e9, 10e9, 10e9}, {midnight, 3600e9, 3600e9}, {midnight - 1e6, 1e6, 1e6}} {
		r := sample()
		r.Query.Window = c.length
		run := &r.Runs[0]
		run.Windows = nil
		for i := range int64(30) {
			run.Windows = append(run.Windows, report.Window{From: c.from + i*c.step, To: c.from + i*c.step + c.length, Cell: sampleCell(250, 1)})
		}
		for i := range run.Groups {
			run.Groups[i].Windows = run.Windows
		}
		starts := regexp.MustCompile(`2025-(11-29 23:59|11-30 \d\d:\d\d|12-01 \d\d:\d\d):[\d.]+`).FindAllString(string(render(t, text80, r)), -1)
		if want := 30 * (1 + len(run.Groups)); len(starts) < want {
			t.Errorf("windows of %d ns: %d dates, want %d", c.length, len(starts), want)
		}
	}
	if out := string(render(t, text80, sample())); strings.Contains(out, "2025-11-29 14:53:30") {
		t.Error("windows of one day have a date")
	}
}

// TestSides: runs of different sides are never in one table, and a metric of
// another side than its run's is marked.
func TestSides(t *testing.T) {
	r := several()
	r.Runs[1].Side = "server"
	m := r.Runs[1].Metrics["ttft"]
	m.Side = "server"
	r.Runs[1].Metrics["ttft"] = m
	out := string(render(t, text80, r))
	tables := map[string]int{}
	for part := range strings.SplitSeq(out, "\n\n") {
		title, _, _ := strings.Cut(part, "\n")
		client, server := strings.HasSuffix(title, "client side"), strings.HasSuffix(title, "server side")
		if client && strings.Contains(part, "64.json") || server && regexp.MustCompile(`(32|28|56)\.json`).MatchString(part) {
			t.Errorf("runs of two sides are in one table\n%s", part)
		}
		if client {
			tables["client"]++
		}
		if server {
			tables["server"]++
		}
	}
	if tables["client"] < 4 || tables["server"] != 3 {
		t.Errorf("tables %v: of the one run at the server there are an overview, metrics and rates\n%s", tables, out)
	}
	if out := string(render(t, text80, several())); strings.Contains(out, ", client side\n") {
		t.Error("tables of runs of one side are marked")
	}
	r = several()
	r.Runs[2].Metrics["ttft"] = m // server side, of a run at the client
	if out := string(render(t, text80, r)); !strings.Contains(out, "server side") {
		t.Errorf("a metric of another side is not marked\n%s", out)
	}
}

// note returns the mark of a footnote.
func note(t *testing.T, out, text string) string {
	t.Helper()
	m := regexp.MustCompile(`(?m)^([⁰¹²³⁴⁵⁶⁷⁸⁹]+) ` + text + `$`).FindStringSubmatch(out)
	if m == nil {
		t.Fatalf("no footnote %q in\n%s", text, out)
	}
	return m[1]
}
