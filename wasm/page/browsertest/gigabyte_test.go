package browsertest

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// TestGigabyte drops a log of a gigabyte, which must be read with less than a gigabyte
// of memory, and has DuckDB read the same file in the same browser: tools/duckdb-wasm
// runs it. SERVESCOPE_GIGABYTE is the number of bytes.
func TestGigabyte(t *testing.T) {
	size, _ := strconv.ParseFloat(os.Getenv("SERVESCOPE_GIGABYTE"), 64)
	if size <= 0 {
		t.Skip("SERVESCOPE_GIGABYTE is not set")
	}
	file := long(t, int(size/1946))
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	ctx := newTab(t)
	show(t, ctx, "v=1")
	before, began := threads(worker), time.Now()
	drop(t, ctx, file)
	patient(t, ctx, `globalThis.servescope.session && `+settled)
	took := time.Since(began)
	_, computed, _ := since(worker, before)
	held := eval[float64](t, ctx, `servescope.engine.memory().then(all => all.reduce((a, b) => a + b))`)
	n := eval[float64](t, ctx, `servescope.session.run({}).then(r => r.runs[0].requests.total)`)
	t.Logf("servescope: %d bytes, %.0f requests in %.1f s, %.1f s of computing time; %.0f MB of memory, load %.1f", info.Size(), n, took.Seconds(), computed/1e3, held/1e6, slack())
	if held >= 1<<30 || n != float64(int(size/1946)) {
		t.Errorf("%.0f requests with %.0f bytes of memory", n, held)
	}
	other, cpu := duckdb(t, file, n)
	t.Logf("DuckDB: %.1f s, %.1f s of computing time: %.1f times, %.1f times", other.Seconds(), cpu/1e3, other.Seconds()/took.Seconds(), cpu/computed)
}

// patient is wait for what takes minutes.
func patient(t *testing.T, ctx context.Context, expression string) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`Boolean(`+expression+`)`)); err == nil && ok {
			return
		}
	}
	t.Fatalf("never true: %s", expression)
}

// duckdb has DuckDB count the requests of a file and find percentiles of TTFT and of
// the gaps, in a browser of its own.
func duckdb(t *testing.T, file string, n float64) (took time.Duration, computed float64) {
	t.Helper()
	tools := filepath.Join(root, "tools", "duckdb-wasm")
	if _, err := os.Stat(filepath.Join(tools, "node_modules")); err != nil {
		t.Skip("there is no DuckDB: npm ci in tools/duckdb-wasm")
	}
	server := httptest.NewServer(http.FileServer(http.Dir(tools)))
	t.Cleanup(server.Close)
	ctx := newTab(t)
	do(t, ctx, chromedp.Navigate(server.URL+"/index.html"))
	patient(t, ctx, `globalThis.ready`)
	before, began := threads(worker), time.Now()
	drop(t, ctx, file)
	patient(t, ctx, `globalThis.answer`)
	took = time.Since(began)
	computed, _, _ = since(worker, before)
	answer := eval[map[string]any](t, ctx, `answer`)
	t.Logf("DuckDB says %v", answer)
	if answer["n"] != n {
		t.Errorf("DuckDB counts %v requests, want %.0f", answer["n"], n)
	}
	return took, computed
}
