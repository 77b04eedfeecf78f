package browsertest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// views are asked of every engine; what they answer must be the same.
const views = `[
	{ kind: 'columns', columns: ['ttft', 'tpot', 'e2e', 'status', 'request_id', 'arrival', 'parts'] },
	{ kind: 'series', buckets: 300, tokens: true },
	{ kind: 'heatmap', metric: 'chunk_gap', xbins: 160, ybins: 48 },
	{ kind: 'ecdf', metric: 'chunk_gap', points: 2000 },
	{ kind: 'gaps', low, limit: 100000 },
]`

// answers is the report of a session and its views, as one text.
const answers = `(async session => {
	const all = [await session.run({})], { quantiles: q } = all[0].runs[0].metrics.chunk_gap
	const low = Math.ceil(Math.max(q['0.99'], 2 * q['0.5'], 1)) // what the page draws as a stall
	for (const spec of ` + views + `) {
		const { columns } = await session.view({}, spec)
		const list = c => ArrayBuffer.isView(c) ? Array.from(c, String) : [c.values, Array.from(c.codes)]
		all.push(Object.keys(columns).sort().map(name => [name, list(columns[name])]))
	}
	return JSON.stringify(all)
})`

// TestEnginesAgree asks the engine in the page, that of view and a document of
// --format html for the same report and charts.
func TestEnginesAgree(t *testing.T) {
	program := command(t)
	sample := stamped(t, filepath.Join(root, "testdata/sample/tokenlog.jsonl"))
	ctx := newTab(t)

	url, _ := host(t)
	ready(t, ctx, url)
	if _, failure := dropped(t, ctx, sample); failure != "" {
		t.Fatal(failure)
	}
	want := eval[string](t, ctx, answers+`(globalThis.servescope.session)`)
	var parts []any
	if err := json.Unmarshal([]byte(want), &parts); err != nil || len(want) < 10000 {
		t.Fatalf("%d bytes: %v", len(want), err)
	}

	cmd := exec.Command(program, "view", filepath.Base(sample))
	cmd.Dir = filepath.Dir(sample)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	ready(t, ctx, strings.TrimSpace(line))
	compare(t, "view", eval[string](t, ctx, answers+`(globalThis.servescope.engine.sessions[0])`), want)
	if kind := eval[string](t, ctx, `globalThis.servescope.engine.kind`); kind != "native" {
		t.Errorf("the engine of view is %q", kind)
	}
	file := eval[map[string]any](t, ctx, `globalThis.servescope.engine.sessions[0].export({}, { what: 'requests.parquet' }).then(f => ({ name: f.name, head: String.fromCharCode(...f.bytes.subarray(0, 4)) }))`)
	if file["name"] != "requests.parquet" || file["head"] != "PAR1" {
		t.Errorf("an export: %v", file)
	}

	html := filepath.Join(t.TempDir(), "report.html")
	analyze := exec.Command(program, "analyze", filepath.Base(sample), "-o", html)
	analyze.Dir = filepath.Dir(sample)
	if text, err := analyze.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	ready(t, ctx, "file://"+html)
	compare(t, "a saved report", eval[string](t, ctx, strings.Replace(answers, "Object.keys(columns).sort()", wanted, 1)+`(globalThis.servescope.engine.sessions[0])`), want)
	if code := eval[string](t, ctx, `globalThis.servescope.engine.sessions[0].run({ filter: 'ttft > 1s' }).then(() => 'it answered', e => e.code)`); code != "saved" {
		t.Errorf("a saved report asked to select: %q", code)
	}
}

// wanted are the names of those columns of a saved document that were asked for:
// it holds more.
const wanted = `Object.keys(columns).filter(n => spec.kind !== 'columns' || n === 'row' || n.startsWith('part.') || spec.columns.includes(n)).sort()`

func compare(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %s", what, difference([]byte(want), bytes.Clone([]byte(got))))
	}
}
