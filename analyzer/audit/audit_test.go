package audit

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"servescope/analyzer/metric"
	"servescope/analyzer/report"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
)

// claims makes figures of texts such as "ttft mean 5". Times are in ns.
func claims(texts ...string) (list []trace.Reported) {
	units := map[string]unit.Unit{"tps_ok": unit.TokenRate, "tps_prompt": unit.TokenRate, "tps_end_to_end": unit.TokenRate, "request_rate_ok": unit.PerSecond,
		"goodput": unit.PerSecond, "output_tokens": unit.Token, "prompt_tokens": unit.Token, "share": unit.Ratio, "concurrency_little": unit.None}
	for _, text := range texts {
		var c trace.Reported
		if n, err := fmt.Sscan(text, &c.Metric, &c.Stat, &c.Value); n != 3 {
			panic(err)
		}
		var ok bool
		if c.Unit, ok = units[c.Metric]; !ok {
			c.Unit = unit.Nanosecond
		}
		if strings.HasPrefix(c.Metric, "requests.") {
			c.Unit = unit.Request
		}
		c.Key = c.Metric + "." + c.Stat
		list = append(list, c)
	}
	return list
}

// found lists the findings as "kind key factor".
func found(a *report.Audit) string {
	var list []string
	for _, f := range a.Findings {
		text := f.Kind + " " + f.Key
		if f.Cause != "" {
			text += " (" + f.Cause + ")"
		}
		if f.Factor.Known {
			text += fmt.Sprintf(" %.4g", f.Factor.V)
		}
		if f.More > 0 {
			text += fmt.Sprintf(" +%d", f.More)
		}
		list = append(list, text)
	}
	return strings.Join(list, "; ")
}

