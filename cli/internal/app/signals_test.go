//go:build unix

package app

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// stuckOutput is the variable that names the output file of the helper process.
const stuckOutput = "SERVESCOPE_TEST_STUCK_OUTPUT"

// TestStuck is the helper process of TestSignalWhileStuck. It begins an output file and
// then works without end and without a look at its context.
func TestStuck(t *testing.T) {
	name := os.Getenv(stuckOutput)
	if name == "" {
		t.Skip("not a helper process")
	}
	p := &Process{}
	p.untilSignal()
	if _, err := p.output(name, nil); err != nil {
		t.Fatal(err)
	}
	os.Stdout.WriteString("\nstuck\n")
	for i := uint64(1); i != 0; i |= 1 {
		i *= 3
	}
}

// TestSignalWhileStuck interrupts work that never returns.
func TestSignalWhileStuck(t *testing.T) {
	caught := make(chan os.Signal, 1) // a helper process may have inherited that it ignores them
	signal.Notify(caught, syscall.SIGINT, syscall.SIGTERM)
	t.Cleanup(func() { signal.Stop(caught) })
	for _, c := range []struct {
		name    string
		signals []syscall.Signal
		code    int
		least   time.Duration
		most    time.Duration
	}{
		{"one signal", []syscall.Signal{syscall.SIGTERM}, 143, signalGrace, signalGrace + 10*time.Second},
		{"a second signal", []syscall.Signal{syscall.SIGINT, syscall.SIGTERM}, 130, 0, signalGrace},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			cmd := exec.Command(os.Args[0], "-test.run=^TestStuck$")
			cmd.Env = append(os.Environ(), stuckOutput+"="+filepath.Join(dir, "out.json"))
			stdout, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			kill := time.AfterFunc(30*time.Second, func() { cmd.Process.Kill() })
			defer kill.Stop()
			lines := bufio.NewScanner(stdout)
			for lines.Scan() && !bytes.Equal(lines.Bytes(), []byte("stuck")) {
			}
			if left, _ := os.ReadDir(dir); len(left) != 1 {
				t.Errorf("the output was not begun: %v", left)
			}
			start := time.Now()
			for i, s := range c.signals {
				if i > 0 {
					time.Sleep(100 * time.Millisecond) // signals that arrive together are delivered in no order
				}
				if err := cmd.Process.Signal(s); err != nil {
					t.Fatal(err)
				}
			}
			cmd.Wait()
			took := time.Since(start)
			if got := cmd.ProcessState.ExitCode(); got != c.code {
				t.Errorf("exit code %d, want %d", got, c.code)
			}
			if took < c.least || took > c.most {
				t.Errorf("ended after %v, want between %v and %v", took, c.least, c.most)
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
				t.Errorf("left behind %v, %v", left, err)
			}
		})
	}
}
