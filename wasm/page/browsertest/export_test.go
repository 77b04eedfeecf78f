package browsertest

import (
	"bytes"
	"encoding/base64"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestExportsEqualNative holds the files that the page writes to those of the
// command, byte for byte.
func TestExportsEqualNative(t *testing.T) {
	program := command(t)
	sample := stamped(t, filepath.Join(root, "testdata/sample/tokenlog.jsonl"))
	url, _ := host(t)
	ctx := newTab(t)
	ready(t, ctx, url)
	if _, failure := dropped(t, ctx, sample); failure != "" {
		t.Fatal(failure)
	}
	for _, what := range []string{"requests.csv", "requests.jsonl", "requests.parquet", "requests.arrow", "tokens.parquet", "steps.csv"} {
		table, _, _ := bytes.Cut([]byte(what), []byte("."))
		path := filepath.Join(t.TempDir(), what)
		cmd := exec.Command(program, "convert", "--table", string(table), "-o", path, filepath.Base(sample))
		cmd.Dir = filepath.Dir(sample)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", what, err, out)
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text := eval[string](t, ctx, `globalThis.servescope.session.export({}, { what: '`+what+`' }).then(({ bytes }) => {
			let text = ''
			for (let i = 0; i < bytes.length; i += 32768) text += String.fromCharCode(...bytes.subarray(i, i + 32768))
			return btoa(text)
		}, e => 'failed: ' + e.message)`)
		got, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			t.Errorf("%s: %s", what, text)
		} else if !bytes.Equal(got, want) {
			t.Errorf("%s: %s", what, difference(want, got))
		}
	}
}
