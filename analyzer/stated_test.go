//go:build linux

package analyzer

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"servescope/analyzer/kernel"
	"servescope/analyzer/load"
	"servescope/analyzer/query"
	"servescope/formats"
	"servescope/formats/source"
)

// hoarder is a kernel that folds what sums does, and whose state stores so many bytes
// a row.
type hoarder struct {
	sums
	bytes *int
}

type hoard struct {
	kernel.State
	facts *kernel.Facts
	bytes int
}

func (h hoarder) New(q *query.Query, f *kernel.Facts) kernel.State {
	return &hoard{h.sums.New(q, f), f, *h.bytes}
}

func (h *hoard) Update(v *kernel.View) {
	h.facts.Store.Append(make([]byte, v.Rows*h.bytes)) // the session learns of its errors
	h.State.Update(v)
}

func (h *hoard) Merge(o kernel.State) error { return h.State.Merge(o.(*hoard).State) }

// TestStatesGiveTheDiskBack asks a session again and again: what the states of one
// question stored is gone when it is answered, also one that the disk was too small
// for, which is an error with advice. A disk of 64 KiB holds the states of one.
func TestStatesGiveTheDiskBack(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("cannot mount a small disk: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	path := filepath.Join(t.TempDir(), "x.log")
	if err := os.WriteFile(path, []byte(strings.Repeat("tiny m a 5 1 1,2\n", 9)), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, memory := range []int64{1, 0} { // lists are read again, and at hand
		in, err := source.Expand([]string{path}, nil, formats.Options{Scratch: dir})
		if err != nil {
			t.Fatal(err)
		}
		s, err := Open(t.Context(), formats.NewSet(tiny), in, "", load.Options{Workers: 2, Memory: memory, Scratch: dir})
		if err != nil {
			t.Fatal(err)
		}
		bytes := 0
		e := tinyEngine()
		e.Kernels = []kernel.Kernel{hoarder{bytes: &bytes}}
		for round := range 9 {
			full := round%3 == 2
			if bytes = 2 << 10; full { // of 9 rows in each of two passes
				bytes = 5 << 10
			}
			flags := [][]string{nil, {"by=tenant"}}[round%2]
			r, err := s.run(t.Context(), queryOf(t, flags...), e)
			if full {
				var advice interface{ Hint() string }
				if !errors.Is(err, syscall.ENOSPC) || !errors.As(err, &advice) || !strings.Contains(err.Error(), dir) {
					t.Errorf("memory %d, round %d: the disk is full: %v", memory, round, err)
				}
				continue
			}
			if err != nil || r.Runs[0].Requests.Total != 9 {
				t.Errorf("memory %d, round %d: %v", memory, round, err)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
}
