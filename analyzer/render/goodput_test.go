package render

import (
	"testing"

	"servescope/analyzer/report"
	"servescope/analyzer/unit"
)

func TestGoodputLine(t *testing.T) {
	g := &report.Goodput{
		SLO: []string{"ttft.client=500ms", "tpot=50ms"}, Denominator: 11, Good: 3, Unknown: 1, Missed: 7, Share: report.Null("unknown_verdicts"),
		ShareLow: report.Known(3.0/11, unit.Ratio), ShareHigh: report.Known(4.0/11, unit.Ratio), Rate: report.Null("unknown_verdicts"),
		MissedBy:   map[string]int64{"ttft.client": 3, "aborted": 2},
		Conditions: []report.Condition{{Limit: "ttft.client=500ms", Met: 3}, {Limit: "tpot=50ms", NotApplicable: 1}},
		Aborts:     "missed", Beside: &report.Shares{Denominator: 9, Share: report.Known(1.0/3, unit.Ratio)},
	}
	b := &builder{&document{}, new(report.Report)}
	const want = "27.27 % to 36.36 % of 11 meet ttft.client=500ms, tpot=50ms; missed: ttft.client 3, aborted 2; 1 unknown; not applicable: tpot to 1; without aborted requests 33.33 % of 9"
	if l := goodputLine(b, g); len(l) != 1 || l[0].text != want {
		t.Errorf("%q, want %q", l[0].text, want)
	}
	g.Aborts = "exclude"
	if l := goodputLine(b, g); l[0].text != want[:len(want)-len("without aborted requests 33.33 % of 9")]+"with aborted requests as missed 33.33 % of 9" {
		t.Errorf("%q", l[0].text)
	}
}
