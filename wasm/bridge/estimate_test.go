package bridge

import (
	"io"
	"strings"
	"testing"

	"servescope/formats"
	"servescope/formats/source"
)

// endless is a source of so many copies of a text.
type endless struct {
	formats.Source
	text string
	n    int64
}

func (s *endless) Size() int64     { return s.n * int64(len(s.text)) }
func (s *endless) At() io.ReaderAt { return s }
func (s *endless) Name() string    { return "long.jsonl" }
func (s *endless) Open(off int64) (io.ReadCloser, error) {
	return io.NopCloser(io.NewSectionReader(s, off, s.Size()-off)), nil
}

// ReadAt implements io.ReaderAt.
func (s *endless) ReadAt(p []byte, off int64) (int, error) {
	for i := range p {
		if off+int64(i) >= s.Size() {
			return i, io.EOF
		}
		p[i] = s.text[(off+int64(i))%int64(len(s.text))]
	}
	return len(p), nil
}

// TestEstimate: a log of requests is estimated by its lines, and told to be too long
// before it is read; without a limit, or a length, there is no estimate.
func TestEstimate(t *testing.T) {
	line := `{"request_id":"r1","arrival":100,"token_timestamps":[100.1,100.2],"prompt_tokens":5,"output_tokens":2}` + "\n"
	for _, c := range []struct {
		lines, limit int64
		fits         bool
	}{{1_000, 3 << 30, true}, {4_000_000, 3 << 30, true}, {5_000_000, 3 << 30, false}, {4_000_000, 0, true}} {
		e := newEngine()
		e.opt.Limit = c.limit
		src := &endless{Source: source.FromBytes("long.jsonl", nil), text: line, n: c.lines}
		head := ask(t, e, []source.Input{{Source: src}}, "op", "open", "session", "1").head
		got, _ := head["estimate"].(map[string]any)
		if c.limit == 0 {
			if got != nil {
				t.Errorf("an estimate without a limit: %v", got)
			}
			continue
		}
		if head["type"] != "result" || got["bytes"] != float64(src.Size()) || got["limit"] != float64(c.limit) || got["fits"] != c.fits {
			t.Errorf("%d lines: %v", c.lines, head)
			continue
		}
		rows := float64(c.lines * perLine)
		if memory := got["memory"].(float64) - started; memory < 0.98*rows || memory > 1.02*rows+0.1e6 {
			t.Errorf("%d lines take %.0f bytes, want about %.0f", c.lines, memory, rows)
		}
	}
	text := `{"date": "20260205-142233", "endpoint_type": "vllm", "backend": "vllm", "label": null, "model_id": "m", "num_prompts": 1, "request_rate": "inf", "burstiness": 1.0, "max_concurrency": null, "duration": 1.5, "completed": 1, "total_input_tokens": 5, "total_output_tokens": 2, "request_throughput": 0.6, "input_lens": [5], "output_lens": [2], "ttfts": [0.1], "itls": [[0.1]], "generated_texts": ["` + strings.Repeat("x", 1000) + `"], "errors": [""]}`
	e := newEngine()
	e.opt.Limit = 1 << 30
	head := ask(t, e, []source.Input{{Source: source.FromBytes("result.json", []byte(text))}}, "op", "open", "session", "1").head
	if got, _ := head["estimate"].(map[string]any); got["memory"] != float64(started+perInput+len(text)/8) {
		t.Errorf("a document: %v", head)
	}
}

// TestEstimateRuns: results appended to one file are estimated as runs, whose number
// may be too great though their bytes are few; and a single result is none of many.
func TestEstimateRuns(t *testing.T) {
	line := `{"date": "20260205-142233", "endpoint_type": "vllm", "backend": "vllm", "label": null, "model_id": "m", "num_prompts": 1, "request_rate": "inf", "burstiness": 1.0, "max_concurrency": null, "duration": 1.5, "completed": 1, "total_input_tokens": 5, "total_output_tokens": 2, "request_throughput": 0.6}` + "\n"
	for _, c := range []struct {
		runs int64
		fits bool
	}{{1000, true}, {5800, false}} {
		e := newEngine()
		e.opt.Limit = 4 << 30
		src := &endless{Source: source.FromBytes("sweep.jsonl", nil), text: line, n: c.runs}
		got, _ := ask(t, e, []source.Input{{Source: src}}, "op", "open", "session", "1").head["estimate"].(map[string]any)
		n, _ := got["runs"].(float64)
		if n < 0.98*float64(c.runs) || n > 1.02*float64(c.runs) || got["fits"] != c.fits || got["memory"].(float64) < n*perRun {
			t.Errorf("%d runs: %v", c.runs, got)
		}
	}
}
