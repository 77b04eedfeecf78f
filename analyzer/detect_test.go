package analyzer

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"servescope/analyzer/load"
	"servescope/analyzer/query"
	"servescope/formats"
	"servescope/formats/all"
)

// TestForcedWithin: what the caller says of the lines of a process, their format or what
// their columns mean, is said of those within the records of a log collector, too.
func TestForcedWithin(t *testing.T) {
	const (
		pairs  = "time=2026-03-01T10:00:01Z level=INFO msg=done request_id=a ttft_ms=80 duration=1s"
		mapped = "time=2026-03-01T10:00:01Z level=INFO msg=done job=a everything=1000"
		object = `{"request_id":"a","arrival":1772359200,"token_timestamps":[1772359200.08,1772359201]}`
		answer = `{"status":"success","data":{"resultType":"streams","result":[{"stream":{},"values":[["1",%s]]}]}}`
		record = `{"timestamp":1796047501120,"message":%s}` + "\n"
		table  = "@timestamp,@message\n1,%s\n"
	)
	for _, c := range []struct{ line, frame, force, spec string }{
		{pairs, answer, "logfmt", ""}, {pairs, record, "logfmt", ""}, {pairs, table, "logfmt", ""}, {pairs, "%s\n", "logfmt", ""},
		{object, answer, "tokenlog", ""}, {object, record, "tokenlog", ""}, {object, "%s\n", "tokenlog", ""},
		{mapped, answer, "", "e2e=everything:ms"},
	} {
		text := []byte(c.line)
		if c.frame == answer || c.frame == record {
			text, _ = json.Marshal(c.line)
		}
		opt := load.Options{Workers: 1}
		if c.spec != "" {
			opt.Map = []string{c.spec, "id=job"}
		}
		s, err := Open(t.Context(), all.Set(), inputsOf(textFile{name: "x", text: fmt.Sprintf(c.frame, text)}), c.force, opt)
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.Run(t.Context(), &query.Query{})
		s.Close()
		if err != nil {
			t.Errorf("%s of %s: %v", c.force, c.frame, err)
		} else if len(r.Runs) != 1 || r.Runs[0].Requests.OK != 1 {
			t.Errorf("%s of %s: %+v", c.force, c.frame, r.Runs)
		}
	}
}

// TestReasons: a few formats say each why a file is not of theirs, many do not fill
// the page of the files beside it.
func TestReasons(t *testing.T) {
	tried := func(n int) error {
		e := &formats.DetectError{}
		for range n {
			e.Tried = append(e.Tried, formats.Attempt{Format: &formats.Format{Name: "f"}, Reason: "no"})
		}
		return e
	}
	for n, want := range map[int]string{
		2:  "no format recognises it (f: no; f: no)",
		21: "none of 21 formats recognises it; inspect it alone to see why",
	} {
		if got := load.Reasons(tried(n)); got != want {
			t.Errorf("%d formats: %q, want %q", n, got, want)
		}
	}
	if got := load.Reasons(errors.New("torn")); got != "torn" {
		t.Errorf("another error is %q", got)
	}
}
