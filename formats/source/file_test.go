package source

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"servescope/formats"
	"strings"
	"sync"
	"testing"
)

// write makes a file in a directory of the test and returns its path.
func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// expand resolves arguments, which must work, until the test ends.
func expand(t *testing.T, args ...string) *Inputs {
	t.Helper()
	in, err := Expand(args, strings.NewReader(""), formats.Options{Scratch: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close() })
	return in
}

// content reads all of a source.
func content(t *testing.T, src formats.Source) string {
	t.Helper()
	r, err := src.Open(0)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestFileGrowsAndShrinks(t *testing.T) {
	path := write(t, t.TempDir(), "a.log", "0123456789")
	src := expand(t, path).List[0].Source
	os.WriteFile(path, []byte("0123456789 and more"), 0o666) // same file, longer
	if got := content(t, src); got != "0123456789" {
		t.Errorf("a log that has grown reads as %q", got)
	}
	if d := formats.FaultsOf(src).All(); len(d) != 0 {
		t.Errorf("growing is a fault: %v", d)
	}
	os.Truncate(path, 4)
	for range 2 { // twice: counted once
		if got := content(t, src); got != "0123" {
			t.Errorf("a log that has shrunk reads as %q", got)
		}
	}
	src.At().ReadAt(make([]byte, 1), 7) // behind the end, as another goroutine may read
	d := formats.FaultsOf(src).All()
	if len(d) != 1 || d[0].Code != "file_shrank" || d[0].Offset != 4 || d[0].Count != 1 {
		t.Errorf("got %+v", d)
	}
}

// TestArchiveShrinks counts the fault of an archive once, not for each member.
func TestArchiveShrinks(t *testing.T) {
	path := write(t, t.TempDir(), "a.tar", tarOf("a", strings.Repeat("A", 5000), "b", strings.Repeat("B", 5000)))
	in := expand(t, path)
	os.Truncate(path, 3000)
	for _, input := range in.List {
		content(t, input.Source)
	}
	if d := in.ArchiveFaults().All(); len(d) != 1 || d[0].Code != "file_shrank" || d[0].Count != 1 {
		t.Errorf("got %+v", d)
	}
}

func TestFileReplaced(t *testing.T) {
	dir := t.TempDir()
	path := write(t, dir, "a.log", "old")
	src := expand(t, path).List[0].Source
	if err := os.Rename(write(t, dir, "b.log", "new"), path); err != nil {
		t.Fatal(err)
	}
	if got := content(t, src); got != "old" {
		t.Errorf("an open file that was replaced reads as %q", got)
	}
	src.(*file).pool.close()
	if _, err := formats.ReadHead(src); err == nil || !strings.Contains(err.Error(), "replaced") {
		t.Errorf("reading a replaced file: %v", err)
	}
}

func TestFileReadAt(t *testing.T) {
	src := expand(t, write(t, t.TempDir(), "a", "0123456789")).List[0].Source
	f := func(off int64, n int, want string, wantErr error) {
		t.Helper()
		buf := make([]byte, n)
		n, err := src.At().ReadAt(buf, off)
		if string(buf[:n]) != want || err != wantErr {
			t.Errorf("%d bytes at %d: %q, %v", len(buf), off, buf[:n], err)
		}
	}
	f(0, 10, "0123456789", nil)
	f(0, 11, "0123456789", io.EOF)
	f(8, 2, "89", nil)
	f(10, 1, "", io.EOF)
	f(99, 1, "", io.EOF)
	if _, err := src.Open(11); err == nil {
		t.Error("opened behind the end")
	}
}

// TestManyFiles reads more files than are held open, from several goroutines.
func TestManyFiles(t *testing.T) {
	dir := t.TempDir()
	var args []string
	for i := range 3 * maxOpen {
		args = append(args, write(t, dir, fmt.Sprint(i), fmt.Sprint("file ", i)))
	}
	in := expand(t, args...)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i, input := range in.List {
				buf := make([]byte, 100)
				n, err := input.Source.At().ReadAt(buf, 0)
				if want := fmt.Sprint("file ", i); err != io.EOF || string(buf[:n]) != want {
					t.Errorf("got %q, %v; want %q", buf[:n], err, want)
				}
			}
		})
	}
	wg.Wait()
	if n := len(in.pool.open); n > maxOpen {
		t.Errorf("%d files are open", n)
	}
	in.Close()
	if n := len(in.pool.open); n != 0 {
		t.Errorf("%d files are open after Close", n)
	}
}

func TestLineAt(t *testing.T) {
	text := strings.Repeat("ab\n", 1e5)
	src := FromBytes("x", []byte(text))
	for _, off := range []int64{0, 2, 3, 299999, 5e6, maxLineScan + 1} {
		want := int64(bytes.Count([]byte(text[:min(off, int64(len(text)))]), []byte("\n"))) + 1
		if off > maxLineScan {
			want = 0
		}
		if got, err := LineAt(src, off); err != nil || got != want {
			t.Errorf("line at %d: %d, %v; want %d", off, got, err, want)
		}
	}
}
