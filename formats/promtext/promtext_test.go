package promtext

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
	"servescope/formats"
	"servescope/formats/source"
)

// scrape is what reading a text gives.
type scrape struct {
	run     *trace.RunMeta
	account formats.Account
	diags   []diag.Diag
	rows    int
	running []int64 // of the rows of steps
}

func read(t *testing.T, text string) *scrape {
	t.Helper()
	r, err := Format.Open(context.Background(), source.FromBytes("t", []byte(text)), formats.Whole, formats.Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	s := new(scrape)
	for r.Next() {
		if r.Batch().Table == trace.Histograms {
			s.rows += r.Batch().Rows
			continue
		}
		for i := range r.Batch().Rows {
			s.running = append(s.running, r.Batch().Ints(trace.StepRunning).Values[i])
		}
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	s.run, s.account, s.diags = r.Runs()[0], r.Account(), r.Diags().All()
	return s
}

// figure returns a reported figure, or NaN.
func (s *scrape) figure(key, stat string) float64 {
	for _, f := range s.run.Reported {
		if f.Key == key && f.Stat == stat {
			return f.Value
		}
	}
	return math.NaN()
}

func (s *scrape) diag(code string) string {
	for _, d := range s.diags {
		if d.Code == code {
			return d.Msg
		}
	}
	return ""
}

func (s *scrape) note(prefix string) string {
	i := slices.IndexFunc(s.run.Notes, func(n string) bool { return strings.HasPrefix(n, prefix) })
	if i < 0 {
		return ""
	}
	return s.run.Notes[i]
}

// want checks figures: key, stat and value; NaN where there must be none.
func (s *scrape) want(t *testing.T, key, stat string, value float64) {
	t.Helper()
	if got := s.figure(key, stat); !(math.Abs(got-value) <= math.Abs(value)*1e-14) && !(math.IsNaN(got) && math.IsNaN(value)) {
		t.Errorf("%s, %s: %v, want %v", key, stat, got, value)
	}
}

const first = "vllm:time_to_first_token_seconds"

func TestP07BelowOneMillisecond(t *testing.T) {
	s := read(t, `vllm:time_to_first_token_seconds_bucket{le="0.001",model_name="m"} 208
vllm:time_to_first_token_seconds_bucket{le="+Inf",model_name="m"} 208
vllm:time_to_first_token_seconds_count{model_name="m"} 208
vllm:time_to_first_token_seconds_sum{model_name="m"} 0.01
vllm:request_success_total{finished_reason="stop",model_name="m"} 60
vllm:request_success_total{finished_reason="length",model_name="m"} 40
`)
	msg := s.diag("unusable_metric")
	for _, part := range []string{"208 samples", "0.0481 ms", "below 1 ms", "100 requests finished", "unusable"} {
		if !strings.Contains(msg, part) {
			t.Errorf("%q lacks %q", msg, part)
		}
	}
	s.want(t, first, "mean", math.NaN())
	s.want(t, first+" p99 is at most", "value", math.NaN())
	s.want(t, first+"_count", "value", 208)
}

// One observation that is the host's uptime ruins a sum.
func TestSumOfUptime(t *testing.T) {
	const name = "vllm:request_prefill_time_seconds"
	text := func(sum float64) string {
		return fmt.Sprintf("%[1]s_bucket{le=\"0.3\"} 99\n%[1]s_bucket{le=\"7680\"} 99\n%[1]s_bucket{le=\"+Inf\"} 100\n%[1]s_count 100\n%[1]s_sum %[2]v\n", name, sum)
	}
	s := read(t, text(1438012.8))
	s.want(t, name, "mean", math.NaN())
	if s.diag("unusable_metric") == "" {
		t.Error("no diag")
	}
	s = read(t, text(8000)) // one request of more than two hours may be
	s.want(t, name, "mean", 80e9)
}

func TestP64BeyondTheLastBucket(t *testing.T) {
	const name = "vllm:e2e_request_latency_seconds"
	s := read(t, name+"_bucket{le=\"10\"} 95\n"+name+"_bucket{le=\"60\"} 95\n"+name+"_bucket{le=\"+Inf\"} 100\n")
	s.want(t, name+" p99 is above", "value", 60e9)
	s.want(t, name+" p99 is at most", "value", math.NaN())
	s.want(t, name+" p50 is at most", "value", 10e9)
	s = read(t, name+"_bucket{le=\"2.5\"} 100\n"+name+"_bucket{le=\"1.0\"} 0\n"+name+"_bucket{le=\"+Inf\"} 100\n")
	for _, q := range []string{" p50", " p99"} { // all at 1.05 s: no interpolation
		s.want(t, name+q+" is above", "value", 1e9)
		s.want(t, name+q+" is at most", "value", 2.5e9)
	}
	for _, f := range s.run.Reported {
		if f.Unit == unit.Nanosecond && f.Value != 1e9 && f.Value != 2.5e9 {
			t.Errorf("%+v is no limit of a bucket", f)
		}
	}
}

func TestP67WindowsAndRestart(t *testing.T) {
	at := func(labels string, count, sum float64) string {
		return fmt.Sprintf("%s_count{%s} %v\n%s_sum{%s} %v\n", first, labels, count, first, labels, sum)
	}
	plain := at(`engine="0",model_name="m"`, 1000, 50) + at(`engine="0",model_name="m"`, 1100, 250) + at(`engine="0",model_name="m"`, 20, 2)
	for name, text := range map[string]string{
		"plain":        plain,
		"crlf":         strings.ReplaceAll(plain, "\n", "\r\n"),
		"label order":  at(`engine="0",model_name="m"`, 1000, 50) + at(`model_name="m",engine="0"`, 1100, 250) + at(`model_name="m" , engine="0"`, 20, 2),
		"typed":        "# TYPE " + first + " histogram\n" + strings.ReplaceAll(plain, first+"_count", "\n# TYPE "+first+" histogram\n"+first+"_count"),
		"new label":    at(`model_name="m",x="1"`, 900, 30) + at(`model_name="m",x="2"`, 100, 20) + at(`model_name="m",x="1"`, 950, 100) + at(`model_name="m",x="2"`, 150, 150) + at(`model_name="m",x="1"`, 20, 2),
		"two engines":  at(`engine="0"`, 500, 25) + at(`engine="1"`, 500, 25) + at(`engine="0"`, 550, 125) + at(`engine="1"`, 550, 125) + at(`engine="0"`, 10, 1) + at(`engine="1"`, 10, 1),
		"grown beyond": "process_start_time_seconds 10\n" + at("", 1000, 50) + "process_start_time_seconds 10\n" + at("", 1100, 250) + "process_start_time_seconds 20\n" + at("", 20, 2),
	} {
		t.Run(name, func(t *testing.T) {
			s := read(t, text)
			s.want(t, first+" in window 1", "mean", 2e9)
			s.want(t, first+"_count in window 1", "value", 100)
			s.want(t, first+" in window 2", "mean", 0.1e9)
			s.want(t, first+"_count in window 2", "value", 20)
			s.want(t, first+"_count", "value", 120)
			if s.diag("counter_reset") == "" {
				t.Error("the reset is not noticed")
			}
		})
	}
	s := read(t, at("", 1000, 50)+at("", 1100, 250))
	s.want(t, first, "mean", 2e9)
	s = read(t, at("", 1000, 50))
	s.want(t, first, "mean", 0.05e9)
	if s.note("single_scrape") == "" {
		t.Error("a single scrape is not called one")
	}
}

// TestLoadOfEachScrape: the load of scrapes without a time is not added up,
// wherever one scrape ends and the next begins.
func TestLoadOfEachScrape(t *testing.T) {
	const gauge, typ = "vllm:num_requests_running", "# TYPE vllm:num_requests_running gauge\n"
	at := func(before string, a, b int) string {
		return fmt.Sprintf("%s%s{engine=\"0\",priority=\"0\"} %d\n%s{engine=\"0\",priority=\"1\"} %d\n", before, gauge, a, gauge, b)
	}
	for name, text := range map[string]string{
		"bare":      at("", 1, 2) + at("", 4, 0) + at("", 1, 0),
		"type":      at(typ, 1, 2) + at(typ, 4, 0) + at(typ, 1, 0),
		"help":      at("# HELP "+gauge+" Load\n"+typ, 1, 2) + at("# HELP "+gauge+" Load\n"+typ, 4, 0) + at("# HELP "+gauge+" Load\n"+typ, 1, 0),
		"type once": at(typ, 1, 2) + at("", 4, 0) + at("", 1, 0),
		"end":       at(typ, 1, 2) + "# EOF\n" + at(typ, 4, 0) + "# EOF\n" + at(typ, 1, 0) + "# EOF\n",
	} {
		if got := read(t, text).running; !slices.Equal(got, []int64{3, 4, 1}) {
			t.Errorf("%s: running %v, want 3, 4 and 1", name, got)
		}
	}
}

// A process that was restarted may have counted further than before: only its
// start, or another series, tells.
func TestRestartThatGrew(t *testing.T) {
	for _, birth := range []string{"process_start_time_seconds", first + "_created"} {
		text := func(start int, n int) string {
			return fmt.Sprintf("%s %d\n%s_count %d\n%s_sum %d\n", birth, start, first, n, first, n)
		}
		s := read(t, text(1000, 10)+text(2000, 30))
		s.want(t, first+"_count", "value", 30)
		s = read(t, text(1000, 10)+text(1000, 30))
		s.want(t, first+"_count", "value", 20)
	}
}

func TestIdentities(t *testing.T) {
	text := func(gaps, drafts, e2e, queue int) string {
		return fmt.Sprintf(`vllm:inter_token_latency_seconds_count %d
vllm:generation_tokens_total 100
vllm:spec_decode_num_drafts_total %d
vllm:time_to_first_token_seconds_count 10
vllm:e2e_request_latency_seconds_count %d
vllm:e2e_request_latency_seconds_sum 20
vllm:request_queue_time_seconds_count %[3]d
vllm:request_queue_time_seconds_sum %[4]d
vllm:request_prefill_time_seconds_count %[3]d
vllm:request_prefill_time_seconds_sum 4
vllm:request_decode_time_seconds_count %[3]d
vllm:request_decode_time_seconds_sum 10
`, gaps, drafts, e2e, queue)
	}
	s := read(t, text(90, 0, 8, 6))
	s.want(t, "requests between first token and end at the last scrape", "value", 2)
	if s.note("tokens_agree") == "" || len(s.diags) != 0 {
		t.Errorf("%q %+v", s.run.Notes, s.diags)
	}
	if s = read(t, text(80, 0, 8, 6)); s.diag("gaps_differ") == "" {
		t.Error("80 gaps of 90 tokens pass")
	}
	if s = read(t, text(30, 30, 8, 6)); s.note("gaps_per_step") == "" || s.diag("gaps_differ") != "" {
		t.Error("gaps per step are not told")
	}
	if s = read(t, text(90, 0, 11, 6)); s.diag("counts_differ") == "" {
		t.Error("more ends than first tokens pass")
	}
	if s = read(t, text(90, 0, 8, 7)); s.diag("parts_exceed_whole") == "" {
		t.Error("parts beyond the whole pass")
	}
}

// TestReal holds a real scrape to plain arithmetic on its text.
func TestReal(t *testing.T) {
	text, err := os.ReadFile(dataFile(t, "vllm/metrics-v0.25-loaded.prom"))
	if err != nil {
		t.Fatal(err)
	}
	s := read(t, string(text))
	var engine, created int64
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "vllm:") {
			engine++
			if strings.Contains(line, "_created{") {
				created++
			}
		}
	}
	a := s.account
	if int(a.Total) != strings.Count(string(text), "\n") || a.Diagnosed != 0 || a.Parsed != engine+1 || a.Kinds["began"] != created+1 || int64(s.rows) != engine-created {
		t.Errorf("account %+v, %d rows; %d samples, %d of them starts", a, s.rows, engine, created)
	}
	s.want(t, "requests between first token and end at the last scrape", "value", 664-600)
	s.want(t, first, "mean", 88.24499082565308/664*1e9)
	s.want(t, "vllm:iteration_tokens_total", "mean", 502781.0/2829)
	s.want(t, "decode time per token after the first", "mean", 928.5465441379056/(153600-600)*1e9)
	if !strings.Contains(s.note("tokens_agree"), "164629 gaps between tokens are the 165293 generated tokens less the 664 first") {
		t.Errorf("notes %q", s.run.Notes)
	}
	if s.run.Engine != "vllm" || s.run.Model != "opt-125m-tp2" || s.run.Version != "≥v0.20" || len(s.diags) != 0 {
		t.Errorf("%s %s %s %+v", s.run.Engine, s.run.Model, s.run.Version, s.diags)
	}
	if !slices.Contains(s.run.Config, trace.Pair{Key: "num_gpu_blocks", Value: "25028"}) {
		t.Errorf("settings %v", s.run.Config)
	}
}

