package sglangbench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/source"
)

// row is one row, with -1 for null.
type row struct {
	status                        trace.Status
	source                        trace.TokenSource
	first, last, finished         int64
	prompt, cached, output, asked int64
	firstChunk                    int64
	streamed                      bool
	gaps, tokens                  []int64
}

// read reads the ranges of a text as one.
func read(t *testing.T, text []byte, ranges ...formats.Range) (runs []*trace.RunMeta, rows []row, diags string) {
	t.Helper()
	if len(ranges) == 0 {
		ranges = []formats.Range{formats.Whole}
	}
	var codes []string
	for _, rng := range ranges {
		r, err := Format.Open(context.Background(), source.FromBytes("in.jsonl", text), rng, formats.Options{Workers: 1, Lists: true})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		for r.Next() {
			for i := range r.Batch().Rows {
				rows = append(rows, rowOf(r.Batch(), i))
			}
		}
		if r.Err() != nil {
			t.Fatal(r.Err())
		}
		runs = append(runs, r.Runs()...)
		for _, d := range r.Diags().All() {
			codes = append(codes, fmt.Sprintf("%s×%d", d.Code, d.Count))
		}
	}
	slices.Sort(codes)
	return runs, rows, strings.Join(codes, " ")
}

func rowOf(b *trace.Batch, i int) row {
	get := func(c trace.Col) int64 {
		if v, ok := b.Ints(c).At(i); ok {
			return v
		}
		return -1
	}
	q := row{first: get(trace.FirstToken), last: get(trace.LastToken), finished: get(trace.Finished), prompt: get(trace.PromptTokens), cached: get(trace.CachedTokens),
		output: get(trace.OutputTokens), asked: get(trace.MaxTokens), firstChunk: get(trace.FirstChunkTokens), source: -1}
	status, _ := b.Dicts(trace.StatusCol).At(i)
	q.status = trace.Status(status)
	if c, ok := b.Dicts(trace.OutputTokensSource).At(i); ok {
		q.source = trace.TokenSource(c)
	}
	q.streamed, _ = b.Bools(trace.Stream).At(i)
	q.gaps, _ = b.Lists(trace.ChunkGaps).At(i)
	q.tokens, _ = b.Lists(trace.ChunkTokens).At(i)
	q.gaps, q.tokens = slices.Clone(q.gaps), slices.Clone(q.tokens)
	return q
}

// result is a line of one run with the given backend and further members.
func result(backend, members string) []byte {
	return []byte(`{"backend": "` + backend + `", "dataset_name": "random", "request_rate": Infinity, "max_concurrency": null, "duration": 1.5, "completed": 1, ` + members + "}\n")
}

const ms = 1_000_000

// P05: an error inside a stream with status 200 passes for a success.
func TestP05SilentFailure(t *testing.T) {
	_, rows, diags := read(t, result("sglang", `"output_lens": [16, 2], "ttfts": [0.0, 0.1], "itls": [[], [0.02]], "generated_texts": ["", "a b"], "errors": ["", ""]`))
	if q := rows[0]; q.status != trace.Empty || q.first != -1 || q.output != -1 {
		t.Errorf("%+v", q)
	}
	if q := rows[1]; q.status != trace.OK || q.first != 100*ms || q.last != 120*ms || q.output != 2 || diags != "silent_failure×1" {
		t.Errorf("%+v %s", q, diags)
	}
}

// P13: the native backend splits a gap over the tokens of its chunk.
func TestP13SplitGaps(t *testing.T) {
	runs, rows, _ := read(t, result("sglang", `"output_lens": [9], "ttfts": [0.1], "itls": [[0.0075, 0.0075, 0.0075, 0.0075, 0.01, 0.01, 0.01]], "generated_texts": ["x"], "errors": [""]`))
	if q := rows[0]; q.firstChunk != 2 || !slices.Equal(q.tokens, []int64{2, 1, 1, 1, 1, 1, 1, 1}) || q.last-q.first != 60*ms || q.source != trace.FromServer {
		t.Errorf("%+v", q)
	}
	if !slices.ContainsFunc(runs[0].Notes, func(s string) bool { return strings.HasPrefix(s, "gaps_per_token: ") }) {
		t.Errorf("%q", runs[0].Notes)
	}
	// Other backends do not, and what a chunk holds is unknown.
	_, rows, _ = read(t, result("vllm", `"total_output_tokens_retokenized": 9, "output_lens": [9], "ttfts": [0.1], "itls": [[0.03, 0.03]], "generated_texts": ["x"], "errors": [""]`))
	if q := rows[0]; q.firstChunk != -1 || q.tokens != nil || len(q.gaps) != 2 {
		t.Errorf("%+v", q)
	}
}

