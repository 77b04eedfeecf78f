package analyzer

import (
	"fmt"
	"strings"
	"testing"

	"servescope/analyzer/report"
)

// TestIdleWindows: in a window in which nothing decodes B is 0, what is divided by
// tokens is null, and each replica of the run is listed.
func TestIdleWindows(t *testing.T) {
	text := `{"request_id":"a","replica":"x","clock":"run","arrival":0,"admitted":0.5,"output_tokens":3,"token_timestamps":[1,2,3]}
{"request_id":"b","replica":"y","clock":"run","arrival":20,"admitted":20.5,"output_tokens":5,"token_timestamps":[21,22,23,24,25]}
`
	run, _ := ask(t, []string{"window=5s"}, textFile{name: "log.jsonl", text: text})
	if len(run.Windows) != 6 {
		t.Fatalf("%d windows", len(run.Windows))
	}
	for i, want := range []float64{2.0 / 5, 0, 0, 0, 4.0 / 5} {
		c := &run.Windows[i].Cell
		rate(t, c, "batch_decode", want)
		list := c.Throughput.Replicas
		if len(list) != 2 || list[0].Name != "x" || !list[0].Batch.Known || !list[1].TPS.Known || list[0].Batch.V+list[1].Batch.V != want {
			t.Errorf("window %d: replicas %+v", i, list)
		}
		if want > 0 {
			continue
		}
		rate(t, c, "batch_running", 0)
		for _, name := range []string{"tpot_weighted", "tps_total_model", "identity_ratio", "weighting_ratio"} {
			if v := c.Throughput.Values[name]; v.Known || v.Reason != "no_token" {
				t.Errorf("window %d: %s %+v", i, name, v)
			}
		}
	}
	rate(t, &run.Windows[0].Cell, "batch_running", 2.5/5)
	// Where no request of the run tells when its tokens came, no window is known to
	// be idle.
	text = `{"request_id":"a","clock":"run","arrival":0,"output_tokens":3,"finished":3}
{"request_id":"b","clock":"run","arrival":20,"output_tokens":5,"finished":25}
`
	run, _ = ask(t, []string{"window=5s"}, textFile{name: "log.jsonl", text: text})
	for i := range run.Windows {
		if v := run.Windows[i].Throughput.Values["batch_decode"]; v.Known {
			t.Errorf("window %d: %+v", i, v)
		}
	}
}

// TestStepsOfOtherGroups: engines log all of their requests. Groups by what no step
// tells, as the model where requests name their own, have no batch of theirs.
func TestStepsOfOtherGroups(t *testing.T) {
	var log strings.Builder
	log.WriteString(`{"type":"run","engine":"vllm","model":"base"}` + "\n")
	for i := range 4 {
		fmt.Fprintf(&log, `{"request_id":"r%d","model":"m%d","side":"server","clock":"wall","arrival":%d,"output_tokens":3,"token_timestamps":[%d,%d,%d]}`+"\n", i, i%2, 1764428000+i, 1764428001+i, 1764428002+i, 1764428003+i)
	}
	var engine strings.Builder
	for i := range 8 {
		fmt.Fprintf(&engine, "INFO 11-29 14:53:%02d [loggers.py:1] Engine 000: Avg prompt throughput: 1.0 tokens/s, Avg generation throughput: 1.0 tokens/s, Running: 2 reqs, Waiting: 0 reqs, GPU KV cache usage: 0.1%%, Prefix cache hit rate: 0.0%%\n", 19+i)
	}
	list := []textFile{{"log.jsonl", "x", log.String()}, {"server.log", "x", engine.String()}}
	for _, by := range []string{"model", "prompt_tokens", "status"} {
		run, _ := ask(t, []string{"by=" + by, "window=4s"}, list...)
		if len(run.Steps) == 0 || len(run.Groups) == 0 {
			t.Fatalf("by %s: %d steps, %d groups", by, len(run.Steps), len(run.Groups))
		}
		for i := range run.Groups {
			for _, c := range append([]*report.Cell{&run.Groups[i].Cell}, windowsOfGroup(&run.Groups[i])...) {
				if v := c.Throughput.Values["batch_logged"]; v.Known || v.Reason != "filtered" {
					t.Errorf("by %s, %v: %+v", by, run.Groups[i].By, v)
				}
			}
		}
	}
}

func windowsOfGroup(g *report.Group) (out []*report.Cell) {
	for i := range g.Windows {
		out = append(out, &g.Windows[i].Cell)
	}
	return out
}

// TestTokenLatencyOfSome: where some requests tell the tokens of each chunk, those
// with as many tokens as chunks have one in each; token_latency says how many
// requests tell neither.
func TestTokenLatencyOfSome(t *testing.T) {
	text := `{"request_id":"a","clock":"run","arrival":0,"output_tokens":8,"token_timestamps":[0.1,0.13],"chunk_tokens":[4,4]}
{"request_id":"b","clock":"run","arrival":0,"output_tokens":3,"token_timestamps":[0.1,0.2,0.3]}
{"request_id":"c","clock":"run","arrival":0,"output_tokens":1,"token_timestamps":[0.1]}
{"request_id":"d","clock":"run","arrival":0,"output_tokens":5,"token_timestamps":[0.1,0.2,0.3]}
`
	for _, options := range [][]string{nil, {"window=10s"}, {"by=status"}} {
		run, _ := ask(t, options, textFile{name: "log.jsonl", text: text})
		wants(t, &run.Cell, "token_latency", 6, "mean", 230.0/6, "max", 100.0) // 7.5 × 4, 100 × 2
		wants(t, &run.Cell, "tokens_per_chunk", 3, "mean", 2.0)
		m := run.Metrics["token_latency"]
		if m.Requests != 2 || m.Excluded["not_recorded"] != 1 || m.Excluded["n_lt_2"] != 1 || !strings.Contains(strings.Join(m.Notes, " "), "chunk_tokens: over the 2 requests that tell") {
			t.Errorf("%v: %+v", options, m)
		}
	}
}

// TestStepsCapped: steps beyond the series of a report are counted in a diagnostic.
func TestStepsCapped(t *testing.T) {
	var log strings.Builder
	const n = 5000
	for i := range n {
		fmt.Fprintf(&log, "INFO 11-29 %02d:%02d:%02d [loggers.py:1] Engine 000: Avg prompt throughput: 1.0 tokens/s, Avg generation throughput: 1.0 tokens/s, Running: 2 reqs, Waiting: 0 reqs, GPU KV cache usage: 0.1%%, Prefix cache hit rate: 0.0%%\n", 10+i/3600, i/60%60, i%60)
	}
	run, r := ask(t, []string{"window=1s"}, textFile{"server.log", "", log.String()})
	shown := int64(0)
	for i := range run.Windows {
		for _, s := range run.Windows[i].Steps {
			shown += s.N
		}
	}
	for _, d := range r.Diags {
		if d.Code == "steps_capped" {
			if shown == 0 || d.Count+shown != n {
				t.Errorf("%d shown, %d in %s", shown, d.Count, d.Msg)
			}
			return
		}
	}
	t.Errorf("%d shown, %+v", shown, r.Diags)
}