func definition(t *testing.T, name string) *metric.Definition {
	t.Helper()
	d, err := metric.LookupDefinition(name)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestIdentities: the relations among means. 100 tokens in 1000 ns after a first
// one at 10 ns are 10 ns per token: (1000 - 10) / (100 - 1).
func TestIdentities(t *testing.T) {
	base := []string{"e2e mean 1000", "ttft mean 10", "output_tokens mean 100"}
	for _, tc := range []struct {
		definition, more, want string
		checks                 int64
	}{
		{"vllm-2026", "tpot mean 10", "", 4}, // and the order of four distributions
		{"vllm-2026", "tpot mean 10|tpot min 9|tpot max 11", "", 5},
		{"vllm-2026", "tpot mean 5|tpot min 4|tpot max 6", "identity tpot.mean 2", 5},
		{"vllm-2026", "tpot mean 5|tpot min 4|tpot max 9", "", 5}, // it may be the mean of an uneven distribution
		{"vllm-2026", "tpot mean 20|tpot 0.5 9|tpot 0.99 90", "", 5},
		{"vllm-2026", "tpot mean 25|tpot min 20|tpot max 30", "identity tpot.mean 0.4", 5},
		{"inference-perf", "tpot mean 5|tpot max 5.5", "identity tpot.mean 2", 5},
		{"vllm-2026", "chunk_gap mean 5", "identity chunk_gap.mean 2", 5}, // two gaps for each token
		{"vllm-2026", "chunk_gap mean 40", "", 5},                         // four tokens in a chunk
		{"guidellm", "tpot mean 10", "", 5},                               // 1000 / 100
		{"guidellm", "tpot mean 1010", "identity tpot.mean 0.009901", 5},
		{"databricks", "tpot mean 9.9", "", 5},
		{"", "tpot mean 5|tpot 0.99 5", "identity tpot.mean 2", 5},
	} {
		s := &Subject{Reported: claims(append(append([]string{}, base...), strings.Split(tc.more, "|")...)...)}
		if tc.definition != "" {
			s.Definition = definition(t, tc.definition)
		}
		a, _ := Run(s)
		if got := found(a); got != tc.want {
			t.Errorf("%s, %s: %q, want %q", tc.definition, tc.more, got, tc.want)
		}
		if want := int64(strings.Count(tc.want, "identity")); a.Broken != want || a.Checks < 4 || a.Unchecked != a.Figures {
			t.Errorf("%s, %s: %+v", tc.definition, tc.more, a)
		}
	}
}

// TestOtherFormula: the value is that of another tool's formula. 10 tokens, first
// at 500 ns, end at 1400 ns: 100 by N - 1, 90 by N, 140 with TTFT by N.
func TestOtherFormula(t *testing.T) {
	for value, want := range map[string]string{"100": "", "140": "explained tpot.mean (definition) 0.7143", "60": "identity tpot.mean 1.667"} {
		s := &Subject{Definition: definition(t, "sglang"), Reported: claims("e2e mean 1400", "ttft mean 500", "output_tokens mean 10",
			"tpot mean "+value, "tpot min "+value, "tpot max "+value)}
		if a, _ := Run(s); found(a) != want {
			t.Errorf("%s: %q, want %q", value, found(a), want)
		}
	}
}

// TestRelations: sums over the same requests and time.
func TestRelations(t *testing.T) {
	for _, tc := range []struct{ figures, want string }{
		{"request_rate_ok value 2|output_tokens mean 50|tps_ok value 100", ""},
		{"request_rate_ok value 2|output_tokens mean 50|tps_ok value 200", "identity tps_ok.value 0.5"},
		{"request_rate_ok value 2|prompt_tokens mean 50|tps_prompt value 99.5", ""},
		{"request_rate_ok value 2|prompt_tokens mean 50|tps_prompt value 98", "identity tps_prompt.value 1.02"},
		{"tps_ok value 30|tps_prompt value 60|tps_end_to_end value 90", ""},
		{"tps_ok value 30|tps_prompt value 60|tps_end_to_end value 30", "identity tps_end_to_end.value 3"},
		{"requests.ok value 10|request_rate_ok value 2", ""}, // in 5 s
		{"requests.ok value 20|request_rate_ok value 2", "identity request_rate_ok.value 2"},
		{"output_tokens value 500|tps_ok value 100", ""},
		{"output_tokens value 500|tps_ok value 200", "identity tps_ok.value 0.5"},
		{"prompt_tokens value 500|tps_prompt value 100", ""},
		{"prompt_tokens value 1000|tps_prompt value 100", "identity tps_prompt.value 2"},
		{"request_rate_ok value 2|goodput value 2", ""},
		{"request_rate_ok value 2|goodput value 2.1", "identity goodput.value 0.9524"},
		{"request_rate_ok value 2|e2e mean 3e9|concurrency_little value 6", ""},
		{"request_rate_ok value 2|e2e mean 3e9|concurrency_little value 4", "identity concurrency_little.value 1.5"},
		{"requests.total value 10|requests.ok value 7|requests.failed value 3", ""},
		{"requests.total value 10|requests.ok value 7|requests.failed value 2", "identity requests.total.value 0.9"},
		{"requests.total value 10|requests.ok value 7|requests.failed value 2|requests.aborted value 1", ""},
	} {
		s := &Subject{Duration: 5e9, Reported: claims(strings.Split(tc.figures, "|")...)}
		if strings.Contains(tc.figures, "goodput") || strings.Contains(tc.figures, "mean") {
			s.Duration = 0
		}
		a, _ := Run(s)
		if got := found(a); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.figures, got, tc.want)
		}
		if a.Checks == 0 || (a.Broken > 0) != (tc.want != "") {
			t.Errorf("%s: %d checks, %d broken", tc.figures, a.Checks, a.Broken)
		}
	}
}

// TestRounded: what a console prints with two digits agrees to these.
func TestRounded(t *testing.T) {
	list := claims("request_rate_ok value 0.07", "output_tokens mean 100", "tps_ok value 7.43")
	if a, _ := Run(&Subject{Reported: list}); a.Broken != 1 {
		t.Errorf("%s", found(a))
	}
	list[0].Step = 0.005
	if a, _ := Run(&Subject{Reported: list}); a.Broken != 0 {
		t.Errorf("%s", found(a))
	}
}

// TestImpossible names what cannot be, each distribution's once.
func TestImpossible(t *testing.T) {
	for _, tc := range []struct{ figures, want string }{
		{"client_wait min -5|client_wait 0.01 -3|client_wait mean 4|client_wait max 9", "impossible client_wait.min"},
		{"ttft mean 5|ttft min 0|ttft max 9", "impossible ttft.min"},
		{"chunk_gap mean 5|chunk_gap min 0|chunk_gap max 9", ""}, // tokens may come together
		{"ttft 0.99 50|e2e 0.99 40", "impossible ttft.0.99 0.8"},
		{"ttft 0.99 50|e2e 0.99 50", ""},
		{"share value 1.2", "impossible share.value"},
		{"share value 1", ""},
		{"tps_ok value -1", "impossible tps_ok.value"},
		{"e2e 0.5 5|e2e 0.9 4|e2e 0.99 9", "identity e2e.0.9 1.25"},
		{"e2e min 5|e2e max 9|e2e mean 10", "identity e2e.mean 0.9"},
		{"e2e min 5|e2e max 9|e2e mean 4", "identity e2e.mean 1.25"},
		{"e2e min 5|e2e 0.5 5|e2e max 9|e2e mean 5|e2e std 3", ""},
		{"e2e 0.5 5|e2e 0.5 5|e2e 0.9 7", ""}, // the median may stand there twice
	} {
		a, _ := Run(&Subject{Reported: claims(strings.Split(tc.figures, "|")...)})
		if got := found(a); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.figures, got, tc.want)
		}
	}
}

