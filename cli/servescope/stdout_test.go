//go:build unix

package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestStandardOutput runs every command that prints with a standard output that is
// full, read by nobody any more, or the null device. A full one is an error that says
// so. A reader that has gone is none, and neither is the null device, which many that
// start processes open for reading and writing (Python's subprocess.DEVNULL, Node's
// stdio "ignore", systemd): then the exit code is all that is wanted.
func TestStandardOutput(t *testing.T) {
	program, log := command(t), "../../testdata/sample/tokenlog.jsonl"
	const notMet = 3
	for _, args := range []string{
		"analyze " + log, "analyze --format json " + log, "analyze --format markdown " + log, "analyze --format csv " + log,
		"inspect " + log, "inspect --format json " + log, "inspect --suggest-mapping ../../testdata/sample/gateway.csv",
		"gate --slo ttft=1ns " + log, "gate --slo ttft=1ns --format json " + log, "gate --slo ttft=1ns --format markdown " + log,
		"convert --format csv " + log, "convert --format jsonl " + log, "convert --format arrows " + log, "convert --format arrow " + log, "convert --format parquet " + log,
		"formats", "formats --json", "define", "define tpot", "version", "help", "help analyze", "--help", "analyze --help", "completion bash",
	} {
		run := func(name string, stdout *os.File, want int, says string) {
			t.Helper()
			cmd := exec.Command(program, strings.Fields(args)...)
			var stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = stdout, &stderr
			err := cmd.Run()
			code := cmd.ProcessState.ExitCode()
			if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
				t.Fatal(err)
			}
			if code != want || says == "" && stderr.Len() > 0 || !strings.Contains(stderr.String(), says) {
				t.Errorf("%s, %s: exit code %d, want %d: %q, want %q", args, name, code, want, &stderr, says)
			}
		}
		want, says := 0, ""
		if strings.HasPrefix(args, "gate") {
			want, says = notMet, "not met"
		}
		for _, flag := range []int{os.O_WRONLY, os.O_RDWR} {
			null, err := os.OpenFile(os.DevNull, flag, 0)
			if err != nil {
				t.Fatal(err)
			}
			run("null", null, want, says)
			null.Close()
		}
		if full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0); err == nil {
			run("full", full, 1, "no space left on device")
			full.Close()
		}
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		r.Close()
		run("gone", w, want, says)
		w.Close()
	}
}
