package browsertest

import (
	"bytes"
	"encoding/base64"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestExportsEqualNative holds the files that the page writes to those of the
// command, byte for byte: of all requests, and of some.
func TestExportsEqualNative(t *testing.T) {
	program := command(t)
	sample := stamped(t, filepath.Join(root, "testdata/sample/tokenlog.jsonl"))
	url, _ := host(t)
	ctx := newTab(t)
	ready(t, ctx, url)
	if _, failure := dropped(t, ctx, sample); failure != "" {
		t.Fatal(failure)
	}
	some := []string{"--filter", "prompt_tokens > 400 and status = ok", "--from", "+2s", "--to", "+4.6s"}
	for what, flags := range map[string][]string{
		"requests.csv": some, "requests.jsonl": nil, "requests.parquet": some, "requests.arrow": some, "tokens.parquet": some, "tokens.arrow": nil, "steps.csv": nil,
		"report.json": append(some, "--slo", "ttft=300ms,tpot=30ms", "--by", "status", "--window", "1s"), "report.csv": some,
	} {
		table, form, _ := strings.Cut(what, ".")
		path := filepath.Join(t.TempDir(), what)
		cmd := exec.Command(program, "convert", "--table", table)
		if table == "report" {
			cmd = exec.Command(program, "analyze", "--format", form)
		}
		cmd.Args = append(append(cmd.Args, flags...), "-o", path, filepath.Base(sample))
		cmd.Dir = filepath.Dir(sample)
		query := make(map[string]string)
		for i := 0; i < len(flags); i += 2 {
			query[flags[i][2:]] = flags[i+1]
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", what, err, out)
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text := eval[string](t, ctx, `globalThis.servescope.session.export(`+quoted(query)+`, { what: '`+what+`' }).then(({ bytes }) => {
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
