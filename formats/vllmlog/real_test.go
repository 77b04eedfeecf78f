package vllmlog

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"servescope/formats"
	"servescope/formats/source"
)

// The expressions of the reference for these lines, unlike the scanner's own way.
var (
	statsLine = regexp.MustCompile(`Engine (\d{3}): Avg prompt throughput: ([\d.]+) tokens/s, Avg generation throughput: ([\d.]+) tokens/s, Running: (\d+) reqs, Waiting: (\d+) reqs, GPU KV cache usage: ([\d.]+)%`)
	specLine  = regexp.MustCompile(`SpecDecoding metrics: Mean acceptance length: ([\d.]+|nan), .*Accepted: (\d+) tokens, Drafted: (\d+) tokens`)
	access    = regexp.MustCompile(`INFO: +\S+ - "[A-Z]+ \S+ HTTP/[\d.]+" (\d{3})`)
	aHead     = regexp.MustCompile(`(?:DEBUG|INFO|WARNING|ERROR) \d\d-\d\d \d\d:\d\d:\d\d \[?[^\]\s:]+:\d+\]|^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} [A-Z]+ [\w.]+: `)
)

// TestRealFiles accounts for every line of real logs, and checks the rows of
// statistics against sums over regular expressions.
func TestRealFiles(t *testing.T) {
	for _, c := range []struct {
		name    string
		kinds   map[string]int64
		version string
		model   string
		first   string // time of the first row of statistics
		diags   map[string]int64
	}{
		{"server-v0.25-stats.log", map[string]int64{"stats": 48, "speculation": 37, "access": 105, "cache size": 1, "arguments": 1, "engine": 1, "version": 1,
			"message": 179, "progress": 18, "uvicorn": 6, "library": 3, "warning": 3, "blank": 2, "furniture": 1}, "0.25.1", "RedHatAI/Qwen3.6-35B-A3B-NVFP4", "2026-08-02T09:50:22",
			map[string]int64{"unused_startup_time": 15, "compilation_during_inference": 4, "unrecognised_line": 1, "unknown_field": 74, "zone_assumed": 1}},
		{"server-with-requests.log", map[string]int64{"stats": 28, "access": 208, "cache size": 1, "arguments": 2, "engine": 1, "version": 2,
			"message": 149, "progress": 84, "uvicorn": 7, "library": 7, "warning": 4, "blank": 13, "furniture": 4}, "dev", "/data/shared_models/Qwen--Qwen2.5-14B-Instruct", "",
			map[string]int64{"unused_startup_time": 11, "unrecognised_line": 4, "zone_assumed": 1, "year_assumed": 1}},
		{"server-paired-with-otlp.log", map[string]int64{"stats": 224, "cache size": 1, "arguments": 1, "engine": 1, "version": 1, "message": 52}, "0.11.0", "codellama/CodeLlama-34b-Instruct-hf", "",
			map[string]int64{"unused_startup_time": 7, "zone_assumed": 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := realFile(t, c.name)
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			file, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			src := dated{source.FromBytes(c.name, text), file.ModTime()}
			head, err := formats.ReadHead(src)
			if err != nil {
				t.Fatal(err)
			}
			if score, why := Format.Sniff(head); score != formats.Sure {
				t.Errorf("detected with %d: %s", score, why)
			}
			res := read(t, src, formats.Options{Workers: 2, Block: 4096})
			if got, want := fmt.Sprint(res.account.Kinds), fmt.Sprint(c.kinds); got != want {
				t.Errorf("kinds %s\n want %s", got, want)
			}
			if lines := int64(strings.Count(string(text), "\n")); res.account.Total != lines {
				t.Errorf("%d lines, want %d", res.account.Total, lines)
			}
			got := make(map[string]int64)
			for code, d := range res.diags {
				got[code] = d.Count
			}
			if fmt.Sprint(got) != fmt.Sprint(c.diags) {
				t.Errorf("diags %v, want %v", got, c.diags)
			}
			if res.run.Version != c.version || res.run.Model != c.model || res.run.NoRequests == "" || len(res.requests) != 0 {
				t.Errorf("run %+v", res.run)
			}
			if c.first != "" && !strings.HasPrefix(times(res), c.first) {
				t.Errorf("the first row is of %s, want %s", times(res)[:19], c.first)
			}
			checkSums(t, string(text), res)
		})
	}
}

