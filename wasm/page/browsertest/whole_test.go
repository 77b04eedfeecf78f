package browsertest

import (
	"bytes"
	"path/filepath"
	"testing"
)

// TestWholeEngine: the engine with every format is loaded for the file that needs it,
// together with a file that does not, and anew after it has died.
func TestWholeEngine(t *testing.T) {
	url, hits := host(t)
	ctx := newTab(t)
	ready(t, ctx, url)
	table := stamped(t, filepath.Join(root, "testdata/formats/columns/go-slog/input.jsonl"))
	sample := stamped(t, filepath.Join(root, "testdata/sample/tokenlog.jsonl"))
	want, why := native(t, command(t), table)
	if want == nil {
		t.Fatal(why)
	}
	if _, failure := dropped(t, ctx, sample); failure != "" {
		t.Fatal(failure)
	}
	got, failure := dropped(t, ctx, table)
	if !bytes.Equal(got, want) {
		t.Fatalf("%s: %s", failure, difference(want, got))
	}
	took := eval[map[string]float64](t, ctx, `(async () => {
		const { engine, session } = globalThis.servescope, out = {}
		const other = await engine.constructor.start()
		for (const n of ['first', 'second']) {
			const t0 = performance.now()
			const s = await other.open(session.files)
			await s.run({})
			out[n] = performance.now() - t0
			await s.close()
		}
		other.crash()
		return out
	})()`)
	t.Logf("a table: %.0f ms with the loading of the whole engine, %.0f ms when it is there", took["first"], took["second"])
	if _, failure := dropped(t, ctx, table, sample); failure != "" {
		t.Error(failure)
	}
	code := eval[string](t, ctx, `(async () => {
		const { engine, session } = globalThis.servescope
		const reading = session.view({}, { kind: 'series' }).then(() => 'it answered', e => e.code)
		engine.crash()
		const first = await reading, second = await session.run({}).then(() => 'it answered', e => e.code)
		return first === 'it answered' ? second : first + ' ' + second
	})()`)
	if code != "engine_died engine_died" && code != "engine_died" {
		t.Errorf("a session whose engine has died: %q", code)
	}
	if got, failure := dropped(t, ctx, table); !bytes.Equal(got, want) {
		t.Errorf("opened again: %s: %s", failure, difference(want, got))
	}
	if hits.Load() != 1 {
		t.Errorf("the host was asked %d times", hits.Load())
	}
}