// P15: a requested length is no count.
func TestP15RequestedLength(t *testing.T) {
	for _, backend := range []string{"sglang-oai", "sglang-oai-chat", "vllm", "vllm-chat", "lmdeploy", "trt", "truss"} {
		_, rows, _ := read(t, result(backend, `"total_output_tokens_retokenized": 11, "output_lens": [1000], "ttfts": [0.1], "itls": [[0.2]], "generated_texts": ["x"], "errors": [""]`))
		if q := rows[0]; q.output != -1 || q.asked != 1000 || q.source != trace.FromRequested {
			t.Errorf("%s: %+v", backend, q)
		}
		// Shown equal by the client's own count.
		_, rows, _ = read(t, result(backend, `"total_output_tokens_retokenized": 990, "output_lens": [1000], "ttfts": [0.1], "itls": [[0.2]], "generated_texts": ["x"], "errors": [""]`))
		if q := rows[0]; q.output != 1000 || q.asked != -1 || q.source != trace.FromClient {
			t.Errorf("%s: %+v", backend, q)
		}
	}
}

// P81: Infinity is the default rate; several runs and a cut one in a file.
func TestP81ManyRuns(t *testing.T) {
	one := string(result("sglang", `"mean_ttft_ms": NaN, "output_lens": [2], "ttfts": [0.1], "itls": [[0.02]], "errors": [""]`))
	runs, rows, diags := read(t, []byte(one+one[:len(one)-20]+"\n"+one))
	if len(runs) != 3 || len(rows) != 3 || diags != "truncated×1" { // completed says that all succeeded
		t.Errorf("%d runs, %d rows, %s", len(runs), len(rows), diags)
	}
	if runs[0].Config[2] != (trace.Pair{Key: "request_rate", Value: "inf"}) || len(runs[0].Reported) != 1 {
		t.Errorf("%+v", runs[0])
	}
}

// P85: a failed request may have a TTFT and gaps.
func TestP85PartialFailure(t *testing.T) {
	_, rows, _ := read(t, result("sglang", `"output_lens": [0, 2], "ttfts": [0.3, 0.1], "itls": [[0.05], [0.02]], "generated_texts": ["", "a b"], "errors": ["Internal Server Error: x", ""]`))
	if q := rows[0]; q.status != trace.Failed || q.first != 300*ms || q.last != 350*ms || q.output != -1 {
		t.Errorf("%+v", q)
	}
}

// TestNotStreamed: with --disable-stream ttfts are end-to-end times.
func TestNotStreamed(t *testing.T) {
	_, rows, diags := read(t, result("sglang", `"output_lens": [20, 1], "ttfts": [1.5, 0.5], "itls": [[], []], "generated_texts": ["a", "b"], "errors": ["", ""]`))
	if q := rows[0]; q.streamed || q.first != -1 || q.finished != 1500*ms || q.last != 1500*ms || diags != "not_streamed×1" {
		t.Errorf("%+v %s", q, diags)
	}
	// One token each: no gap is no sign.
	_, rows, diags = read(t, result("sglang", `"output_lens": [1, 1], "ttfts": [1.5, 0.5], "itls": [[], []], "generated_texts": ["a", "b"], "errors": ["", ""]`))
	if q := rows[0]; !q.streamed || q.first != 1500*ms || diags != "" {
		t.Errorf("%+v %s", q, diags)
	}
}

// TestPretty reads a result that something has spread over lines.
func TestPretty(t *testing.T) {
	runs, rows, diags := read(t, []byte("{\n  \"backend\": \"sglang\",\n  \"request_rate\": 1,\n  \"completed\": 1,\n  \"output_lens\": [\n    2\n  ],\n  \"ttfts\": [0.1],\n  \"itls\": [\n    [\n      0.02\n    ]\n  ],\n  \"errors\": [\"\"]\n}\n"+string(result("sglang", `"ttfts": [0.1]`))))
	if len(runs) != 2 || len(rows) != 2 || rows[0].last != 120*ms || diags != "" {
		t.Errorf("%d runs, %+v, %s", len(runs), rows, diags)
	}
}

