package analyzer

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"servescope/analyzer/query"
	"servescope/analyzer/report"
)

const script = "../testdata/recompute/recompute.mjs"

// recomputed is what testdata/recompute/recompute.mjs makes of a file under a
// definition set.
type recomputed struct {
	Metrics map[string]map[string]float64
	Rates   map[string]float64
}

// TestRecomputed compares reports with a computation that shares nothing with
// the analyzer, not even its language: of the shipped samples always, of real
// files where they are. SERVESCOPE_REQUIRE_NODE makes a machine without Node an
// error.
func TestRecomputed(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil || runtime.GOOS == "js" {
		if os.Getenv("SERVESCOPE_REQUIRE_NODE") != "" {
			t.Fatalf("Node is required: %v", err)
		}
		t.Skip("there is no Node to run the script")
	}
	if _, err := os.ReadFile(script); err != nil { // so that a change of it runs the test again
		t.Fatal(err)
	}
	files := []string{"../testdata/sample/tokenlog.jsonl", "../testdata/sample/vllm-bench.json"}
	t.Run("samples", func(t *testing.T) { recompute(t, files) })
	t.Run("random", func(t *testing.T) {
		name := filepath.Join(t.TempDir(), "random.jsonl")
		if err := os.WriteFile(name, []byte(randomLog(rand.New(rand.NewPCG(5, 8)), 300)), 0o666); err != nil {
			t.Fatal(err)
		}
		recompute(t, []string{name})
	})
	t.Run("real", func(t *testing.T) {
		recompute(t, append(data(t, "vllm/bench-serve-2025-03-c128.json"),
			data(t, "vllm/bench-serve-2026-07-spec-2of4-failed.json")[0], data(t, "vllm/otlp-llm_request-v0.11-engineV1.traces.json")[0]))
	})
}

// randomLog is a log of requests that tell everything that any tool looks at:
// with role chunks and reasoning, chunks of several tokens that come at once,
// speculative decoding, failures, responses without a token or without an answer.
func randomLog(r *rand.Rand, n int) string {
	var log strings.Builder
	for i := range n {
		at := r.IntN(60_000)
		line := fmt.Sprintf(`{"request_id":"%d","side":"client","clock":"run","sent":%.3f,"prompt_tokens":%d`, i, float64(at)/1000, 1+r.IntN(500))
		if r.IntN(12) == 0 {
			fmt.Fprintf(&log, "%s,\"finished\":%.3f,\"error\":\"x\"}\n", line, float64(at+r.IntN(9000))/1000)
			continue
		}
		at += 1 + r.IntN(300)
		line += fmt.Sprintf(`,"first_event":%.3f`, float64(at)/1000)
		if r.IntN(2) == 0 {
			at += 1 + r.IntN(90) // that was a role
		}
		chunks, thought := r.IntN(12), 0
		if r.IntN(3) == 0 {
			thought = r.IntN(chunks + 1)
		}
		var stamps, tokens []string
		sum, answer := 0, -1
		var reasoning int
		for k := range chunks {
			if k > 0 {
				at += []int{0, 7, 20, 55}[r.IntN(4)]
			}
			if k == thought {
				answer = at
			}
			size := 1 + r.IntN(4)
			if sum += size; k < thought {
				reasoning += size
			}
			stamps, tokens = append(stamps, fmt.Sprintf("%.3f", float64(at)/1000)), append(tokens, fmt.Sprint(size))
		}
		if thought > 0 && answer >= 0 && answer == at && chunks > 1 { // reasoning that ends with the answer's own instant
			at += 10
			stamps[chunks-1] = fmt.Sprintf("%.3f", float64(at)/1000)
		}
		line += fmt.Sprintf(`,"token_timestamps":[%s],"chunk_tokens":[%s],"output_tokens":%d,"reasoning_tokens":%d,"client_tokens":%d,"finished":%.3f`,
			strings.Join(stamps, ","), strings.Join(tokens, ","), sum, reasoning, max(0, sum-reasoning-r.IntN(2)), float64(at+r.IntN(40))/1000)
		if thought > 0 {
			line += `,"token_kind":"reasoning"`
		} else if chunks > 0 {
			line += `,"token_kind":"content"`
		}
		if answer >= 0 && thought > 0 {
			line += fmt.Sprintf(`,"first_answer_token":%.3f`, float64(answer)/1000)
		}
		if r.IntN(3) == 0 {
			line += `,"spec_accepted":3`
		}
		log.WriteString(line + "}\n")
	}
	return log.String()
}

func recompute(t *testing.T, files []string) {
	out, err := exec.Command("node", append([]string{script}, files...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	var results map[string]map[string]recomputed
	if err := json.Unmarshal(out, &results); err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		in := textFile{name: filepath.Base(name), text: string(text)}
		for set, want := range results[name] {
			r := analyze(t, &query.Query{Definition: set, Ranks: []float64{0.5, 0.9, 0.99}}, in).Runs[0]
			for metric, stats := range want.Metrics {
				m := r.Metrics[metric]
				for stat, v := range stats {
					compared++
					if got := statistic(&m, stat); !agree(got, v, step(&m, stat)) {
						t.Errorf("%s under %s: %s of %s is %v, want %v", in.name, set, stat, metric, got, v)
					}
				}
			}
			for rate, v := range want.Rates {
				compared++
				if got := r.Throughput.Values[rate]; !got.Known || !agree(got.V, v, 0) {
					t.Errorf("%s under %s: %s is %+v, want %v", in.name, set, rate, got, v)
				}
			}
		}
	}
	if compared < 200*len(files) {
		t.Errorf("only %d figures of %d files were compared", compared, len(files))
	}
}

func statistic(m *report.Metric, stat string) float64 {
	switch stat {
	case "n":
		return float64(m.N)
	case "mean":
		return m.Mean
	case "std":
		return m.Std
	case "min":
		return m.Min
	case "max":
		return m.Max
	}
	return m.Quantiles[map[string]string{"p50": "0.5", "p90": "0.9", "p99": "0.99"}[stat]]
}

// step is how much a statistic of times may be off: sources are rounded to 1 ns.
func step(m *report.Metric, stat string) float64 {
	if stat == "n" {
		return 0
	}
	if m.Unit == "ns" || m.Unit == "ns/token" {
		return 1
	}
	return 0
}

// agree reports whether two figures are equal to 1e-9, or to step.
func agree(a, b, step float64) bool {
	return math.Abs(a-b) <= max(1e-9*math.Abs(b), step)
}
