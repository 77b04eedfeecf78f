//go:build linux

package source

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"servescope/formats"
	"syscall"
	"testing"
)

// TestUnreadableFile: a file in a list that may not be read is an error, since the
// user named it; in a directory it is a diagnostic, and the others are read.
func TestUnreadableFile(t *testing.T) {
	dir := t.TempDir()
	good, bad := write(t, dir, "a.log", "text"), write(t, dir, "b.log", "secret")
	closed := filepath.Join(dir, "closed")
	if err := errors.Join(os.Chmod(filepath.Dir(dir), 0o755), os.Chmod(dir, 0o755), os.Chmod(bad, 0), os.Mkdir(closed, 0)); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 { // who may read everything: this thread is of another user as to files
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if err := syscall.Setfsuid(65534); err != nil {
			t.Fatal(err)
		}
		defer syscall.Setfsuid(0)
	}
	if f, err := os.Open(good); err != nil {
		t.Skipf("the folder for temporary files is closed to others: %v", err)
	} else {
		f.Close()
	}
	for _, args := range [][]string{{good, bad}, {bad}, {closed}, {good, filepath.Join(closed, "c.log")}} {
		if _, err := Expand(args, nil, formats.Options{}); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%q: %v", args, err)
		}
	}
	in, err := Expand([]string{dir}, nil, formats.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	unreadable := make(map[string]int64)
	for _, d := range in.Diags.All() {
		if d.Code == "unreadable" {
			unreadable[d.File] += d.Count
		}
	}
	if len(in.List) != 1 || in.List[0].Source.Name() != good || len(unreadable) != 2 || unreadable[bad] != 1 || unreadable[closed] != 1 {
		t.Errorf("%d files, unreadable %v", len(in.List), unreadable)
	}
}
