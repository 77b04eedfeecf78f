//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestInterruptedReading interrupts the command in the middle of a plain file, most
// of which is a hole that it would take a minute to read: nothing is said, nothing
// left behind, and the output is what it was.
func TestInterruptedReading(t *testing.T) {
	heed(t)
	dir := t.TempDir()
	log, temp, out := filepath.Join(dir, "a.jsonl"), filepath.Join(dir, "tmp"), filepath.Join(dir, "out.json")
	for i, args := range [][]string{{"analyze", "--workers", "1"}, {"analyze", "--memory", "4KiB"}, {"convert", "--format", "csv"}, {"convert", "--format", "parquet"}, {"convert", "--format", "arrow"}} {
		line := `{"request_id":"a","arrival":1.5,"token_timestamps":[2.75,3.875]}` + "\n"
		for name, text := range map[string]string{log: strings.Repeat(line, 1000), out: "old"} {
			if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Truncate(log, 256<<30); err != nil {
			t.Skipf("no files with holes here: %v", err)
		}
		if err := os.MkdirAll(temp, 0o777); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(command(t), append(args, log, "-o", out)...)
		cmd.Env = append(os.Environ(), "TMPDIR="+temp)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		opened(t, cmd.Process.Pid, log, &stderr)
		time.Sleep(time.Duration(i) * 20 * time.Millisecond)
		sig := []syscall.Signal{syscall.SIGINT, syscall.SIGHUP}[i%2]
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- cmd.Wait() }()
		select {
		case <-done:
		case <-time.After(20 * time.Second):
			cmd.Process.Kill()
			t.Fatalf("%q: still running", args)
		}
		if got := cmd.ProcessState.ExitCode(); got != 128+int(sig) || stderr.Len() > 0 {
			t.Errorf("%q: exit code %d, %s", args, got, stderr.String())
		}
		if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
			t.Errorf("%q: left behind %v, %v", args, left, err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) != 3 {
			t.Errorf("%q: beside the output %v, %v", args, left, err)
		}
		if got, _ := os.ReadFile(out); string(got) != "old" {
			t.Errorf("%q: the output file holds %q", args, got)
		}
	}
}

// opened waits until a process has opened a file.
func opened(t *testing.T, pid int, path string, said fmt.Stringer) {
	t.Helper()
	fds := filepath.Join("/proc", strconv.Itoa(pid), "fd")
	for range 2000 {
		list, _ := os.ReadDir(fds)
		for _, fd := range list {
			if to, _ := os.Readlink(filepath.Join(fds, fd.Name())); to == path {
				return
			}
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("%s is not read: %s", path, said)
}