// TestLongLines: a line longer than any range is read by the reader of the
// range that it starts in.
func TestLongLines(t *testing.T) {
	const requests = 2000
	repeat := func(s string) string { return "[" + strings.TrimSuffix(strings.Repeat(s+", ", requests), ", ") + "]" }
	one := string(result("sglang", `"output_lens": `+repeat("3")+`, "ttfts": `+repeat("0.1")+`, "itls": `+repeat("[0.01, 0.02]")+`, "generated_texts": `+repeat(`"a \"b\" ], ["`)+`, "errors": `+repeat(`""`)))
	text := []byte(one + one)
	var ranges []formats.Range
	for at := int64(0); at < int64(len(text)); at += 4000 {
		ranges = append(ranges, formats.Range{From: at, To: at + 4000})
	}
	runs, rows, diags := read(t, text, ranges...)
	if len(runs) != 2 || len(rows) != 2*requests || diags != "" || len(ranges) < 20 {
		t.Fatalf("%d runs, %d rows, %s", len(runs), len(rows), diags)
	}
	for i, q := range rows {
		if q.status != trace.OK || q.last != 130*ms || q.output != 3 {
			t.Fatalf("row %d: %+v", i, q)
		}
	}
}

// TestRealFiles reads published results.
func TestRealFiles(t *testing.T) {
	dir := ""
	for _, d := range []string{os.Getenv("SERVESCOPE_DATA"), "../../../shared/data", "../../../../shared/data"} {
		if _, err := os.Stat(filepath.Join(d, "sglang")); err == nil && d != "" {
			dir = filepath.Join(d, "sglang")
			break
		}
	}
	if dir == "" {
		t.Skip("the real files are not here")
	}
	for name, want := range map[string]struct {
		runs           int
		model, version string
		rate           []string
	}{
		"bench_serving-v0.4.0.jsonl":            {7, "", "", []string{"1.0", "2.0", "4.0", "8.0", "16.0", "4.0", "8.0"}},
		"bench_serving-v0.5.6-aggregates.jsonl": {1, "Qwen/Qwen2.5-3B-Instruct", "0.5.5.post3", []string{"inf"}},
	} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if score, reason := Format.Sniff(&formats.Head{Start: text[:min(len(text), formats.HeadSize)], Size: int64(len(text))}); score != formats.Sure {
			t.Errorf("%s: score %d (%s)", name, score, reason)
		}
		runs, rows, diags := read(t, text)
		if len(runs) != want.runs || len(rows) != 0 || diags != fmt.Sprintf("no_requests×%d", want.runs) {
			t.Fatalf("%s: %d runs, %d rows, %s", name, len(runs), len(rows), diags)
		}
		for i, m := range runs {
			if m.Model != want.model || m.Version != want.version || m.Engine != "sglang" || m.DefaultDefinition != "sglang" || m.NoRequests == "" || !m.HasDuration {
				t.Errorf("%s: %+v", name, m)
			}
			if !slices.Contains(m.Config, trace.Pair{Key: "request_rate", Value: want.rate[i]}) {
				t.Errorf("%s: run %d: %v", name, i, m.Config)
			}
		}
	}
}

// TestSniff: what is claimed, and what is left to others.
func TestSniff(t *testing.T) {
	for text, want := range map[string]formats.Score{
		`{"backend": "sglang", "dataset_name": "random", "request_rate": 1.0, "max_concurrency": null, "sharegpt_output_len": null`: formats.Sure,
		`{"tag": null, "backend": "vllm", "dataset_name": "sharegpt", "request_rate": Infinity`:                                     formats.Likely,
		"{\"cut\n{\"backend\": \"sglang\", \"dataset_name\": \"random\", \"request_rate\": 1.0, \"random_input_len\": 5}":           formats.Sure,
		`{"completed": 5, "total_output_tokens_retokenized": 7}`:                                                                    formats.Likely,
		`{"backend": "vllm", "model_id": "m", "dataset_name": "random", "num_prompts": 4, "request_rate": "inf"}`:                   formats.No,
		`{"run_name": "default", "batch_size": 1, "input_len": 5, "output_len": 5, "latency": 0.5, "output_throughput": 7}`:         formats.No,
		"": formats.No, "{": formats.No, "[2026-01-01 00:00:00] Decode batch": formats.No,
	} {
		score, reason := Format.Sniff(&formats.Head{Start: []byte(text), Size: int64(len(text))})
		if score != want || reason == "" {
			t.Errorf("%.120s: score %d, want %d (%s)", text, score, want, reason)
		}
	}
}