// checkSums compares rows with what regular expressions find in the text.
func checkSums(t *testing.T, text string, res *result) {
	t.Helper()
	want, got := make(map[string]float64), make(map[string]float64)
	add := func(m map[string]float64, name string, v any) {
		switch v := v.(type) {
		case string:
			if f, err := strconv.ParseFloat(v, 64); err == nil && !math.IsNaN(f) {
				m[name] += f
			}
		case int64:
			m[name] += float64(v)
		case float64:
			m[name] += v
		}
	}
	for _, m := range statsLine.FindAllStringSubmatch(text, -1) {
		add(want, "lines", 1.0)
		for i, name := range []string{"dp", "prompt_tps", "generation_tps", "running", "waiting"} {
			add(want, name, m[i+1])
		}
		kv, _ := strconv.ParseFloat(m[6], 64)
		add(want, "kv_usage", kv/100)
	}
	for _, m := range specLine.FindAllStringSubmatch(text, -1) {
		add(want, "lines", 1.0)
		for i, name := range []string{"accept_length", "accepted", "drafted"} {
			add(want, name, m[i+1])
		}
	}
	for _, r := range res.steps {
		add(got, "lines", 1.0)
		for _, name := range []string{"prompt_tps", "generation_tps", "running", "waiting", "kv_usage", "accept_length", "accepted", "drafted"} {
			add(got, name, r[name])
		}
	}
	delete(want, "dp")
	for name := range want {
		if math.Abs(got[name]-want[name]) > 1e-9*math.Abs(want[name]) {
			t.Errorf("sum of %s is %v, want %v", name, got[name], want[name])
		}
	}
	if want["lines"] == 0 {
		t.Error("the expressions find nothing")
	}
	if n := len(access.FindAllString(text, -1)); int64(n) != res.account.Kinds["access"] {
		t.Errorf("%d access lines, want %d", res.account.Kinds["access"], n)
	}
	heads := 0
	for line := range strings.Lines(text) {
		if aHead.MatchString(line) {
			heads++
		}
	}
	k := res.account.Kinds
	if n := k["message"] + k["stats"] + k["speculation"] + k["cache size"] + k["arguments"] + k["engine"] + k["version"] + res.diags["unused_startup_time"].Count + res.diags["compilation_during_inference"].Count; n < int64(heads) {
		t.Errorf("%d lines with a head, want at least %d", n, heads)
	}
}

// TestDetection: the format is found where its lines stand behind 300 kB of what
// an installer printed, in files and in pipes.
func TestDetection(t *testing.T) {
	installer := strings.Repeat("Collecting something==1.2.3 (from other>=4.5->third==6.7)\n  Downloading something-1.2.3-py3-none-any.whl (1.2 MB)\n", 300_000/115)
	for _, lines := range []int{1, 5000} {
		text := installer + strings.Repeat(stats("03-01 09:00:00"), lines)
		for _, src := range []formats.Source{source.FromBytes("x", []byte(text)), piped{source.FromBytes("x", []byte(text))}} {
			head, err := formats.ReadHead(src)
			if err != nil {
				t.Fatal(err)
			}
			if score, why := Format.Sniff(head); score != formats.Sure {
				t.Errorf("%d lines: %d, %s", lines, score, why)
			}
		}
		res := readText(t, text, given)
		if len(res.steps) != lines || res.diags["unrecognised_line"].Count == 0 {
			t.Errorf("%d steps, diags %v", len(res.steps), res.diags)
		}
	}
	for text, want := range map[string]formats.Score{
		installer: formats.No,
		"":        formats.No,
		"INFO 03-01 09:00:00 [launcher.py:1] Route: /x, Methods: POST\n":                              formats.Likely,
		"09:00 | Engine 000: Avg prompt throughput: 1.0 tokens/s, Running: 1 reqs, Waiting: 0 reqs\n": formats.Likely,
		"[2026-03-01 09:00:00 TP0] Decode batch, #running-req: 1, gen throughput (token/s): 1.0\n":    formats.No,
		`{"request_id":"r1","arrival":1764428000.25,"text":"Added request x."}` + "\n":                formats.No,
		"INFO 03-01 09:00:00 [x.py:1] Received request a: prompt: 'x', params: SamplingParams(n=1)\n": formats.Sure,
	} {
		head, err := formats.ReadHead(source.FromBytes("x", []byte(text)))
		if err != nil {
			t.Fatal(err)
		}
		if score, why := Format.Sniff(head); score != want || why == "" {
			t.Errorf("%.80q: %d, want %d (%s)", text, score, want, why)
		}
	}
}
