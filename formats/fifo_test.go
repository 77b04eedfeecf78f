//go:build unix

package formats

import (
	"os"
	"syscall"
	"testing"
)

// TestExpandFIFO reads a named pipe that the user names, and leaves alone one
// that lies in a directory: nobody may ever write to it.
func TestExpandFIFO(t *testing.T) {
	inDir(t, "d/a")
	if err := syscall.Mkfifo("d/fifo", 0o600); err != nil {
		t.Skip(err)
	}
	if got, want := summary(t, expand(t, "d")), "d/a:A special_skipped×1"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	go func() {
		w, err := os.OpenFile("d/fifo", os.O_WRONLY, 0)
		if err != nil {
			t.Error(err)
			return
		}
		w.WriteString(gz("through a fifo"))
		w.Close()
	}()
	if got, want := summary(t, expand(t, "d/fifo", "d/./fifo")), "d/fifo:through a fifo duplicate_input×1"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
