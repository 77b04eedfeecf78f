package torchtrace

import (
	"bytes"
	"context"
	"io"
	"runtime"
	"testing"

	"servescope/formats"
	"servescope/formats/source"
	"servescope/testdata/generate/shapes"
)

// generated is a trace that is written while it is read.
type generated struct {
	formats.Source // for what is not used here
	size           int64
}

func (g generated) Name() string { return "generated" }
func (g generated) Size() int64  { return -1 }

func (g generated) Open(int64) (io.ReadCloser, error) {
	r, w := io.Pipe()
	go func() { w.CloseWithError(shapes.TorchTrace(w, shapes.Config{Seed: 1, Size: g.size})) }()
	return r, nil
}

// readAll reads a source to the end and returns the reader.
func readAll(t testing.TB, src formats.Source, opt formats.Options) *reader {
	r, err := Format.Open(context.Background(), src, formats.Whole, opt)
	if err != nil {
		t.Fatal(err)
	}
	for r.Next() {
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	if a := r.Account(); a.Parsed == 0 || a.Diagnosed > 0 {
		t.Fatalf("account %+v", a)
	}
	return r.(*reader)
}

// TestStored holds what is kept of an event to 9 bytes, and what is kept in
// memory to the budget.
func TestStored(t *testing.T) {
	src := generated{size: 24 << 20}
	whole := readAll(t, src, formats.Options{Workers: 1, Memory: 64 << 20})
	defer whole.Close()
	kinds := whole.Account().Kinds
	events := kinds["kernel"] + 2*kinds["cuda_runtime"] + kinds["user_annotation"] // a call is kept twice
	if used := whole.vault.used; used > 9*events || whole.vault.file.Size() > 0 {
		t.Errorf("%d bytes are kept of %d events", used, events)
	}
	small := readAll(t, src, formats.Options{Workers: 1, Memory: 256 << 10, Scratch: t.TempDir()})
	defer small.Close()
	if v := &small.vault; v.used > 128<<10 || v.file.Size()+v.used != whole.vault.used {
		t.Errorf("%d bytes in memory and %d in a file, want %d", v.used, v.file.Size(), whole.vault.used)
	}
	r, err := Format.Open(context.Background(), src, formats.Whole, formats.Options{Workers: 1, Memory: 256 << 10})
	if err != nil {
		t.Fatal(err)
	}
	if r.Next() || r.Err() == nil {
		t.Error("without a directory for temporary files nothing limits the memory")
	}
	r.Close()
}

// BenchmarkMemory reads a trace of 5 GB, of which nothing but the window and
// the stores is held, within 256 MiB. It runs before the benchmarks that hold
// texts, since what the process once got from the system it keeps.
func BenchmarkMemory(b *testing.B) {
	const size = 5e9
	b.SetBytes(size)
	for b.Loop() {
		readAll(b, generated{size: size}, formats.Options{Workers: 1, Lists: true, Memory: 256 << 20}).Close()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.Sys)/(1<<20), "MiB-peak")
	if m.Sys > 256<<20 {
		b.Errorf("%d MiB", m.Sys>>20)
	}
}

// BenchmarkRead reads traces from memory: MB/s of JSON on one core.
func BenchmarkRead(b *testing.B) {
	var text bytes.Buffer
	if err := shapes.TorchTrace(&text, shapes.Config{Seed: 1, Size: 64 << 20}); err != nil {
		b.Fatal(err)
	}
	b.Run("generated", func(b *testing.B) { benchmarkText(b, text.Bytes()) })
	b.Run("tp4", func(b *testing.B) {
		_, text := unpacked(b, "vllm/tp4-rank0.pt.trace.json.gz")
		benchmarkText(b, text)
	})
}

func benchmarkText(b *testing.B, text []byte) {
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		readAll(b, source.FromBytes("trace", text), formats.Options{Workers: 1, Lists: true}).Close()
	}
}
