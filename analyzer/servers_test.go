package analyzer

import (
	"fmt"
	"os"
	"runtime"
	"servescope/analyzer/load"
	"strings"
	"testing"
)

// TestServersStages holds the parts of TTFT that the files of other servers and
// gateways give to what their stamps and durations make by hand, in µs; they and
// the residual add up to the total.
func TestServersStages(t *testing.T) {
	if runtime.GOOS == "js" {
		t.Skip("these formats are not in the core")
	}
	for _, c := range []struct{ file, want string }{
		// arrival - server_arrival, first_scheduled - arrival, first_token - first_scheduled, the rest of 37 ms
		{"trtllm/aggregated/input.json", "37000 = input+ingress 1000 + queue 2000 + prefill 32000 + egress 2000 | 0"},
		// 500 - 50 - 300 - 60 - (20 + 20) - 20
		{"trtllm/disaggregated/input.json", "500000 = queue 50000 + prefill 300000 + kv_transfer 60000 + decode_queue 40000 + first_decode+egress 20000 | 30000"},
		// means of 40 and 42.5, 2 and 12.5, 38 and 30.25: the second is 0.25 ms over
		{"dynamo/recorded/input.jsonl", "41250 = queue 7250 + prefill 34125 + input+ingress+egress -125 | 0"},
		// the first chunk 100 ms behind created_at - total_duration of the final object
		{"ollama/stream/input.jsonl", "100000 = prefill 60000 + input+ingress+queue+egress 40000 | 0"},
		{"litellm/spend-lines/input.jsonl", "375000 = | 375000"},
		{"langfuse/trace/input.json", "40000 = | 40000"},
	} {
		text, err := os.ReadFile("../testdata/formats/" + c.file)
		if err != nil {
			t.Fatal(err)
		}
		s, err := openAll(t, load.Options{Join: true}, textFile{name: c.file, text: string(text)})
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.Run(t.Context(), queryOf(t))
		if err != nil {
			t.Fatal(err)
		}
		s.Close()
		got := "nothing"
		for _, d := range r.Runs[0].Decompositions {
			if d.Of != "ttft" || len(d.Tables) != 1 {
				continue
			}
			x := &d.Tables[0]
			var parts []string
			sum := x.Residual.Mean.V
			for _, e := range x.Entries {
				sum += e.Mean.V
				parts = append(parts, fmt.Sprint(strings.Join(e.Leaves, "+"), " ", e.Mean.V/1e3))
			}
			if sum != x.Total.V {
				t.Errorf("%s: the parts add up to %v, not %v", c.file, sum, x.Total.V)
			}
			got = fmt.Sprint(x.Total.V/1e3, " = ", strings.Join(parts, " + "), " | ", x.Residual.Mean.V/1e3)
		}
		if got != strings.Replace(c.want, "= |", "=  |", 1) {
			t.Errorf("%s:\n got %s\nwant %s", c.file, got, c.want)
		}
	}
}
