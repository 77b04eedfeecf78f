package app

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestResultBeyondMemory: a result on one line whose requests there is no room for
// is an error that says what to do, and no output of convert appears.
func TestResultBeyondMemory(t *testing.T) {
	const n = 30_000
	list := func(v string) string { return "[" + strings.Repeat(v+",", n-1) + v + "]" }
	text := fmt.Sprintf(`{"backend":"vllm","model_id":"m","num_prompts":%d,"duration":9.5,"completed":%[1]d,"ttfts":%s,"itls":%s,"input_lens":%s,"output_lens":%s,"generated_texts":%s,"errors":%s}`,
		n, list("0.125"), list("[0.25]"), list("7"), list("2"), list(`"x"`), list(`""`))
	dir := t.TempDir()
	file, bare, out := filepath.Join(dir, "a.json"), filepath.Join(dir, "bare.json"), filepath.Join(dir, "out.csv")
	for name, text := range map[string]string{file: text, bare: strings.ReplaceAll(text, fmt.Sprintf(`"duration":9.5,"completed":%d,`, n), "")} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) (code int, stdout, stderr string) {
		var o, e bytes.Buffer
		code = Run(context.Background(), &Process{Stdout: &o, Stderr: &e, Getenv: os.Getenv}, args)
		return code, o.String(), e.String()
	}
	const want = ": the requests of this result do not fit into the memory budget\nhint: give more with --memory\n"
	if code, _, stderr := run("analyze", "--input-format", "vllmbench", file, "--memory", "64KiB"); code != 1 || !strings.HasSuffix(stderr, want) {
		t.Errorf("analyze: exit code %d, %s", code, stderr)
	}
	if code, _, stderr := run("analyze", "--input-format", "vllmbench", bare, "--memory", "64KiB"); code != 1 || !strings.HasSuffix(stderr, want) {
		t.Errorf("analyze of a result without a figure: exit code %d, %s", code, stderr)
	}
	if code, _, stderr := run("define", "--compare", "default,vllm-2026", "--input-format", "vllmbench", file, "--memory", "64KiB"); code != 1 || !strings.HasSuffix(stderr, want) {
		t.Errorf("define: exit code %d, %s", code, stderr)
	}
	if code, _, stderr := run("convert", "--input-format", "vllmbench", file, "-o", out, "--memory", "64KiB"); code != 1 || !strings.Contains(stderr, want) {
		t.Errorf("convert: exit code %d, %s", code, stderr)
	}
	if left := names(t, dir); len(left) != 2 {
		t.Errorf("left behind %q", left)
	}
	if code, stdout, stderr := run("analyze", "--input-format", "vllmbench", file, "--memory", "64MiB"); code != 0 || !strings.Contains(stdout, "30000 ok") {
		t.Errorf("with the memory: exit code %d, %s%s", code, stdout, stderr)
	}
}
