package benchconsole

import (
	"strings"
	"testing"
)

// TestPass reads the lines of both generations, and no others.
func TestPass(t *testing.T) {
	for line, want := range map[string]pass{
		"Prefill. latency: 0.28894 s, throughput:  28351.92 token/s":                   {"Prefill", "", -1, -1, 288_940_000, 288_940_000, 28351.92},
		"Decode 12. Batch size: 16, latency: 0.01533 s, throughput:   1043.71 token/s": {"Decode", "", 12, 16, 15_330_000, 15_330_000, 1043.71},
		"Decode.  latency: 0.01952 s, throughput:     51.23 token/s":                   {"Decode", "", -1, -1, 19_520_000, 19_520_000, 51.23},
		"Decode.  median latency: 0.01511 s, median throughput:   1058.90 token/s":     {"Decode", "median", -1, -1, 15_110_000, 15_110_000, 1058.9},
		"Decode.  avg latency: 0.01013 s, avg throughput:    394.81 token/s":           {"Decode", "avg", -1, -1, 10_130_000, 10_130_000, 394.81},
		"Total. latency:  0.667 s, throughput:   3452.79 token/s":                      {"Total", "", -1, -1, 667_000_000, 667_000_000, 3452.79},
		"Total latency: 28.042 s": {},
		"Decode batch, #running-req: 1, #token: 512, gen throughput (token/s): 0.51":           {},
		"Prefill. latency: 0.0 s, throughput: 1.0 token/s":                                     {},
		"Prefill. latency: 12 ms, throughput: 1.0 token/s":                                     {},
		"Decode x. Batch size: 16, latency: 0.01533 s, throughput:   1043.71 token/s":          {},
		"Prefill. latency: 99999999999999 s, throughput: 1.0 token/s, latency: 1 s, and so on": {},
	} {
		p, ok := parsePass([]byte(line))
		if ok != (want.kind != "") || ok && p != want {
			t.Errorf("%q: %+v %v, want %+v", line, p, ok, want)
		}
	}
}

// TestCutLines: a line that the end of the text cuts off is no figure.
func TestCutLines(t *testing.T) {
	for _, text := range []string{"Avg latency: 0.5 seconds\n10% percentile latency: 0.50", "Statistics summary:\nruntime_sec = 215",
		"Prefill. latency: 0.28894 s, throughput:  28351.92 token/s\nDecode 1. Batch size: 16, latency: 0.01533 s, throughput:   1043.71 token/s"} {
		runs, a, codes := read(t, text)
		if len(runs) != 1 || a.Diagnosed != 1 || a.Total != 2 || strings.Join(codes, " ") != "truncated" {
			t.Errorf("%q: %d runs, %+v, %v", text, len(runs), a, codes)
		}
	}
}
