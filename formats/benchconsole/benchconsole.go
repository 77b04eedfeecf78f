// Package benchconsole reads what the serving benchmarks of vLLM and SGLang print:
// the table between "Serving Benchmark Result" and a line of equals signs, often
// the only thing that was kept, among whatever else a console shows. Each table
// is a run of figures that its producer computed, rounded to two decimals.
//
//	label                                first seen   last seen
//	Total Token throughput (tok/s)       vLLM v0.6    v0.12, then "Total token throughput"
//	Maximum request concurrency          vLLM v0.10.1 to come
//	Failed requests                      vLLM v0.11.1 to come
//	Peak output token throughput (tok/s) vLLM v0.11.0 to come
//	Peak concurrent requests             vLLM v0.11.0 to come
//	Mean E2EL (ms)                       vLLM         to come
//	Mean E2E Latency (ms)                SGLang       to come
//	P90, P95 of other latencies          SGLang v0.5.14 to come
//	Throughput: … requests/s, …          vllm bench throughput, outside a table
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
	Title:    "console output of vLLM's and SGLang's serving benchmarks (Serving Benchmark Result)",
	Priority: 57,
	Shape:    formats.Ordered,
	Sniff:    sniff,
	Open: func(ctx context.Context, src formats.Source, rng formats.Range, opt formats.Options) (formats.Reader, error) {
		r := &reader{src: src, opt: opt}
		r.account.Kinds = make(map[string]int64)
		r.stream = block.Map(ctx, src, rng, block.Options{Workers: 1, Block: opt.Block, MaxLine: 1 << 20},
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
		if throughput(line) != nil {
			return formats.Likely, "it has the last line that vllm bench throughput prints"
		}
	}
	return formats.No, "it has no table headed Serving Benchmark Result"
}

const maxRuns = 10_000

// reader implements formats.Reader. It has no rows.
type reader struct {
	src     formats.Source
	opt     formats.Options
	stream  *block.Stream[struct{}]
	runs    []*trace.RunMeta
	table   *trace.RunMeta // that is read, or nil
	args    []trace.Pair   // of the command, printed before
	log     diag.Log
	account formats.Account
	done    bool
}

// Next implements formats.Reader: there is no batch.
func (r *reader) Next() bool {
	for !r.done && r.stream.Next() {
		b := r.stream.Block()
		at := b.Off
		for line := range bytes.Lines(b.Data) {
			r.line(line, at)
			at += int64(len(line))
		}
		if b.TooLong >= 0 { // its diag is the stream's
			r.count(&r.account.Diagnosed, "too long")
		}
	}
	if !r.done {
		r.done = true
		r.finish()
	}
	return false
}

func (r *reader) finish() {
	r.log.Merge(r.stream.Diags())
	r.account.Total = r.account.Parsed + r.account.Noise + r.account.Diagnosed
	if r.table != nil {
		r.add("truncated", diag.DataLoss, -1, "the text ends within a table: what stands before is used")
	}
	if len(r.runs) == 0 && r.stream.Err() == nil {
		r.add("no_table", diag.Error, -1, "the text has no table headed Serving Benchmark Result")
	}
}

func (r *reader) count(part *int64, kind string) {
	*part++
	r.account.Kinds[kind]++
}

func (r *reader) add(code string, sev diag.Severity, at int64, msg string) {
	r.log.Add(diag.Diag{Code: code, Severity: sev, File: r.src.Name(), Offset: at, Msg: msg})
}

// Batch implements formats.Reader.
func (r *reader) Batch() *trace.Batch { return nil }

// Err implements formats.Reader.
func (r *reader) Err() error { return r.stream.Err() }

// Diags implements formats.Reader.
func (r *reader) Diags() *diag.Log { return &r.log }

// Runs implements formats.Reader.
func (r *reader) Runs() []*trace.RunMeta { return r.runs }

// Account implements formats.Reader: of lines.
func (r *reader) Account() formats.Account { return r.account }

// Close implements formats.Reader.
func (r *reader) Close() error { r.stream.Close(); return nil }
