package all

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/source"
)

// rowOf reads the one request of a text, which its format must recognise, and
// prints the columns asked for, times in ms.
func rowOf(t *testing.T, format, text string, columns ...trace.Col) string {
	t.Helper()
	src := source.FromBytes("x", []byte(text))
	head, err := formats.ReadHead(src)
	if err != nil {
		t.Fatal(err)
	}
	d, err := Set().Detect(head)
	if err != nil || d.Format.Name != format {
		t.Fatalf("%s is taken for %v, %v", format, d.Format, err)
	}
	r, err := d.Format.Open(context.Background(), src, formats.Whole, formats.Options{Workers: 1, Lists: true})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var out []string
	for r.Next() {
		b := r.Batch()
		if b.Rows != 1 || len(out) > 0 {
			t.Fatalf("%d rows", b.Rows)
		}
		for _, c := range columns {
			f := trace.Requests.Fields[c]
			text := "null"
			switch f.Type {
			case trace.Int64:
				if v, ok := b.Ints(c).At(0); ok {
					text = fmt.Sprint(v)
					if f.Unit == "ns" {
						text = fmt.Sprint(float64(v) / 1e6)
					}
				}
			case trace.Dict:
				if v, ok := b.Dicts(c).At(0); ok {
					text = b.Dicts(c).Values[v]
				}
			case trace.List:
				if v, ok := b.Lists(c).At(0); ok {
					text = fmt.Sprint(v)
				}
			}
			out = append(out, text)
		}
	}
	if r.Err() != nil || len(out) == 0 {
		t.Fatal("no row: ", r.Err(), r.Diags().All())
	}
	return strings.Join(out, " ")
}

func request(times, tokens, usage string) string {
	return `[{"scheduled_time": 99, "start_time": 100, "end_time": 100.5, "request": "{}", "info": {"response_metrics": {"output_tokens": ` + tokens + `, "server_usage": ` + usage + `, "output_token_times": ` + times + `}}, "error": null}]`
}

// P05, P85: what a failed request did not measure is unknown, whatever number
// stands there.
func TestP05Zeros(t *testing.T) {
	got := rowOf(t, "llmperf", `[{"error_code": 429, "error_msg": "", "inter_token_latency_s": 0.0, "ttft_s": 0, "end_to_end_latency_s": 0, "request_output_throughput_token_per_s": 0, "number_total_tokens": 551, "number_output_tokens": 1, "number_input_tokens": 550}]`,
		trace.StatusCol, trace.ErrorClass, trace.FirstToken, trace.LastToken, trace.Finished, trace.OutputTokens, trace.PromptTokens)
	if got != "failed HTTP 429 null null null null 550" {
		t.Error(got)
	}
	// An answer without a text has no first token either.
	got = rowOf(t, "llmperf", `[{"error_code": null, "error_msg": "", "inter_token_latency_s": 0, "ttft_s": 0, "end_to_end_latency_s": 0.25, "number_output_tokens": 1, "number_input_tokens": 5}]`, trace.StatusCol, trace.FirstToken, trace.Finished)
	if got != "empty null 250" {
		t.Error(got)
	}
}

// P08: when a request was to be sent is beside when it was.
func TestP08Scheduled(t *testing.T) {
	if got := rowOf(t, "inferenceperf", request("[100.2]", "1", "null"), trace.ScheduledSend, trace.Sent, trace.FirstToken); got != "99000 100000 100200" {
		t.Error(got)
	}
	got := rowOf(t, "guidellm", `{"metadata": {"guidellm_version": "0.8.0"}, "benchmarks": [{"requests": {"successful": [{"request_id": "r", "output_tokens": 1, "info": {"timings": {"targeted_start": 1700000001.5, "request_start": 1700000003, "first_token_iteration": 1700000003.2, "token_iterations": 1}}}]}}]}`,
		trace.ScheduledSend, trace.Sent, trace.FirstToken)
	if got != "1.7000000015e+12 1.700000003e+12 1.7000000032e+12" {
		t.Error(got)
	}
}

// P10: the tool has no TTFT for one token; the row has.
func TestP10OneToken(t *testing.T) {
	if got := rowOf(t, "inferenceperf", request("[100.08]", "1", "null"), trace.FirstToken, trace.LastToken, trace.ChunkGaps, trace.OutputTokens); got != "100080 100080 [] 1" {
		t.Error(got)
	}
}

// P12: the inter-token latency of llmperf holds TTFT: the last of 9 tokens (and
// the one that begins the text) comes 10 × 21 ms after the send.
func TestP12TTFTWithin(t *testing.T) {
	got := rowOf(t, "llmperf", `[{"error_code": null, "inter_token_latency_s": 0.021, "ttft_s": 0.15, "end_to_end_latency_s": 0.261, "request_output_throughput_token_per_s": 19.157088122605366, "number_output_tokens": 10, "number_input_tokens": 5}]`,
		trace.FirstToken, trace.LastToken, trace.Finished, trace.OutputTokens)
	if got != "150 210 261 9" { // the throughput is that of 5 chunks
		t.Error(got)
	}
	// Where the throughput counts tokens, the latency is divided by chunks, whose
	// number nobody knows.
	got = rowOf(t, "llmperf", `[{"error_code": null, "inter_token_latency_s": 0.042, "ttft_s": 0.15, "end_to_end_latency_s": 0.25, "request_output_throughput_token_per_s": 40.0, "number_output_tokens": 10, "number_input_tokens": 5}]`, trace.LastToken, trace.Finished)
	if got != "null 250" {
		t.Error(got)
	}
}

// P13: tokens of a chunk have its time; gaps are between chunks.
func TestP13TokensOfAChunk(t *testing.T) {
	got := rowOf(t, "inferenceperf", request("[100.1, 100.13, 100.13, 100.13, 100.13, 100.16, 100.16, 100.16]", "8", "null"), trace.ChunkGaps, trace.ChunkTokens, trace.FirstChunkTokens)
	if got != "[30000000 30000000] [1 4 3] 1" {
		t.Error(got)
	}
	// Reads that came together leave a gap of 0, which is kept.
	got = rowOf(t, "aiperf", `{"metadata": {"request_start_ns": 1700000000000000000}, "metrics": {"time_to_first_token": {"value": 40.0, "unit": "ms"}, "request_latency": {"value": 0.1, "unit": "s"}, "inter_chunk_latency": {"value": [20, 20.0000004, 0.0, 20.0000006], "unit": "ms"}, "output_sequence_length": {"value": 5, "unit": "tokens"}}}`,
		trace.ChunkGaps, trace.OutputTokens, trace.OutputTokensSource)
	if got != "[20000000 20000000 0 20000001] 5 client" {
		t.Error(got)
	}
}

// P17: both counts are kept, the server's goes before.
func TestP17Counts(t *testing.T) {
	if got := rowOf(t, "inferenceperf", request("[100.1, 100.2]", "125", `{"completion_tokens": 1000}`), trace.OutputTokens, trace.OutputTokensSource, trace.ClientTokens); got != "1000 server 125" {
		t.Error(got)
	}
}
