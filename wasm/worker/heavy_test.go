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

// heavy posts bodies that become much more in memory than they are. Each has a report,
// or a problem that says what was too much; and each answer tells of its memory, which
// post looks at.
func heavy(t *testing.T, w *host) {
	f := func(name string, body []byte) {
		t.Helper()
		since := time.Now()
		status, answer := post(t, w.address+"/v1/analyze", bytes.NewReader(body))
		if status != http.StatusOK && status != http.StatusRequestEntityTooLarge && status != http.StatusUnprocessableEntity {
			t.Errorf("%s: got %d: %.300s", name, status, answer)
		}
		if status == http.StatusRequestEntityTooLarge && (!strings.Contains(answer, "memory") && !strings.Contains(answer, "longer") || !strings.Contains(answer, "servescope analyze FILE")) {
			t.Errorf("%s: it does not say why, and what to do: %.300s", name, answer)
		}
		t.Logf("%s, %d bytes: %d after %d ms", name, len(body), status, time.Since(since).Milliseconds())
	}
	short := func(b []byte, i int) []byte {
		return fmt.Appendf(b, "{\"arrival\":%d,\"token_timestamps\":[%d]}\n", i, i+1)
	}
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	f("short requests", repeated(endpoint.MaxBody, short))
	f("short requests, packed", z.EncodeAll(repeated(endpoint.MaxDecoded, short), nil))
	f("a narrow table", append([]byte("arrival_ms,latency_ms\n"), repeated(endpoint.MaxBody-100, func(b []byte, i int) []byte {
		return fmt.Appendf(b, "%d,%d\n", i, i%1000+1)
	})...))
	f("tokens", repeated(endpoint.MaxBody, func(b []byte, i int) []byte {
		b = fmt.Appendf(b, "{\"arrival\":%d,\"token_timestamps\":[%d", i, i+1)
		for k := range 1000 {
			b = fmt.Appendf(b, ",%d.%d", i+1, k)
		}
		return append(b, "]}\n"...)
	}))
	f("steps of an engine", repeated(endpoint.MaxBody, func(b []byte, i int) []byte {
		return fmt.Appendf(b, "INFO 05-17 08:%02d:%02d [loggers.py:127] Engine 000: Avg prompt throughput: 1.0 tokens/s, Avg generation throughput: 2.0 tokens/s, Running: 3 reqs, Waiting: 4 reqs, GPU KV cache usage: 5.0%%, Prefix cache hit rate: 6.0%%\n", i/60%60, i%60)
	}))
	f("open brackets", append([]byte("{\"traceEvents\":["), bytes.Repeat([]byte("["), endpoint.MaxBody-100)...))
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
	f("two million equal rows as Parquet", packed.Bytes())
	t.Logf("at most %d bytes of memory, of %d", most.Load(), maxMemory)
}
