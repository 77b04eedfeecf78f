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
// closed, full, or read by nobody any more. A closed or a full one is an error that
// says so; a reader that has gone is none. Neither changes the verdict of a gate.
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

		gate := strings.HasPrefix(args, "gate")
		run := func(name string, stdout *os.File, script string, want int, says string) {
			t.Helper()
			cmd := exec.Command("sh", "-c", script+` "$@"`+map[bool]string{true: " >&-"}[stdout == nil], "sh")
			cmd.Args = append(append(cmd.Args, program), strings.Fields(args)...)
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
		closed, gone := [2]any{1, "standard output is closed\nhint: give -o"}, 0
		says := ""
		if gate {
			closed, gone, says = [2]any{notMet, "not met"}, notMet, "not met"
		}
		run("closed", nil, "exec", closed[0].(int), closed[1].(string))
		if full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0); err == nil {
			run("full", full, "exec", 1, "no space left on device")
			full.Close()
		}
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		r.Close()
		run("gone", w, "exec", gone, says)
		w.Close()
	}
}

// TestStandardOutputUnwanted has no result on purpose: nothing is wrong with that.
func TestStandardOutputUnwanted(t *testing.T) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	both, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer both.Close()
	for _, files := range [][2]*os.File{{null, nil}, {null, null}, {both, both}} {
		cmd := exec.Command(command(t), "version")
		cmd.Stdout = files[0]
		if files[1] != nil {
			cmd.Stderr = files[1]
		}
		if err := cmd.Run(); err != nil {
			t.Error(err)
		}
	}
}
