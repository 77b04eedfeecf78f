package app

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// names returns the files of dir.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func write(s string, err error) func(io.Writer) error {
	return func(w io.Writer) error {
		if _, werr := io.WriteString(w, s); werr != nil {
			return werr
		}
		return err
	}
}

func TestOutputFailureKeepsTheOldFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out.json")
	if err := os.WriteFile(path, []byte("old"), 0o640); err != nil {
		t.Fatal(err)
	}
	p := &Process{}
	broken := errors.New("disk on fire")
	if err := p.write(path, nil, write("half of it", broken)); !errors.Is(err, broken) {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(path); string(got) != "old" {
		t.Errorf("the old file now holds %q", got)
	}
	if got := names(t, dir); len(got) != 1 {
		t.Errorf("left behind: %q", got)
	}
	if err := p.write(path, nil, write("new", nil)); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(path); string(got) != "new" || info.Mode().Perm() != 0o640 {
		t.Errorf("got %q with mode %o, want new with mode 640", got, info.Mode().Perm())
	}
	if got := names(t, dir); len(got) != 1 {
		t.Errorf("left behind: %q", got)
	}
}

func TestOutputRefusesAnInput(t *testing.T) {
	dir := t.TempDir()
	in, link, hard := filepath.Join(dir, "in"), filepath.Join(dir, "link"), filepath.Join(dir, "hard")
	if err := errors.Join(os.WriteFile(in, []byte("log"), 0o600), os.Symlink(in, link), os.Link(in, hard)); err != nil {
		t.Fatal(err)
	}
	p := &Process{}
	for _, path := range []string{in, link, hard, filepath.Join(dir, ".", "in")} {
		for _, inputs := range [][]string{{in}, {"other", in + "!member.json"}} {
			var u *usageError
			if err := p.write(path, inputs, write("result", nil)); !errors.As(err, &u) {
				t.Errorf("output %s with inputs %q: %v, want a usage error", path, inputs, err)
			}
		}
	}
	if got, _ := os.ReadFile(in); string(got) != "log" {
		t.Errorf("the input now holds %q", got)
	}
}

func TestOutputThroughALink(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(target, nil, 0o600), os.Symlink(target, link)); err != nil {
		t.Fatal(err)
	}
	if err := new(Process).write(link, nil, write("x", nil)); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(target); string(got) != "x" {
		t.Errorf("the link's target holds %q", got)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v, %v", info, err)
	}
}

func TestOutputOtherTargets(t *testing.T) {
	var stdout bytes.Buffer
	p := &Process{Stdout: &stdout}
	for _, path := range []string{"", "-"} {
		if err := p.write(path, nil, write("x", nil)); err != nil {
			t.Error(err)
		}
	}
	if stdout.String() != "xx" {
		t.Errorf("standard output holds %q", stdout.String())
	}
	if err := p.write(os.DevNull, nil, write("x", nil)); err != nil {
		t.Error(err)
	}
	dir := t.TempDir()
	if err := p.write(dir, nil, write("x", nil)); err == nil {
		t.Error("wrote over a folder")
	}
	err := p.write(filepath.Join(dir, "none", "out"), nil, write("x", nil))
	if want := "output " + filepath.Join(dir, "none", "out") + ": no such file or directory"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestOutputHints: where nothing can be written the advice says why, and what to do.
func TestOutputHints(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		filepath.Join(dir, "none", "out"):               "there is no folder " + filepath.Join(dir, "none") + ": create it, or give another name to -o",
		filepath.Join(file, "out"):                      file + " is no folder: give another name to -o",
		filepath.Join(dir, strings.Repeat("long", 100)): "give a shorter name to -o",
	} {
		err := new(Process).write(path, nil, write("", nil))
		var h interface{ Hint() string }
		if !errors.As(err, &h) || h.Hint() != want {
			t.Errorf("%s: %v; want the hint %q", path, err, want)
		}
	}
	if got := names(t, dir); len(got) != 1 {
		t.Errorf("left behind: %q", got)
	}
}
