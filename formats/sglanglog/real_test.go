package sglanglog

import (
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"servescope/formats"
	"servescope/formats/source"
)

// Expressions for the lines of real logs, unlike the scanner's own way.
var (
	prefillRE = regexp.MustCompile(`\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)(?: DP(\d+))?[^\]]*\] Prefill batch, #new-seq: (\d+), #new-token: (\d+), #cached-token: (\d+), .*#running-req: (\d+), #queue-req: (\d+)`)
	decodeRE  = regexp.MustCompile(`\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)(?: DP(\d+))?[^\]]*\] Decode batch, #running-req: (\d+), .*?(?:accept len: ([\d.]+), .*)?gen throughput \(token/s\): ([\d.]+), #queue-req: (\d+)`)
	accessRE  = regexp.MustCompile(`INFO: +\S+ - "[A-Z]+ \S+ HTTP/[\d.]+" \d{3}`)
	statsRE   = regexp.MustCompile(`ReqTimeStats\(rid=(\w+), input_len=(\d+), cached_input_len=(\d+), output_len=(\d+), .*queue_duration=([\d.]+)ms, initial_prefill_elapsed=([\d.]+)ms, .*forward_duration=([\d.]+)ms, entry_time=(\d+)\.(\d{3})`)
)

// TestRealFiles accounts for every line of real logs, and compares each row of the
// scheduler with what regular expressions find.
func TestRealFiles(t *testing.T) {
	for _, c := range []struct {
		name, model   string
		lines         int64
		prefill, deco int
		requests      int
	}{
		{"multi-node-tqdm-glued.log", "Qwen3-Coder-480B-A35B-Instruct-w8a8-QuaRot", 1541, 383, 45, 0},
		{"pd-decode-node.log", "DeepSeek-R1-0528-w8a8", 6842, 0, 3355, 0},
		{"pd-prefill-node.log", "DeepSeek-R1-0528-w8a8", 2885, 410, 0, 0},
		{"server-2026-09-reqtimestats.excerpt.log", "", 24, 7, 4, 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			text, err := os.ReadFile(realFile(t, c.name))
			if err != nil {
				t.Fatal(err)
			}
			src := source.FromBytes(c.name, text)
			head, err := formats.ReadHead(src)
			if err != nil {
				t.Fatal(err)
			}
			if score, why := Format.Sniff(head); score != formats.Sure {
				t.Errorf("detected with %d: %s", score, why)
			}
			res := read(t, src, formats.Options{Workers: 2, Block: 4096})
			if res.account.Total != c.lines || int64(strings.Count(string(text), "\n")) != c.lines {
				t.Errorf("%d lines, want %d", res.account.Total, c.lines)
			}
			if res.run.Model != "" && !strings.HasSuffix(res.run.Model, c.model) || res.run.Model == "" && c.model != "" {
				t.Errorf("model %q", res.run.Model)
			}
			compareSteps(t, string(text), res, c.prefill, c.deco)
			if n := int64(len(accessRE.FindAllString(string(text), -1))); res.account.Kinds["access"] != n {
				t.Errorf("%d access lines, want %d", res.account.Kinds["access"], n)
			}
			if len(res.requests) != c.requests {
				t.Errorf("%d requests, want %d", len(res.requests), c.requests)
			}
		})
	}
}

