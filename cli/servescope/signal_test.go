//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// heed has commands of a test stop at signals that the test itself was started to
// ignore, as in the background of a script: what is caught is not handed down.
func heed(t *testing.T) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGINT, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(c) })
}

// TestSignal interrupts the command while it waits for standard input that has
// filled a temporary file already.
func TestSignal(t *testing.T) {
	heed(t)
	for sig, want := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143, syscall.SIGHUP: 129} {
		temp, out := t.TempDir(), filepath.Join(t.TempDir(), "out.json")
		if err := os.WriteFile(out, []byte("old"), 0o666); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(command(t), "analyze", "-", "-o", out, "--memory", "4KiB")
		cmd.Env = append(os.Environ(), "TMPDIR="+temp)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		stdin, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// Once this returns all but a pipe's buffer has been read.
		if _, err := stdin.Write([]byte(strings.Repeat("{\"request_id\":1}\n", 1<<14))); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- cmd.Wait() }()
		select {
		case <-done:
		case <-time.After(10 * time.Second):
			cmd.Process.Kill()
			t.Fatalf("%v: still running", sig)
		}
		if got := cmd.ProcessState.ExitCode(); got != want {
			t.Errorf("%v: exit code %d, want %d", sig, got, want)
		}
		if stderr.Len() > 0 {
			t.Errorf("%v: %s", sig, stderr.String())
		}
		if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
			t.Errorf("%v: left behind %v, %v", sig, left, err)
		}
		if got, _ := os.ReadFile(out); string(got) != "old" {
			t.Errorf("%v: the output file holds %q", sig, got)
		}
	}
}

// TestSignalIgnored starts the command as nohup does, and as scripts start it in the
// background: a signal that it was told to ignore does not end it.
func TestSignalIgnored(t *testing.T) {
	for name, sig := range map[string]syscall.Signal{"INT": syscall.SIGINT, "HUP": syscall.SIGHUP} {
		cmd := exec.Command("sh", "-c", `trap "" `+name+`; exec "$@"`, "sh", command(t), "analyze", "-")
		cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir())
		stdin, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// More than a pipe's buffer: once this returns it is running.
		line := `{"request_id":"a","arrival":1.5,"token_timestamps":[2.75,3.875]}` + "\n"
		if _, err := stdin.Write([]byte(strings.Repeat(line, 1<<13))); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		stdin.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("SIG%s: %v", name, err)
		}
	}
}
