//go:build linux

package source

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
)

// crowd lets the process open limit files in all until the test ends.
func crowd(t *testing.T, limit int) {
	t.Helper()
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was) })
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: uint64(limit), Max: was.Max}); err != nil {
		t.Skip(err)
	}
}

// TestFewDescriptors: a process that may open a few files reads any number, from
// several goroutines, and is left one for a temporary file.
func TestFewDescriptors(t *testing.T) {
	dir := t.TempDir()
	for i := range 4 * maxOpen {
		write(t, dir, fmt.Sprintf("%04d", i), fmt.Sprint("file ", i))
	}
	in := expand(t, dir)
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip(err)
	}
	crowd(t, len(open)+5)
	for range 2 {
		var wg sync.WaitGroup
		for k := range 8 {
			wg.Go(func() {
				for i := k; i < len(in.List); i += 8 {
					want := fmt.Sprint("file ", i)
					got := make([]byte, len(want))
					if _, err := in.List[i].Source.At().ReadAt(got, 0); err != nil || !bytes.Equal(got, []byte(want)) {
						t.Errorf("file %d reads as %q: %v", i, got, err)
					}
				}
			})
		}
		wg.Wait()
	}
	f, err := os.Create(filepath.Join(dir, "temporary"))
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
}

// TestNoDescriptor: a process that may open no file at all is told what to do.
func TestNoDescriptor(t *testing.T) {
	in := expand(t, write(t, t.TempDir(), "a", "a"))
	in.pool.close()
	crowd(t, 0)
	_, err := in.List[0].Source.At().ReadAt(make([]byte, 1), 0)
	var h interface{ Hint() string }
	if !errors.As(err, &h) || h.Hint() != "let the process open more files: ulimit -n 1024" {
		t.Errorf("got %v", err)
	}
}