// compareSteps compares the rows of steps, in order of the file. Of the fields,
// those that all lines have.
func compareSteps(t *testing.T, text string, res *result, prefills, decodes int) {
	t.Helper()
	var p, d, i int
	for _, line := range strings.Split(text, "\n") {
		var want map[string]any
		if m := prefillRE.FindStringSubmatch(line); m != nil {
			p++
			want = map[string]any{"kind": "prefill", "t": second(m[1]), "dp": whole(m[2]), "context_requests": whole(m[3]), "prefill_tokens": whole(m[4]), "cached_tokens": whole(m[5]), "running": whole(m[6]), "waiting": whole(m[7])}
		} else if m := decodeRE.FindStringSubmatch(line); m != nil {
			d++
			tps, _ := strconv.ParseFloat(m[5], 64)
			want = map[string]any{"kind": "window", "t": second(m[1]), "dp": whole(m[2]), "running": whole(m[3]), "generation_tps": tps, "waiting": whole(m[6])}
			if m[4] != "" {
				want["accept_length"], _ = strconv.ParseFloat(m[4], 64)
			}
		} else {
			continue
		}
		if i == len(res.steps) {
			t.Fatalf("no row for %q", line)
		}
		for name, v := range want {
			if v != nil && res.steps[i][name] != v {
				t.Fatalf("%q: %s is %v, want %v", line, name, res.steps[i][name], v)
			}
		}
		i++
	}
	if i != len(res.steps) || p != prefills || d != decodes {
		t.Errorf("%d rows for %d prefill and %d decode lines, want %d and %d", len(res.steps), p, d, prefills, decodes)
	}
}

func second(s string) int64 {
	at, _ := time.Parse(time.DateTime, s)
	return at.UnixNano()
}

func whole(s string) any {
	if s == "" {
		return nil
	}
	n, _ := strconv.ParseInt(s, 10, 64)
	return n
}

// TestRealTimeStats checks the rows of a real log's time stats: their durations,
// and that they end in the second of their line, which is written then.
func TestRealTimeStats(t *testing.T) {
	const name = "server-2026-09-reqtimestats.excerpt.log"
	text, err := os.ReadFile(realFile(t, name))
	if err != nil {
		t.Fatal(err)
	}
	res := read(t, source.FromBytes(name, text), formats.Options{})
	i := 0
	for _, line := range strings.Split(string(text), "\n") {
		m := statsRE.FindStringSubmatch(line)
		if m == nil || strings.HasPrefix(m[1], "HEALTH_CHECK") {
			continue
		}
		r := res.requests[i]
		i++
		entry := whole(m[8]).(int64)*1e9 + whole(m[9]).(int64)*1e6
		ns := func(s string) int64 {
			v, _ := strconv.ParseFloat(s, 64)
			return int64(math.Round(v*100)) * 10_000
		}
		want := map[string]any{"request_id": m[1], "side": "engine", "prompt_tokens": whole(m[2]), "cached_tokens": whole(m[3]), "output_tokens": whole(m[4]),
			"queued": entry, "d_queue": ns(m[5]), "admitted": entry + ns(m[5]), "d_prefill": ns(m[6]), "first_token": entry + ns(m[5]) + ns(m[6]), "finished": entry + ns(m[5]) + ns(m[7])}
		for k, v := range want {
			if r[k] != v {
				t.Errorf("%s: %s is %v, want %v", m[1], k, r[k], v)
			}
		}
		if late := second(line[1:20]) - r["finished"].(int64); late < -1e9 || late > 1e9 {
			t.Errorf("%s ends %d ns before its line", m[1], late)
		}
	}
	if i != 5 {
		t.Errorf("%d lines of time stats, want 5", i)
	}
}

// TestDetectBehindInstaller: the first line of the server stands behind 300 kB of
// other text.
func TestDetectBehindInstaller(t *testing.T) {
	noise := strings.Repeat("Requirement already satisfied: certifi>=14.05.14 in /usr/lib/python3 (2025.11.12)\n", 4000)
	text := noise + strings.Repeat(prefillLine("03-01 09:00:00", 1, "1.0"), 800)
	head, err := formats.ReadHead(source.FromBytes("x", []byte(text)))
	if err != nil {
		t.Fatal(err)
	}
	if score, why := Format.Sniff(head); score != formats.Sure {
		t.Errorf("%d: %s", score, why)
	}
	if score, _ := Format.Sniff(&formats.Head{Start: []byte(noise)}); score != formats.No {
		t.Error("text of an installer is no log of SGLang")
	}
}
