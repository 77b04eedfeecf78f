package browsertest

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// TestWorkers drops a file of several ranges, which several workers read, and
// holds its report to that of the command; engines with one worker and with two
// say the same.
func TestWorkers(t *testing.T) {
	sample, err := os.ReadFile(filepath.Join(root, "testdata/sample/tokenlog.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var text []byte
	for i := 0; len(text) < 50<<20; i++ {
		text = append(text, bytes.ReplaceAll(sample, []byte("chatcmpl-bench"), []byte("r"+strconv.Itoa(i)))...)
	}
	path := filepath.Join(t.TempDir(), "long.jsonl")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	url, _ := host(t)
	ctx := newTab(t)
	ready(t, ctx, url)
	want, why := native(t, command(t), path)
	got, failure := dropped(t, ctx, path)
	if failure != "" || !bytes.Equal(got, want) {
		t.Fatalf("%s%s: %s", why, failure, difference(want, got))
	}
	answer := eval[map[string]any](t, ctx, `(async () => {
		const { engine, session } = globalThis.servescope, out = {}
		for (const workers of [1, 2, 1, 2]) {
			const other = await engine.constructor.start({ workers })
			const s = await other.open(session.files)
			const t0 = performance.now()
			const report = JSON.stringify(await s.run({}))
			const ms = performance.now() - t0
			out['ms' + workers] = Math.min(out['ms' + workers] ?? Infinity, ms)
			if ((out.report ??= report) !== report) out.differs = true
			await s.close()
			other.crash()
		}
		delete out.report
		return out
	})()`)
	if answer["differs"] != nil {
		t.Error("the report depends on the number of workers")
	}
	t.Logf("50 MiB: one worker %.0f ms, two %.0f ms", answer["ms1"], answer["ms2"])
}
