package vllmlog

import (
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"servescope/formats"
	"servescope/formats/source"
)

// span is one request as OpenTelemetry saw it.
type span struct {
	start, end     int64
	prompt, output float64
}

// readSpans reads spans with encoding/json.
func readSpans(t *testing.T, path string) (spans []span) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var line struct {
		ResourceSpans []struct {
			ScopeSpans []struct {
				Spans []struct {
					Start      string `json:"startTimeUnixNano"`
					End        string `json:"endTimeUnixNano"`
					Attributes []struct {
						Key   string
						Value struct{ IntValue json.Number }
					}
				}
			}
		}
	}
	for d := json.NewDecoder(strings.NewReader(string(text))); d.More(); {
		line.ResourceSpans = nil
		if err := d.Decode(&line); err != nil {
			t.Fatal(err)
		}
		for _, r := range line.ResourceSpans {
			for _, scope := range r.ScopeSpans {
				for _, s := range scope.Spans {
					var out span
					out.start, _ = strconv.ParseInt(s.Start, 10, 64)
					out.end, _ = strconv.ParseInt(s.End, 10, 64)
					for _, a := range s.Attributes {
						n, _ := a.Value.IntValue.Float64()
						switch a.Key {
						case "gen_ai.usage.prompt_tokens":
							out.prompt = n
						case "gen_ai.usage.completion_tokens":
							out.output = n
						}
					}
					spans = append(spans, out)
				}
			}
		}
	}
	return spans
}

// TestPairedWithSpans compares the log of a server with the spans of the same
// requests. The log's zone is eight hours behind UTC. Its throughputs, times the
// ten seconds they are about, are the tokens of the spans, but for the tenths
// that are not printed and the true length of the windows; the requests it calls
// running or waiting are the spans that are open, but for one that the frontend
// has and the engine has not, or not any more.
func TestPairedWithSpans(t *testing.T) {
	spans := readSpans(t, realFile(t, "otlp-llm_request-v0.11-engineV1.traces.json"))
	text, err := os.ReadFile(realFile(t, "server-paired-with-otlp.log"))
	if err != nil {
		t.Fatal(err)
	}
	res := read(t, source.FromBytes("server.log", text), formats.Options{TZ: time.FixedZone("UTC-8", -8*3600)})
	var prompt, output, loggedPrompt, loggedOutput float64
	first, last := spans[0].start, spans[0].end
	for _, s := range spans {
		prompt, output = prompt+s.prompt, output+s.output
		first, last = min(first, s.start), max(last, s.end)
	}
	differ := 0
	for i, r := range res.steps {
		at := r["t"].(int64)
		window := 10.0
		if i > 0 {
			window = float64(at-res.steps[i-1]["t"].(int64)) / 1e9
		}
		loggedPrompt += r["prompt_tps"].(float64) * window
		loggedOutput += r["generation_tps"].(float64) * window
		var open int64
		for _, s := range spans {
			if s.start <= at && at < s.end {
				open++
			}
		}
		if d := open - r["running"].(int64) - r["waiting"].(int64); d == 1 {
			differ++
		} else if d != 0 {
			t.Errorf("at %d: %d spans are open, the log has %v running and %v waiting", at, open, r["running"], r["waiting"])
		}
	}
	if len(spans) != 280 || len(res.steps) != 224 || differ > 11 {
		t.Errorf("%d spans, %d lines, of which %d differ by one request", len(spans), len(res.steps), differ)
	}
	if d := loggedOutput/output - 1; d < -0.003 || d > 0.003 {
		t.Errorf("%.0f output tokens, the spans have %.0f", loggedOutput, output)
	}
	if d := loggedPrompt/prompt - 1; d < -0.003 || d > 0.003 {
		t.Errorf("%.0f prompt tokens, the spans have %.0f", loggedPrompt, prompt)
	}
	if t0, t1 := res.steps[0]["t"].(int64), res.steps[len(res.steps)-1]["t"].(int64); t0 < first || t0 > first+11e9 || t1 < last || t1 > last+11e9 {
		t.Errorf("the log is of %d to %d, the spans of %d to %d", t0, t1, first, last)
	}
}