func dataFile(t *testing.T, name string) string {
	for _, dir := range []string{os.Getenv("SERVESCOPE_DATA"), "../../../shared/data", "../../../../shared/data"} {
		if path := filepath.Join(dir, name); dir != "" {
			if _, err := os.Stat(path); err == nil {
				return path
			}
		}
	}
	t.Skipf("%s is not here", name)
	return ""
}

func TestParse(t *testing.T) {
	for line, want := range map[string]sample{
		`a{b="c}\"",d="e"} 1`: {key: []byte(`a{b="c}\"",d="e"}`), labels: []byte(`b="c}\"",d="e"`), value: 1, finite: true},
		`a 1.5e+09`:           {key: []byte("a"), value: 1.5e9, finite: true},
		`a {} NaN`:            {key: []byte("a {}")},
		"a\t-2 1738765353100": {key: []byte("a"), value: -2, finite: true, t: 1738765353100e6, timed: true},
		`a 3 1738765353.25`:   {key: []byte("a"), value: 3, finite: true, t: 1738765353250e6, timed: true},
		`a 3 # {x="y"} 1 2`:   {key: []byte("a"), value: 3, finite: true},
	} {
		got, ok := parse([]byte(line))
		got.name = nil
		if !ok || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v %v, want %v", line, got, ok, want)
		}
	}
	for _, line := range []string{"", "a", "a{", `a{b="c} 1`, "a{} ", "a x", "a 1 x", "a 1 2 3", "1a 2", "# TYPE a counter", "a1.5"} {
		if got, ok := parse([]byte(line)); ok {
			t.Errorf("%q: %v", line, got)
		}
	}
}
