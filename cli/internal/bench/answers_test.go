//go:build unix

package main

import (
	"strings"
	"testing"
)

const peer = `{"ttft": {"n": 2, "mean": 0.2, "std": 0.1, "p50": 0.2, "p90": 0.28, "p99": 0.298, "p99.9": 0.2998},
	"tpot": {"n": 2, "mean": 0.02, "std": 0, "p50": 0.02, "p90": 0.02, "p99": 0.02, "p99.9": 0.02},
	"itl": {"n": 5, "mean": 0.02, "std": 0, "p50": 0.02, "p90": 0.02, "p99": 0.02, "p99.9": 0.02}, "tokens": 7, "tps": 12.5, "version": "x 1"}`

// TestDiffers: answers within a microsecond are the same, and any other figure
// shows.
func TestDiffers(t *testing.T) {
	var want answers
	if err := want.read([]byte(peer)); err != nil {
		t.Fatal(err)
	}
	if want.TTFT.P999 != 0.2998 || want.TPS != 12.5 || want.Version != "x 1" {
		t.Fatalf("%+v", want)
	}
	for _, c := range []struct{ from, to, part string }{
		{`0.298,`, `0.2980009,`, ""},
		{`0.298,`, `0.29800135,`, "p99 of TTFT"},
		{`"std": 0.1`, `"std": 0.1000012`, "std of TTFT"},
		{`"n": 5`, `"n": 4`, "number of ITL"},
		{`"p99.9": 0.02},`, `"p99.9": 0.0201},`, "p99.9 of TPOT"},
		{`"tokens": 7`, `"tokens": 8`, "tokens"},
		{`12.5`, `12.4999`, "per second"},
	} {
		var got answers
		if err := got.read([]byte(strings.Replace(peer, c.from, c.to, 1))); err != nil {
			t.Fatal(err)
		}
		if d := got.differs(&want); (d == "") != (c.part == "") || !strings.Contains(d, c.part) {
			t.Errorf("%s for %s: %q", c.to, c.from, d)
		}
	}
}
