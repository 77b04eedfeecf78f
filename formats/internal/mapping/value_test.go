package mapping

import "testing"

func TestNames(t *testing.T) {
	for name, want := range map[string]string{
		"ttft_ms": "ttft ms", "ttftMs": "ttft ms", "TTFT (ms)": "ttft ms", "$request_time": "request_time ", "latencySeconds": "latency s",
		"E2ELatency": "e2e_latency ", "e2eLatencyMs": "e2e_latency ms", "usage.completion_tokens": "usage_completion_tokens ",
		"latency_in_ns": "latency ns", "ITLs": "itls ", "msec": "msec ", "timeToFirstTokenMillis": "time_to_first_token ms", "Dauer [µs]": "dauer us",
	} {
		if joined, _, u := splitName(name); joined+" "+unitNames[u] != want {
			t.Errorf("%s: %s %s, want %s", name, joined, unitNames[u], want)
		}
	}
}

func TestDates(t *testing.T) {
	for _, s := range []string{"2026-03-01T10:00:00.5Z", "2026-03-01 10:00:00.5 UTC", "2026-03-01T10:00:00,500Z", "20260301T100000.5Z", "2026-03-01T11:00:00.5+01:00",
		"2026-03-01T11:00:00.500+0100", "2026-03-01 05:00:00.5-05", "2026/03/01 10:00:00.5+00:00", "2026-03-01 10:00:00.500000000 +0000"} {
		d, ok := parseDate([]byte(s))
		if t0, _, _ := new(zone).utc(&d); !ok || t0 != 1772359200_500000000 {
			t.Errorf("%s: %d, %v", s, t0, ok)
		}
	}
	for _, s := range []string{"", "2026-02-30T10:00:00Z", "2026-03-01", "2026-03-01T25:00:00Z", "2026-03-01T10:00:00 CET", "10:00:00", "2026-13-01T10:00:00Z", "01/Mar/2026", "2026-03-01T10:00:00Zulu"} {
		if d, ok := parseDate([]byte(s)); ok {
			t.Errorf("%s: %v", s, d)
		}
	}
}
