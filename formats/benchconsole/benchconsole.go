// Package benchconsole reads what the benchmarks of vLLM and SGLang print, often
// the only thing that was kept, among whatever else a console shows: the table
// between "Serving Benchmark Result" and a line of equals signs, and other blocks
// of figures, each a run of what its producer computed, rounded to a few decimals.
// SGLang's bench_one_batch also gives rows of steps (see batch.go), and its serving
// benchmark rows of requests with --print-requests (see printed.go).
//
//	what is printed                      first seen   last seen
//	Total Token throughput (tok/s)       vLLM v0.6    v0.12, then "Total token throughput"
//	Maximum request concurrency          vLLM v0.10.1 to come
//	Failed requests                      vLLM v0.11.1 to come
//	Peak output token throughput (tok/s) vLLM v0.11.0 to come
//	Peak concurrent requests             vLLM v0.11.0 to come
//	Mean E2EL (ms)                       vLLM         to come
//	Mean E2E Latency (ms)                SGLang       to come
//	P90, P95 of other latencies          SGLang v0.5.14 to come
//	Throughput: … requests/s, …          vllm bench throughput, outside a table
//	Avg latency: … seconds               vllm bench latency, with quantiles: v0.1 to come
//	Statistics summary:                  vLLM benchmark_serving_multi_turn.py: v0.10.1 to come
//	Performance metrics summary:         SGLang bench_multiturn.py: v0.4.5 to come
//	Prefill. latency: … s, …             SGLang bench_one_batch: v0.1 to come
//	rid=… message="request end" …        SGLang --print-requests: v0.5.6.post2 to come
package benchconsole

import (
	"bytes"
	"context"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/internal/block"
)

const formatName = "benchconsole"

// Format reads the tables that serving benchmarks print.
var Format = formats.Format{
	Name:     formatName,
	Title:    "console output of vLLM's and SGLang's benchmarks (Serving Benchmark Result)",
	Priority: 57,
	Shape:    formats.Ordered,
	Sniff:    sniff,
	Open: func(ctx context.Context, src formats.Source, rng formats.Range, opt formats.Options) (formats.Reader, error) {
		r := &reader{src: src, opt: opt, steps: trace.NewBuilder(trace.Steps), requests: trace.NewBuilder(trace.Requests)}
		r.Counts.Kinds = make(map[string]int64)
		r.stream = block.Map(ctx, src, rng, block.Options{Workers: 1, Block: opt.Block, MaxLine: 16 << 20},
			func() struct{} { return struct{}{} }, func(*block.Block, struct{}) {})
		return r, nil
	},
}

var title = []byte("= Serving Benchmark Result =")

func sniff(h *formats.Head) (formats.Score, string) {
	for _, part := range append([][]byte{h.Start}, h.Samples...) {
		if bytes.Contains(part, title) {
			return formats.Sure, "it has a table headed Serving Benchmark Result"
		}
	}
	for _, line := range h.Lines() {
		line = bytes.TrimSpace(line)
		if throughput(line) != nil {
			return formats.Likely, "it has the last line that vllm bench throughput prints"
		}
		if p, ok := parsePass(line); ok && p.kind == "Prefill" {
			return formats.Likely, "it has the lines that SGLang's bench_one_batch prints"
		}
		if bytes.HasPrefix(line, []byte("rid=")) && bytes.Contains(line, []byte(` message="request start" request_func_input="`)) {
			return formats.Likely, "it has the lines that SGLang's bench_serving --print-requests prints"
		}
		if _, ok := sections[string(line[:min(len(line), maxText)])]; ok || bytes.HasPrefix(line, []byte("Avg latency: ")) && bytes.HasSuffix(line, []byte(" seconds")) {
			return formats.Maybe, "it has a line that a benchmark of vLLM or SGLang prints"
		}
	}
	return formats.No, "it has no table headed Serving Benchmark Result"
}

const maxRuns = 10_000

// reader implements formats.Reader.
type reader struct {
	formats.Base
	src     formats.Source
	opt     formats.Options
	stream  *block.Stream[struct{}]
	data    []byte // of the block, still to be read
	at      int64  // its offset
	tooLong bool   // a line was skipped behind it

	table   *trace.RunMeta // that is read, or nil
	serving *trace.RunMeta // of requests whose table is still to come
	one     *trace.RunMeta // of the steps of a batch
	args    []trace.Pair   // of the command, printed before
	section section
	run     *trace.RunMeta // of the section
	header  []string       // of its columns
	warm    bool           // the steps are those of a warm-up
	asked   map[string]started

	steps, requests *trace.Builder

	done bool
}

// batchRows is the number of rows from which a batch is worth handing out.
const batchRows = 4096

// Next implements formats.Reader.
func (r *reader) Next() bool {
	for r.Current = nil; !r.done; {
		for len(r.data) > 0 {
			_, rest, _ := bytes.Cut(r.data, []byte("\n"))
			line := r.data[:len(r.data)-len(rest)]
			r.line(line, r.at)
			r.data, r.at = rest, r.at+int64(len(line))
			if r.Current != nil || r.flush(batchRows) {
				return true
			}
		}
		if r.tooLong { // its diag is the stream's
			r.count(&r.Counts.Diagnosed, "too long")
		}
		if r.tooLong = false; !r.stream.Next() {
			r.done = true
			r.finish()
			break
		}
		b := r.stream.Block()
		r.data, r.at, r.tooLong = b.Data, b.Off, b.TooLong >= 0
	}
	return r.stream.Err() == nil && r.flush(1)
}

// flush takes a batch of at least so many rows, of steps first.
func (r *reader) flush(least int) bool {
	switch {
	case r.steps.Rows() >= least:
		r.Current = r.steps.Take(r.one, r.src.Name())
	case r.requests.Rows() >= least:
		r.Current = r.requests.Take(r.serving, r.src.Name())
	default:
		return false
	}
	return true
}

func (r *reader) finish() {
	r.open()
	r.Log.Merge(r.stream.Diags())
	r.Counts.Total = r.Counts.Parsed + r.Counts.Noise + r.Counts.Diagnosed
	if r.table != nil {
		r.add("truncated", diag.DataLoss, -1, "the text ends within a table: what stands before is used")
	}
	if len(r.List) == 0 && r.stream.Err() == nil {
		r.add("no_table", diag.Error, -1, "the text has no table headed Serving Benchmark Result, and no other figures that are known here")
	}
}

func (r *reader) count(part *int64, kind string) {
	*part++
	r.Counts.Kinds[kind]++
}

func (r *reader) add(code string, sev diag.Severity, at int64, msg string) {
	r.Log.Add(diag.Diag{Code: code, Severity: sev, File: r.src.Name(), Offset: at, Msg: msg})
}

// Err implements formats.Reader.
func (r *reader) Err() error { return r.stream.Err() }

// Close implements formats.Reader.
func (r *reader) Close() error { r.stream.Close(); return nil }
