package render

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"servescope/analyzer/report"
)

// TestIndent compares the layout with that of encoding/json.
func TestIndent(t *testing.T) {
	for _, text := range []string{
		`{}`, `[]`, `{"a":1}`, `[1,2,[],{},[[]],{"b":{"c":[null,true,-1e-9]}}]`, `"x"`,
		`{"t":"{\"a\":[1,2]}","u":"\\","v":"a,b:c","w":""}`, `[{"a":{}},{"b":[]}]`,
	} {
		var want bytes.Buffer
		if err := json.Indent(&want, []byte(text), "", "  "); err != nil {
			t.Fatal(err)
		}
		if got := indent([]byte(text)); string(got) != want.String() {
			t.Errorf("%s:\n%s\nwant\n%s", text, got, want.String())
		}
	}
}

// TestJSONInParts: a report that is written in many parts is the same text.
func TestJSONInParts(t *testing.T) {
	r := &report.Report{Schema: report.Schema}
	for i := range 200 {
		run := report.Run{Label: fmt.Sprintf("a\"],{%d", i), Notes: []string{"x", ""}}
		run.Metrics = map[string]report.Metric{"ttft": {N: 1, Mean: float64(i) / 3, Quantiles: map[string]float64{"0.5": 1, "0.25": 2}}, "e2e": {Reason: "not_recorded"}}
		run.Config = [][2]string{{"k", "v"}}
		r.Runs = append(r.Runs, run)
	}
	compact, err := r.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	var want, got bytes.Buffer
	if err := json.Indent(&want, compact, "", "  "); err != nil {
		t.Fatal(err)
	}
	want.WriteByte('\n')
	parts := 0
	if err := r.Stream(func([]byte) error { parts++; return nil }); err != nil || parts < 2 {
		t.Fatalf("%d parts, %v", parts, err)
	}
	if err := JSON(&got, r); err != nil || !bytes.Equal(got.Bytes(), want.Bytes()) {
		t.Errorf("%v: %d bytes, want %d", err, got.Len(), want.Len())
	}
	full := errors.New("full")
	if err := r.Stream(func([]byte) error { return full }); err != full {
		t.Errorf("an error of writing is %v", err)
	}
}

// TestManyRuns: thousands of runs have a line each in one table, and what is left out
// is told.
func TestManyRuns(t *testing.T) {
	r := &report.Report{Schema: report.Schema}
	for i := range 1000 {
		run := report.Run{Label: fmt.Sprintf("sweep#%d", i+1), Audit: &report.Audit{Differs: int64(i % 2)}}
		run.Requests.Total, run.Requests.OK = 4, 4
		run.Metrics = map[string]report.Metric{"ttft": {Unit: "ns", N: 4, Mean: 1e6, Quantiles: map[string]float64{"0.5": 1e6}}}
		run.Notes = []string{"a note of the run"}
		r.Runs = append(r.Runs, run)
	}
	var text bytes.Buffer
	if err := Text(&text, r, TextOptions{}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Count(text.String(), "\n")
	for _, want := range []string{"sweep#1 ", "sweep#1000 ", "for there are 1000 runs", "500 runs have figures of their producer"} {
		if strings.Count(text.String(), want) != 1 {
			t.Errorf("%q is there %d times", want, strings.Count(text.String(), want))
		}
	}
	if lines < 1000 || lines > 1030 {
		t.Errorf("%d lines for 1000 runs", lines)
	}
}
