package shapes

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
)

// TestShapes reads both shapes with encoding/json: each holds the requests that
// were asked for, in order, and is the same bytes twice.
func TestShapes(t *testing.T) {
	c := Config{Seed: 7, Count: 50, Tokens: 20, Open: 8}
	var records, events, again bytes.Buffer
	if err := Records(&records, c); err != nil {
		t.Fatal(err)
	}
	if err := Events(&events, c); err != nil {
		t.Fatal(err)
	}
	if Records(&again, c); !bytes.Equal(records.Bytes(), again.Bytes()) {
		t.Error("the same seed gives other bytes")
	}
	n, tokens := 0, 0
	for d := json.NewDecoder(&records); d.More(); n++ {
		var r struct {
			Arrival float64
			Output  int       `json:"output_tokens"`
			Tokens  []float64 `json:"token_timestamps"`
		}
		if err := d.Decode(&r); err != nil {
			t.Fatal(err)
		}
		last := r.Arrival
		for _, at := range r.Tokens {
			if at <= last {
				t.Fatalf("record %d: %v after %v", n, at, last)
			}
			last = at
		}
		if len(r.Tokens) != r.Output {
			t.Fatalf("record %d: %d tokens, want %d", n, len(r.Tokens), r.Output)
		}
		tokens += r.Output
	}
	if n != c.Count || tokens < 500 || tokens > 2000 {
		t.Errorf("%d records with %d tokens", n, tokens)
	}
	open, most, finished := map[string]int{}, 0, 0
	last := 0.0
	for d := json.NewDecoder(&events); d.More(); {
		var e struct {
			TS     float64
			ID     string `json:"request_id"`
			Event  string
			Output int `json:"output_tokens"`
		}
		if err := d.Decode(&e); err != nil {
			t.Fatal(err)
		}
		if e.Event != "finish" && e.TS < last {
			t.Fatalf("event at %v after %v", e.TS, last)
		}
		switch e.Event {
		case "arrival":
			open[e.ID] = 0
			most = max(most, len(open))
		case "token":
			open[e.ID]++
		case "finish":
			if open[e.ID] != e.Output {
				t.Fatalf("%s: %d tokens, finish says %d", e.ID, open[e.ID], e.Output)
			}
			delete(open, e.ID)
			finished++
		}
		last = e.TS
	}
	if finished != c.Count || len(open) != 0 || most < 4 {
		t.Errorf("%d finished, %d left open, at most %d at a time", finished, len(open), most)
	}
}

// TestBench reads a generated result with encoding/json.
func TestBench(t *testing.T) {
	c := Config{Seed: 7, Count: 50, Tokens: 20, Open: 8}
	var text, again bytes.Buffer
	if err := Bench(&text, c); err != nil {
		t.Fatal(err)
	}
	if Bench(&again, c); !bytes.Equal(text.Bytes(), again.Bytes()) {
		t.Error("the same seed gives other bytes")
	}
	var r struct {
		Total  int         `json:"total_output_tokens"`
		Output []int       `json:"output_lens"`
		ITLs   [][]float64 `json:"itls"`
		Errors []string
		Texts  []string `json:"generated_texts"`
		TTFTs  []float64
		Mean   float64 `json:"mean_ttft_ms"`
		Median float64 `json:"median_ttft_ms"`
	}
	if err := json.Unmarshal(text.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Output) != c.Count || len(r.ITLs) != c.Count || len(r.Errors) != c.Count || len(r.Texts) != c.Count || bytes.ContainsRune(text.Bytes(), '\n') {
		t.Errorf("%d, %d, %d and %d entries", len(r.Output), len(r.ITLs), len(r.Errors), len(r.Texts))
	}
	for i, n := range r.Output {
		if r.Total -= n; len(r.ITLs[i]) != n-1 {
			t.Errorf("request %d has %d tokens and %d gaps", i, n, len(r.ITLs[i]))
		}
	}
	if r.Total != 0 {
		t.Errorf("the total is wrong by %d", r.Total)
	}
	slices.Sort(r.TTFTs)
	sum := 0.0
	for _, v := range r.TTFTs {
		sum += v
	}
	if median := (r.TTFTs[24] + r.TTFTs[25]) / 2 * 1e3; math.Abs(sum/50*1e3-r.Mean) > 1e-9 || math.Abs(median-r.Median) > 1e-9 {
		t.Errorf("a mean of %v and a median of %v are claimed of %v", r.Mean, r.Median, r.TTFTs)
	}
}

// TestServerLogs counts the lines of each kind: they are those of the requests that
// were asked for, in order of time.
func TestServerLogs(t *testing.T) {
	c := Config{Seed: 7, Count: 50, Tokens: 20, Open: 8}
	for _, l := range []struct {
		write func(io.Writer, Config) error
		lines map[string]int
	}{
		{SGLangLog, map[string]int{"Prefill batch": 50, "ReqTimeStats(": 50, "POST /v1": 50}},
		{VLLMLog, map[string]int{"Received request": 50, "Generated response": 50, "POST /v1": 50}},
		{VLLMSteps, map[string]int{"Iteration(": 50, "EngineCore_DP7": 6}},
	} {
		var text, again bytes.Buffer
		if err := l.write(&text, c); err != nil {
			t.Fatal(err)
		}
		if l.write(&again, c); !bytes.Equal(text.Bytes(), again.Bytes()) {
			t.Error("the same seed gives other bytes")
		}
		for part, want := range l.lines {
			if n := bytes.Count(text.Bytes(), []byte(part)); n != want {
				t.Errorf("%d lines with %s, want %d", n, part, want)
			}
		}
		last := ""
		for line := range strings.Lines(text.String()) {
			if k := strings.Index(line, ":"); k > 2 && strings.HasPrefix(line[k+3:], ":") {
				if at := line[k-2 : k+6]; at < last {
					t.Fatalf("%s after %s", at, last)
				} else {
					last = at
				}
			}
		}
	}
}

// TestLines reads what is written one object per line with encoding/json.
func TestLines(t *testing.T) {
	c := Config{Seed: 7, Count: 200, Tokens: 20, Open: 8}
	for _, l := range []struct {
		write func(io.Writer, Config) error
		lines int
	}{{SGLangExport, 200}, {BenchLines, 2}} {
		var text, again bytes.Buffer
		if err := l.write(&text, c); err != nil {
			t.Fatal(err)
		}
		if l.write(&again, c); !bytes.Equal(text.Bytes(), again.Bytes()) {
			t.Error("the same seed gives other bytes")
		}
		n := 0
		for line := range bytes.Lines(text.Bytes()) {
			var r struct {
				Parameters string `json:"request_parameters"`
				Completed  int
			}
			if err := json.Unmarshal(line, &r); err != nil {
				t.Fatal(err)
			}
			if n++; r.Completed != 100 && !json.Valid([]byte(r.Parameters)) {
				t.Errorf("line %d: %.200s", n, line)
			}
		}
		if n != l.lines {
			t.Errorf("%d lines, want %d", n, l.lines)
		}
	}
}
