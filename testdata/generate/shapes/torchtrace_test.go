package shapes

import (
	"bytes"
	"encoding/json"
	"testing"
)

// TestTorchTrace reads a trace with encoding/json: it has what the goals of
// speed and memory ask of it.
func TestTorchTrace(t *testing.T) {
	var text, again bytes.Buffer
	c := Config{Seed: 3, Size: 3 << 20}
	if err := TorchTrace(&text, c); err != nil {
		t.Fatal(err)
	}
	if TorchTrace(&again, c); !bytes.Equal(text.Bytes(), again.Bytes()) {
		t.Error("the same seed gives other bytes")
	}
	var doc struct {
		Base   int64 `json:"baseTimeNanoseconds"`
		Events []struct {
			Ph, Cat, Name string
			Args          struct{ Correlation int64 }
		} `json:"traceEvents"`
	}
	if err := json.Unmarshal(text.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	kernels, steps := 0, 0
	calls := make(map[int64]bool)
	called := func(k int64) bool { return calls[k] }
	var missing []int64
	for _, e := range doc.Events {
		switch e.Cat {
		case "kernel":
			if kernels++; called(e.Args.Correlation) {
				t.Fatal("a call stands before its kernel")
			}
			missing = append(missing, e.Args.Correlation)
		case "cuda_runtime":
			calls[e.Args.Correlation] = true
		case "user_annotation":
			steps++
		}
	}
	for _, k := range missing {
		if !calls[k] {
			t.Fatalf("no call launched %d", k)
		}
	}
	if text.Len()/kernels > 1100 || kernels != steps*stepKernels || doc.Base == 0 || text.Len() < 2<<20 || text.Len() > 4<<20 {
		t.Errorf("%d bytes, %d kernels, %d steps", text.Len(), kernels, steps)
	}
	if !bytes.HasSuffix(text.Bytes(), []byte("000\n}\n")) {
		t.Error("the base time is not last")
	}
}