// cell has a metric of n values, of requests of which others have none.
func cell(n, failed, empty int64, mean, std float64) *report.Cell {
	return &report.Cell{
		Requests:   report.Requests{Total: n + failed + empty, OK: n, Failed: failed, Empty: empty},
		Metrics:    map[string]report.Metric{"ttft": {N: n, Mean: mean, Std: std, Min: mean / 2, Max: mean * 2, Unit: unit.Nanosecond, Quantiles: map[string]float64{"0.5": mean}}, "output_tokens": {N: n, Mean: 100, Unit: unit.Token}},
		Throughput: report.Throughput{Window: report.Known(4e9, unit.Nanosecond), Values: map[string]report.Value{"tps_ok": report.Known(float64(n)*100/4, unit.TokenRate)}},
	}
}

// TestCompare: 8 requests of 1000 ns, 2 failed, 100 tokens each in 4 s.
func TestCompare(t *testing.T) {
	for _, tc := range []struct{ figure, class, cause string }{
		{"ttft mean 1000", Equal, ""},
		{"ttft mean 1000.0005", Equal, ""},
		{"ttft mean 1001", Equal, ""}, // a ns
		{"ttft mean 1003", Differs, ""},
		{"ttft mean 800", Explained, "cohort"}, // two more requests with 0
		{"ttft std " + fmt.Sprint(50*math.Sqrt(8.0/7)), Explained, "estimator"},
		{"ttft 0.5 700", Explained, "definition"}, // as another set has it
		{"ttft min 500", Equal, ""},
		{"ttft 0.9 500", Unchecked, ""}, // not asked for
		{"requests.ok value 8", Equal, ""},
		{"requests.failed value 2", Equal, ""},
		{"requests.total value 9", Differs, ""},
		{"tps_ok value 200", Equal, ""},
		{"tps_ok value 160", Explained, "window"}, // over the producer's 5 s
		{"tps_ok value 12000", Explained, "unit"}, // a minute
		{"ttft max 2", Explained, "unit"},
		{"nothing mean 3", Unchecked, ""},
	} {
		s := &Subject{Reported: claims(tc.figure), Duration: 5e9, Own: cell(8, 2, 0, 1000, 50),
			Definitions: func() []Cell { return []Cell{{"other", cell(8, 2, 0, 700, 70)}} }}
		a, v := Run(s)
		cause := ""
		if len(a.Findings) > 0 {
			cause = a.Findings[0].Cause
		}
		if v[0].Class != tc.class || cause != tc.cause || a.Equal+a.Explained+a.Differs+a.Unchecked != 1 {
			t.Errorf("%s: %s, %s (%s), want %s %s", tc.figure, v[0].Class, cause, v[0].Note, tc.class, tc.cause)
		}
	}
}

// TestDoubts: what believing zeros would do to a mean.
func TestDoubts(t *testing.T) {
	s := &Subject{Own: cell(20, 130, 0, 1.2e9, 0), Doubts: []trace.Doubt{{Key: "ttft_s", Metric: "ttft", Same: true, Unit: unit.Nanosecond, Count: 130, Why: "it is 0"}, {Key: "x", Count: 1, Why: "odd"}}}
	a, _ := Run(s)
	if got := found(a); got != "impossible ttft_s 7.5; impossible x" || !strings.Contains(a.Findings[0].Note, "160 ms instead of 1.200 s") {
		t.Errorf("%s: %s", got, a.Findings[0].Note)
	}
	if v := a.Findings[1].Value; v.Known {
		t.Errorf("a value nobody stated: %+v", v)
	}
}

// TestAgain: figures that differ by the same are one finding.
func TestAgain(t *testing.T) {
	a, v := Run(&Subject{Own: cell(8, 0, 0, 1000, 50), Reported: claims("ttft min 450", "ttft mean 900", "ttft max 1800", "requests.ok value 9", "requests.failed value 1")})
	if got := found(a); got != "differs ttft.mean 1.111 +2; differs requests.ok.value 0.8889; differs requests.failed.value" || a.Differs != 5 || v[4].Class != Differs {
		t.Errorf("%s, %+v", got, a)
	}
}
