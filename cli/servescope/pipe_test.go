package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"servescope/testdata/generate/shapes"
)

// TestPipeBeyondMemory pipes a log that is several times larger than the budget: the
// report is that of the same file, and exact.
func TestPipeBeyondMemory(t *testing.T) {
	var log bytes.Buffer
	if err := shapes.Records(&log, shapes.Config{Seed: 7, Count: 2000, Tokens: 100, Open: 40}); err != nil {
		t.Fatal(err)
	}
	dir, tmp := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "stdin"), log.Bytes(), 0o666); err != nil { // the name of what is piped
		t.Fatal(err)
	}
	run := func(input string, args ...string) string {
		cmd := exec.Command(command(t), append([]string{"analyze", input, "--format", "json"}, args...)...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "TMPDIR="+tmp)
		if input == "-" {
			cmd.Stdin = bytes.NewReader(log.Bytes()) // over a pipe: it is no file
		}
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	const budget = "256KiB"
	if log.Len() < 4*256<<10 {
		t.Fatalf("%d bytes are not beyond the budget", log.Len())
	}
	want := run("stdin")
	if got := run("-", "--memory", budget); got != want {
		t.Error("the report of a pipe differs from that of the file")
	}
	if got := run("stdin", "--memory", budget); got != want {
		t.Error("the report of a file depends on the budget")
	}
	if strings.Contains(want, `"exact": false`) || !strings.Contains(want, `"exact": true`) || strings.Contains(want, "approx") {
		t.Error("it is not exact")
	}
	if left, _ := os.ReadDir(tmp); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
