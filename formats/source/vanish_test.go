package source

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"servescope/formats"
	"strings"
	"testing"
)

// TestDirectoryVanishes removes a directory behind the list of its files, and while
// it is listed: what can still be read is what it was, anything else is an error or
// a diagnostic that names what is missing.
func TestDirectoryVanishes(t *testing.T) {
	for round := range 40 {
		dir := filepath.Join(t.TempDir(), "logs")
		for _, name := range []string{"a.log", "b.log", "sub/c.log", "sub/d.log", "sub/sub/e.log"} {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777); err != nil {
				t.Fatal(err)
			}
			write(t, dir, name, name)
		}
		removed := make(chan error, 1)
		remove := func() { removed <- os.RemoveAll(dir) }
		if round%2 == 0 {
			go remove()
		}
		in, err := Expand([]string{dir}, nil, formats.Options{})
		if round%2 == 1 {
			remove()
		}
		if err := <-removed; err != nil {
			t.Fatal(err)
		}
		if err != nil {
			if !strings.Contains(err.Error(), dir) {
				t.Errorf("the error does not name the directory: %v", err)
			}
			continue
		}
		if round%2 == 1 && len(in.List) != 5 {
			t.Errorf("%d files", len(in.List))
		}
		for _, input := range in.List {
			switch text, err := read(input.Source); {
			case err == nil && !strings.HasSuffix(input.Source.Name(), filepath.FromSlash(text)):
				t.Errorf("%s holds %q", input.Source.Name(), text)
			case err != nil && (!errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), input.Source.Name())):
				t.Errorf("%s: %v", input.Source.Name(), err)
			}
		}
		for _, d := range in.Diags.All() {
			if d.Code == "unreadable" && !strings.HasPrefix(d.File, dir) {
				t.Errorf("%+v", d)
			}
		}
		in.Close()
	}
}

func read(src formats.Source) (string, error) {
	r, err := src.Open(0)
	if err != nil {
		return "", err
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	return string(b), err
}

// TestScratchVanishes: the advice fits why no temporary file can be made.
func TestScratchVanishes(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "file", "text")
	for name, want := range map[string]string{"missing": "create the directory", "file": "a directory in TMPDIR that may be written to"} {
		in, err := Expand([]string{filepath.Join(dir, "file")}, nil, formats.Options{Scratch: filepath.Join(dir, name)})
		if err != nil {
			t.Fatal(err)
		}
		var advice interface{ Hint() string }
		if _, err = in.TempFile().Append([]byte("x")); !errors.As(err, &advice) || !strings.Contains(advice.Hint(), want) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
		in.Close()
	}
}
