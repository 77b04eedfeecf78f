package source

import (
	"bytes"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"servescope/formats"
	"strings"
	"sync"
	"testing"
)

// TestSpill reads back what several goroutines have written, and leaves nothing
// behind.
func TestSpill(t *testing.T) {
	dir := t.TempDir()
	in := &Inputs{spools: newSpools(formats.Options{Scratch: dir})}
	sp := in.TempFile()
	type piece struct {
		off  int64
		data []byte
	}
	var pieces [4][]piece
	var wg sync.WaitGroup
	for w := range pieces {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(w), 1))
			for range 50 {
				data := bytes.Repeat([]byte{byte(r.Uint32())}, r.IntN(5000))
				off, err := sp.Append(data)
				if err != nil {
					t.Error(err)
					return
				}
				pieces[w] = append(pieces[w], piece{off, data})
			}
		})
	}
	wg.Wait()
	for _, list := range pieces {
		for _, p := range list {
			got := make([]byte, len(p.data))
			if err := sp.Read(got, p.off); err != nil || !bytes.Equal(got, p.data) {
				t.Fatalf("%d bytes at %d are not what was written: %v", len(got), p.off, err)
			}
		}
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if (&Inputs{}).TempFile() != nil {
		t.Error("a temporary file without a directory")
	}
}

// TestSpillFails tells where a temporary file could not be written, and what to
// do about it.
func TestSpillFails(t *testing.T) {
	check := func(err error, dir string) {
		t.Helper()
		var hint interface{ Hint() string }
		if err == nil || !strings.HasPrefix(err.Error(), "a temporary file in "+dir+": ") || strings.Contains(err.Error(), ".tmp") || !errors.As(err, &hint) || hint.Hint() == "" {
			t.Errorf("got %v", err)
		}
	}
	gone := t.TempDir() + "/gone"
	_, err := (&Inputs{spools: newSpools(formats.Options{Scratch: gone})}).TempFile().Append([]byte("x"))
	if check(err, gone); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the cause is lost: %v", err)
	}
	dir := t.TempDir()
	in := &Inputs{spools: newSpools(formats.Options{Scratch: dir})}
	sp := in.TempFile()
	if _, err := sp.Append([]byte("x")); err != nil {
		t.Fatal(err)
	}
	sp.file.Close() // as a disk that is full, or gone
	_, err = sp.Append([]byte("y"))
	check(err, dir)
	check(sp.Read(make([]byte, 1), 0), dir)
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestSpillSpoilt reads nothing back that is not what was written: of a file that was
// cut, written over, or cannot be read.
func TestSpillSpoilt(t *testing.T) {
	for want, spoil := range map[string]func(f *os.File) error{
		ErrCut.Error():     func(f *os.File) error { return f.Truncate(100) },
		ErrChanged.Error(): func(f *os.File) error { _, err := f.WriteAt([]byte{7}, 150); return err },
		"file already closed": func(f *os.File) error {
			return f.Close()
		},
	} {
		dir := t.TempDir()
		in := &Inputs{spools: newSpools(formats.Options{Scratch: dir})}
		sp := in.TempFile()
		data := bytes.Repeat([]byte("values "), 20)
		first, err := sp.Append(data[:50])
		if err != nil {
			t.Fatal(err)
		}
		off, err := sp.Append(data)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]byte, len(data))
		if err := sp.Read(got, off); err != nil || !bytes.Equal(got, data) {
			t.Fatalf("%q, %v", got, err)
		}
		if err := spoil(sp.file.(unlinked).File); err != nil {
			t.Fatal(err)
		}
		if err := sp.Read(got, off); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), dir) {
			t.Errorf("got %v, want %s", err, want)
		}
		if err := sp.Read(got[:50], first); (err == nil) != (want != "file already closed") {
			t.Errorf("%s: what was written before: %v", want, err)
		}
		in.Close()
	}
}
