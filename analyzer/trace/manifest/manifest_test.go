package manifest

import (
	"reflect"
	"strings"
	"testing"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
)

// TestRoundTrip: what a reader of the export sees of a run is what its source
// said, to the last bit of a figure.
func TestRoundTrip(t *testing.T) {
	in := &Manifest{Version: Version, Origin: "x", Inputs: []Input{{Name: "a", Format: "tokenlog", Bytes: 1 << 60, Total: 3, Parsed: 2, Noise: 1}},
		Runs: []Run{{File: "a", Meta: trace.RunMeta{Key: 1<<62 + 1, Label: "l\x00ä<", Side: trace.Engine, Clock: trace.Clock{Kind: trace.Monotonic, Source: "h"},
			Duration: 1<<62 + 3, HasDuration: true, Positions: true, Config: []trace.Pair{{Key: "k", Value: "v"}},
			Reported: []trace.Reported{{Key: "p", Metric: "ttft", Stat: "0.99", Value: 0.1 + 0.2, Unit: "ns", Step: 5e-324}},
			Doubts:   []trace.Doubt{{Key: "d", Count: 3, Why: "w"}}, Notes: []string{"n"}}}},
		Diags: []Diag{Of(diag.Diag{Code: "c", Severity: diag.DataLoss, File: "a", Offset: 7, Line: 2, Count: 4, Msg: "m", Fix: "f"})}}
	out, err := Parse([]byte(in.String()))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(out.Runs, in.Runs) || !reflect.DeepEqual(out.Inputs, in.Inputs) {
		t.Errorf("got  %+v\nwant %+v", out, in)
	}
	want := diag.Diag{Code: "c", Severity: diag.DataLoss, File: "a", Offset: 7, Line: 2, Count: 4, Msg: "m", Fix: "f"}
	if got := out.Diags[0].Restore(); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                "not valid",
		"{}":              "no version",
		`{"version":2}`:   "has version 2",
		`{"version":"1"}`: "not valid",
		`{"version":1,"runs":[{"meta":{"Side":9}}]}`:           "unknown side or clock",
		`{"version":1,"runs":[{"meta":{"Clock":{"Kind":4}}}]}`: "unknown side or clock",
	} {
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
