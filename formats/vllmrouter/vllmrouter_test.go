package vllmrouter

import (
	"context"
	"strings"
	"testing"

	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/source"
)

// TestZone: the log's own zone does not matter, since the time of routing is
// written in seconds since 1970; arrival is that less the process time.
func TestZone(t *testing.T) {
	for _, hour := range []string{"14", "06", "22"} {
		text := "[2026-02-05 " + hour + ":22:33,125] INFO: Routing request a with session id None to http://x at 1770301353.1247842, process time = 0.0013 (request.py:600:x)\n" +
			"[2026-02-05 " + hour + ":22:36,002] INFO: [a] Orchestrated streaming request completed, total time = 2.8773s (request.py:892:x)\n"
		r, err := Format.Open(context.Background(), source.FromBytes("router.log", []byte(text)), formats.Whole, formats.Options{Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if !r.Next() {
			t.Fatal("no rows", r.Err())
		}
		b := r.Batch()
		for c, want := range map[trace.Col]int64{trace.Received: 1770301353_123484200, trace.Dispatched: 1770301353_124784200, trace.Finished: 1770301356_002000000} {
			if got, ok := b.Ints(c).At(0); !ok || got != want {
				t.Errorf("at %s o'clock, %s is %d, want %d", hour, trace.Requests.Fields[c].Name, got, want)
			}
		}
		for r.Next() {
		}
	}
}

func TestSniff(t *testing.T) {
	for text, want := range map[string]formats.Score{
		"[2026-02-05 14:22:33,125] INFO: Routing request a with session id None to http://x at 1770301353.1, process time = 0.0013 (request.py:600:x)\n": formats.Sure,
		"INFO 03-01 09:00:00 [x.py:1] Added request a.\n": formats.No,
		strings.Repeat("x\n", 10):                         formats.No,
	} {
		head, err := formats.ReadHead(source.FromBytes("x", []byte(text)))
		if err != nil {
			t.Fatal(err)
		}
		if score, why := Format.Sniff(head); score != want || why == "" {
			t.Errorf("%q: %d, %s", text, score, why)
		}
	}
}
