//go:build unix

package source

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"servescope/formats"
	"strings"
	"syscall"
	"testing"
	"time"
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

// TestExpandEnds ends the wait for a named pipe to which nothing writes, and for
// one of which the writer stays silent.
func TestExpandEnds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	over := errors.New("over")
	for _, silent := range []bool{false, true} {
		if silent {
			w, err := os.OpenFile(path, os.O_RDWR, 0) // waits for no reader
			if err != nil {
				t.Skip(err)
			}
			defer w.Close()
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(10*time.Millisecond, func() { cancel(over) })
		done := make(chan error, 1)
		go func() {
			_, err := Expand([]string{path}, nil, formats.Options{Context: ctx})
			done <- err
		}()
		select {
		case err := <-done:
			if !errors.Is(err, over) {
				t.Errorf("silent writer %v: %v", silent, err)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("silent writer %v: still waiting", silent)
		}
	}
}

// TestUnpackEnds ends the unpacking of a compressed archive.
func TestUnpackEnds(t *testing.T) {
	over := errors.New("over")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(over)
	archive := FromBytes("a.tar.gz", []byte(gz(tarOf("a", "text"))))
	if _, err := Unpack([]Input{{Source: archive, Named: true}}, formats.Options{Context: ctx}); !errors.Is(err, over) {
		t.Errorf("got %v", err)
	}
}

// TestExpandSizeless reads a file of a file system that tells no size.
func TestExpandSizeless(t *testing.T) {
	const path = "/proc/self/stat"
	want, err := os.ReadFile(path)
	if info, _ := os.Stat(path); err != nil || info.Size() > 0 {
		t.Skip("there is none here")
	}
	pid, _, _ := bytes.Cut(want, []byte(" "))
	if got := content(t, expand(t, path).List[0].Source); !strings.HasPrefix(got, string(pid)+" ") {
		t.Errorf("got %q", got)
	}
}
