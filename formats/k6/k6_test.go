package k6

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/source"
)

func read(t *testing.T, text string) (sent, finished []int64, r formats.Reader) {
	t.Helper()
	r, err := Format.Open(context.Background(), source.FromBytes("t", []byte(text)), formats.Whole, formats.Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for r.Next() {
		sent = append(sent, r.Batch().Ints(trace.Sent).Values...)
		finished = append(finished, r.Batch().Ints(trace.Finished).Values...)
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	return sent, finished, r
}

// TestPoints: requests that end at one time, and some of whose points are missing, are
// kept apart, in every resolution of time.
func TestPoints(t *testing.T) {
	for stamp, step := range map[string]int64{"1772355600": 1e9, "1772355600000": 1e6, "1772355600000000": 1e3, "1772355600000000000": 0, "2026-03-01T09:00:00.000000000Z": 0} {
		var text strings.Builder
		text.WriteString(header + ",method,status\n")
		point := func(name string, ms float64) { fmt.Fprintf(&text, "%s,%s,%v,POST,200\n", name, stamp, ms) }
		for i := range 3 {
			if i != 1 {
				point("http_reqs", 1)
			}
			point("http_req_duration", float64(100*(i+1)))
			point("http_req_failed", 0)
		}
		sent, finished, r := read(t, text.String())
		if fmt.Sprint(sent) != "[1772355599900000000 1772355599800000000 1772355599700000000]" || len(finished) != 3 || finished[2] != 1772355600000000000 {
			t.Errorf("%s: %v, %v", stamp, sent, finished)
		}
		if a := r.Account(); a.Parsed != 8 || a.Total != 8 {
			t.Errorf("%s: %+v", stamp, a)
		}
		if got := stepOf([]byte(stamp), 0); got != step {
			t.Errorf("%s: a step of %d ns, want %d", stamp, got, step)
		}
	}
}

func TestStatistics(t *testing.T) {
	for stat, want := range map[string]string{"avg": "mean", "med": "0.5", "p(90)": "0.9", "p(99.9)": "0.999", "p(5)": "0.05", "p(100)": "", "count": "", "p()": "", "p(a)": ""} {
		if got := statOf(stat); got != want {
			t.Errorf("%s: %q, want %q", stat, got, want)
		}
	}
	for path, want := range map[string]string{"metrics.a.avg": "a avg", "metrics.a.values.p(99.9)": "a p(99.9)", "metrics.http_req_duration{url:http://x.y/z}.med": "http_req_duration{url:http://x.y/z} med"} {
		if m, s, ok := figureOf(path); !ok || m+" "+s != want {
			t.Errorf("%s: %q %q", path, m, s)
		}
	}
}
