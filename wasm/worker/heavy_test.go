//go:build !js

package main

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"

	"servescope/wasm/endpoint"
)

// repeated fills size bytes with lines that line writes.
func repeated(size int, line func(b []byte, i int) []byte) []byte {
	b := make([]byte, 0, size)
	for i := 0; ; i++ {
		n := len(b)
		if b = line(b, i); len(b) > size {
			return b[:n]
		}
	}
}

// heavy posts bodies that become much more in memory than they are. Those that are
// posted as they are have a report, and so have a million requests; others may have a
// problem that says what was too much. Each answer tells of its memory, which post
// looks at.
func heavy(t *testing.T, w *host) {
	f := func(name string, want int, body []byte) {
		t.Helper()
		since, before := time.Now(), w.cpu(t)
		status, answer := post(t, w.address+"/v1/analyze", bytes.NewReader(body))
		if status != want {
			t.Errorf("%s: got %d, want %d: %.300s", name, status, want, answer)
		}
		if status == http.StatusRequestEntityTooLarge && (!strings.Contains(answer, "48 MiB of memory") && !strings.Contains(answer, "longer") || !strings.Contains(answer, "servescope analyze FILE")) {
			t.Errorf("%s: it does not say why, and what to do: %.300s", name, answer)
		}
		t.Logf("%s, %d bytes: %d after %d ms, %d of processors", name, len(body), status, time.Since(since).Milliseconds(), (w.cpu(t) - before).Milliseconds())
	}
	short := func(b []byte, i int) []byte {
		return fmt.Appendf(b, "{\"arrival\":%d,\"token_timestamps\":[%d]}\n", i, i+1)
	}
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	f("short requests", 200, repeated(endpoint.MaxBody, short))
	f("short requests, packed", 413, z.EncodeAll(repeated(endpoint.MaxDecoded, short), nil))
	f("a narrow table", 200, append([]byte("arrival_ms,latency_ms\n"), repeated(endpoint.MaxBody*3/5, func(b []byte, i int) []byte {
		return fmt.Appendf(b, "%d,%d\n", i, i%1000+1)
	})...))
	f("tokens", 200, repeated(endpoint.MaxBody, func(b []byte, i int) []byte {
		b = fmt.Appendf(b, "{\"arrival\":%d,\"token_timestamps\":[%d", i, i+1)
		for k := range 1000 {
			b = fmt.Appendf(b, ",%d.%d", i+1, k)
		}
		return append(b, "]}\n"...)
	}))
	f("steps of an engine", 200, repeated(endpoint.MaxBody, func(b []byte, i int) []byte {
		return fmt.Appendf(b, "INFO 05-17 08:%02d:%02d [loggers.py:127] Engine 000: Avg prompt throughput: 1.0 tokens/s, Avg generation throughput: 2.0 tokens/s, Running: 3 reqs, Waiting: 4 reqs, GPU KV cache usage: 5.0%%, Prefix cache hit rate: 6.0%%\n", i/60%60, i%60)
	}))
	f("open brackets", 422, append([]byte("{\"traceEvents\":["), bytes.Repeat([]byte("["), endpoint.MaxBody-100)...))
	type row struct {
		Arrival int64   `parquet:"arrival_ms"`
		TTFT    float64 `parquet:"ttft_ms"`
		Model   string  `parquet:"model,dict"`
	}
	var packed bytes.Buffer
	p := parquet.NewGenericWriter[row](&packed)
	rows := make([]row, 1<<16)
	for range 1 << 5 {
		if _, err := p.Write(rows); err != nil {
			t.Fatal(err)
		}
	}
	p.Close()
	f("two million equal rows as Parquet", 413, packed.Bytes())
	t.Logf("at most %d bytes of memory, of %d", most.Load(), maxMemory)
}
