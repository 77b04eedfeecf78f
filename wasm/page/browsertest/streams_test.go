package browsertest

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestStreams reads a file of several ranges in workers whose streams of files take no
// memory and come in small pieces, as those of Firefox and Safari do, and whose streams
// break in the middle; the reports are the same. A file that has changed is an error.
func TestStreams(t *testing.T) {
	sample, err := os.ReadFile(filepath.Join(root, "testdata/sample/tokenlog.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "long.jsonl")
	if err := os.WriteFile(path, bytes.Repeat(sample, 34<<20/len(sample)), 0o600); err != nil {
		t.Fatal(err)
	}
	url, _ := host(t)
	ctx := newTab(t)
	ready(t, ctx, url)
	want, failure := dropped(t, ctx, path)
	if failure != "" {
		t.Fatal(failure)
	}
	const report = `(async () => {
		const other = await servescope.engine.constructor.start({ workers: 2 })
		try {
			const s = await other.open(servescope.session.files)
			return new TextDecoder().decode((await s.export({}, { what: 'report.json' })).bytes)
		} catch (e) {
			return e.code + ': ' + e.message
		} finally {
			other.end()
		}
	})()`
	const own = `const old = Blob.prototype.stream; let n = 0
	Blob.prototype.stream = function () {
		const reader = old.call(this).getReader()
		return new ReadableStream({
			async pull(c) {
				n++
				const { done, value } = await reader.read()
				if (done) return c.close()
				for (let i = 0; i < value.length; i += 50000) c.enqueue(value.slice(i, i + 50000))
			},
			cancel() { n-- }
		})
	}`
	breaking := strings.Replace(own, "n++", "if (++n % 9 == 8) throw new Error('broken')", 1)
	for name, how := range map[string]string{"without memory": own, "that breaks": breaking} {
		eval[bool](t, ctx, "(globalThis.script ??= document.getElementById('worker.js').textContent, document.getElementById('worker.js').textContent = `{"+how+"}` + script, true)")
		if got := eval[string](t, ctx, report); got != string(want) {
			t.Errorf("a stream %s: %s", name, difference(want, []byte(got)))
		}
	}
	if err := os.WriteFile(path, sample, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := eval[string](t, ctx, report); !strings.HasPrefix(got, "read: ") {
		t.Errorf("a file that has changed: %.300s", got)
	}
}
