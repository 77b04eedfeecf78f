package analyzer

import (
	"context"
	"os"
	"strings"
	"testing"

	"servescope/analyzer/diag"
	"servescope/analyzer/load"
	"servescope/analyzer/query"
	"servescope/formats/all"
	"servescope/formats/source"
)

// TestOtherFormat: the lines of another program in a log are told of, with what to
// do, unless the caller has named the format.
func TestOtherFormat(t *testing.T) {
	var text []byte
	for _, name := range []string{"tgi/json/input.jsonl", "litellm/payloads/input.jsonl"} {
		b, err := os.ReadFile("../testdata/formats/" + name)
		if err != nil {
			t.Fatal(err)
		}
		text = append(append(text, b...), '\n')
	}
	run := func(force string) (found *diag.Diag) {
		s, err := Open(context.Background(), all.Set(), &source.Inputs{List: []source.Input{{Source: source.FromBytes("x", text), Named: true}}}, force, load.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		rep, err := s.Run(context.Background(), &query.Query{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range rep.Diags {
			if rep.Diags[i].Code == "other_format" {
				found = &rep.Diags[i]
			}
		}
		return found
	}
	d := run("")
	if d == nil || d.Severity != diag.DataLoss || d.Count < 2 || !strings.Contains(d.Fix, "--input-format tgi") && !strings.Contains(d.Fix, "--input-format litellm") {
		t.Errorf("%+v", d)
	}
	if d := run("litellm"); d != nil {
		t.Errorf("as asked for: %+v", d)
	}
}
