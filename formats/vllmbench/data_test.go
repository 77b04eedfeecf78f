package vllmbench

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/source"
)

// realFile returns a published file that is not part of the project.
func realFile(t *testing.T, name string) []byte {
	t.Helper()
	for _, dir := range []string{os.Getenv("SERVESCOPE_DATA"), "../../../shared/data", "../../../../shared/data"} {
		if b, err := os.ReadFile(filepath.Join(dir, "vllm", name)); err == nil && dir != "" {
			return b
		}
	}
	t.Skip("the real files are not here")
	return nil
}

// row is one row, with -1 for null.
type row struct {
	status                                        trace.Status
	class                                         string
	clock                                         string
	sent, scheduled, event, first, last, finished int64
	prompt, output, wait                          int64
	gaps                                          []int64
	listed                                        bool
}

// read reads all of text.
func read(t *testing.T, text []byte, opt formats.Options) ([]*trace.RunMeta, []row, formats.Reader) {
	t.Helper()
	opt.Lists = true
	r, err := Format.Open(context.Background(), source.FromBytes("in.json", text), formats.Whole, opt)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var rows []row
	for r.Next() {
		b := r.Batch()
		int := func(c trace.Col, i int) int64 {
			if v, ok := b.Ints(c).At(i); ok {
				return v
			}
			return -1
		}
		for i := range b.Rows {
			q := row{sent: int(trace.Sent, i), scheduled: int(trace.ScheduledSend, i), event: int(trace.FirstEvent, i), first: int(trace.FirstToken, i),
				last: int(trace.LastToken, i), finished: int(trace.Finished, i), prompt: int(trace.PromptTokens, i), output: int(trace.OutputTokens, i), wait: int(trace.DClientWait, i)}
			status, _ := b.Dicts(trace.StatusCol).At(i)
			q.status = trace.Status(status)
			if c, ok := b.Dicts(trace.ErrorClass).At(i); ok {
				q.class = b.Dicts(trace.ErrorClass).Values[c]
			}
			if c, ok := b.Dicts(trace.ClockCol).At(i); ok {
				q.clock = b.Dicts(trace.ClockCol).Values[c]
			}
			gaps, ok := b.Lists(trace.ChunkGaps).At(i)
			q.gaps, q.listed = append([]int64{}, gaps...), ok
			rows = append(rows, q)
		}
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	return r.Runs(), rows, r
}

// result is the part of a result file that the tests compute with, read by
// encoding/json.
type result struct {
	Completed, Failed int
	TotalInput        int64       `json:"total_input_tokens"`
	TotalOutput       int64       `json:"total_output_tokens"`
	TTFTs             []float64   `json:"ttfts"`
	ITLs              [][]float64 `json:"itls"`
	Starts            []float64   `json:"start_times"`
	Errors            []string    `json:"errors"`
	Duration          float64
	MeanTTFT          float64 `json:"mean_ttft_ms"`
	MeanITL           float64 `json:"mean_itl_ms"`
	MeanTPOT          float64 `json:"mean_tpot_ms"`
}

// TestRealFiles compares the rows of real results with what encoding/json reads
// in them and with their own totals.
func TestRealFiles(t *testing.T) {
	for name, clock := range map[string]trace.ClockKind{"bench-serve-2025-03-c128.json": trace.RequestClock, "bench-serve-2026-07-spec-2of4-failed.json": trace.Monotonic} {
		t.Run(name, func(t *testing.T) {
			text := realFile(t, name)
			var want result
			if err := json.Unmarshal(text, &want); err != nil {
				t.Fatal(err)
			}
			runs, rows, _ := read(t, text, formats.Options{Workers: 2, Block: 5000})
			if len(runs) != 1 || len(rows) != len(want.TTFTs) || runs[0].DefaultDefinition != "vllm-2026" || runs[0].Clock.Kind != clock {
				t.Fatalf("%d runs, %d rows, definition %s, clock %s", len(runs), len(rows), runs[0].DefaultDefinition, runs[0].Clock)
			}
			if ns := int64(math.Round(want.Duration * 1e9)); !runs[0].HasDuration || abs(runs[0].Duration-ns) > 1 {
				t.Errorf("duration %d, want %d", runs[0].Duration, ns)
			}
			var ok, prompt, output, gaps, gapSum, ttft int64
			var tpot float64
			for i, q := range rows {
				if failed := want.Errors[i] != ""; failed != (q.status == trace.Failed) || failed != (q.class == "no valid chunk") {
					t.Errorf("request %d: status %d, class %q, error %q", i, q.status, q.class, want.Errors[i])
				}
				if q.status != trace.OK {
					if q.first != -1 || q.output != -1 {
						t.Errorf("request %d failed before its first token: %+v", i, q)
					}
					continue
				}
				if want.Starts != nil && abs(q.sent-int64(math.Round(want.Starts[i]*1e9))) > 100 { // a float64 resolves 29 ns here
					t.Errorf("request %d sent at %d", i, q.sent)
				}
				if len(q.gaps) != len(want.ITLs[i]) {
					t.Fatalf("request %d: %d gaps, want %d", i, len(q.gaps), len(want.ITLs[i]))
				}
				sum := int64(0)
				for j, g := range q.gaps {
					if g != int64(math.RoundToEven(want.ITLs[i][j]*1e9)) {
						t.Errorf("request %d, gap %d: %d ns, want %v s", i, j, g, want.ITLs[i][j])
					}
					sum += g
				}
				if q.last-q.first != sum || q.first-q.sent != int64(math.Round(want.TTFTs[i]*1e9)) {
					t.Errorf("request %d: %+v", i, q)
				}
				ok, prompt, output, gaps, gapSum, ttft = ok+1, prompt+q.prompt, output+q.output, gaps+int64(len(q.gaps)), gapSum+sum, ttft+q.first-q.sent
				tpot += float64(q.last-q.first) / float64(q.output-1)
			}
			if ok != int64(want.Completed) || prompt != want.TotalInput || output != want.TotalOutput {
				t.Errorf("%d ok, %d and %d tokens; the file says %d, %d and %d", ok, prompt, output, want.Completed, want.TotalInput, want.TotalOutput)
			}
			near := func(what string, got, ms float64) {
				if math.Abs(got/1e6-ms) > 1e-6*ms {
					t.Errorf("mean %s %v ms, the file says %v", what, got/1e6, ms)
				}
			}
			near("TTFT", float64(ttft)/float64(ok), want.MeanTTFT)
			near("ITL", float64(gapSum)/float64(gaps), want.MeanITL)
			near("TPOT", tpot/float64(ok), want.MeanTPOT)
		})
	}
}

func abs(v int64) int64 {
	if v < 0 {
		return -v
	}
	return v
}

// TestRealAggregates reads results without arrays.
func TestRealAggregates(t *testing.T) {
	for name, runs := range map[string]int{"bench-serve-v0.25-aggregates.json": 1, "bench-serve-v0.25-all-failed.json": 1, "bench-sweep-summary.json": 2} {
		got, rows, r := read(t, realFile(t, name), formats.Options{Workers: 1})
		if len(got) != runs || len(rows) != 0 {
			t.Fatalf("%s: %d runs, %d rows", name, len(got), len(rows))
		}
		for _, m := range got {
			figures := 20
			if noted(m, "nothing_succeeded") { // 12 latencies are placeholders
				figures = 10
			}
			if m.NoRequests == "" || len(m.Reported) < figures || m.Model != "facebook/opt-125m" || m.DefaultDefinition != "vllm-2026" || m.Version != "≥v0.16" {
				t.Errorf("%s: %+v", name, m)
			}
		}
		if d := r.Diags().All(); len(d) != 1 || d[0].Code != "no_requests" || d[0].Count != int64(runs) {
			t.Errorf("%s: %v", name, r.Diags().All())
		}
	}
}
