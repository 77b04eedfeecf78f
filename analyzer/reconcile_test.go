package analyzer

import (
	"fmt"
	"strings"
	"testing"

	"servescope/analyzer/report"
)

// scrapes is what a metrics endpoint of vLLM says of its tokens, scrape by scrape.
func scrapes(tokens ...[2]int) textFile {
	var b strings.Builder
	for _, v := range tokens {
		b.WriteString("# TYPE vllm:prompt_tokens_total counter\n# TYPE vllm:generation_tokens_total counter\n# TYPE vllm:request_prompt_tokens histogram\n")
		for i, model := range []string{"a", "b"} {
			fmt.Fprintf(&b, "vllm:prompt_tokens_total{engine=\"0\",model_name=\"%s\"} %d\nvllm:generation_tokens_total{engine=\"0\",model_name=\"%s\"} %d\n", model, v[0]/(i+1), model, v[1]/(i+1))
		}
		b.WriteString("# EOF\n")
	}
	return textFile{"metrics.prom", "x", b.String()}
}

// TestP32AbortedInTheCounters: five requests of 600 prompt tokens are aborted
// behind their first token. The counters of the engine have their 3000 tokens, no
// finished request has.
func TestP32AbortedInTheCounters(t *testing.T) {
	var records []string
	for i := range 5 {
		records = append(records, fmt.Sprintf(`{"request_id":"r%d","arrival":%d,"token_timestamps":[%d.5],"output_tokens":1,"prompt_tokens":600,"status":"aborted"}`, i, 1764428000+i, 1764428000+i))
	}
	log := textFile{"log.jsonl", "x", strings.Join(records, "\n") + "\n"}
	r := analyze(t, queryOf(t), scrapes([2]int{1000, 10}, [2]int{3000, 20}), log) // a rises by 2000 and 10, b by 1000 and 5
	list := r.Runs[0].Reconciled
	if len(list) != 2 {
		t.Fatalf("%+v", list)
	}
	x := list[0]
	if x.Quantity != "prompt_tokens" || x.Source != "vllm:prompt_tokens_total" || x.Engine.V != 3000 || x.Finished.V != 0 || x.Difference.V != 3000 || x.Share.V != 1 || x.All.V != 3000 || x.Rest.V != 0 {
		t.Errorf("prompts: %+v", x)
	}
	if x = list[1]; x.Quantity != "output_tokens" || x.Engine.V != 15 || x.Finished.V != 0 || x.All.V != 5 || x.Rest.V != 10 {
		t.Errorf("output: %+v", x)
	}
	if c := &r.Runs[0].Cell; c.Requests.Aborted != 5 || c.Throughput.Tokens.Prompt.Int != 3000 || c.Throughput.Tokens.PromptOK.Int != 0 || c.Throughput.Tokens.Output.Int != 5 {
		t.Errorf("%+v, %+v", c.Requests, c.Throughput.Tokens)
	}
	// Aborted requests miss their objectives.
	q := queryOf(t)
	q.SLO = slo(t, "ttft=10s")
	if g := analyze(t, q, log).Runs[0].Goodput; g.Denominator != 5 || g.Good != 0 || g.MissedBy["aborted"] != 5 || g.Beside.Denominator != 0 {
		t.Errorf("goodput %+v", g)
	}
	// Counts of the whole are not put beside a part of the requests, and neither
	// beside no requests at all.
	for _, list := range [][]report.Reconciled{
		analyze(t, queryOf(t, "filter=prompt_tokens > 5"), scrapes([2]int{0, 0}, [2]int{9, 9}), log).Runs[0].Reconciled,
		analyze(t, queryOf(t), scrapes([2]int{0, 0}, [2]int{9, 9})).Runs[0].Reconciled,
	} {
		if len(list) != 0 {
			t.Errorf("%+v", list)
		}
	}
	if x = analyze(t, queryOf(t), scrapes([2]int{3000, 20}), log).Runs[0].Reconciled[0]; x.Engine.V != 4500 || !strings.Contains(x.Note, "began with the process") {
		t.Errorf("a single scrape: %+v", x)
	}
}
