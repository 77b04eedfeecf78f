package source

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"servescope/analyzer/diag"
	"servescope/formats"
)

// allFaults returns everything that went wrong so far.
func allFaults(in *Inputs) []diag.Diag {
	log := in.ArchiveFaults()
	log.Merge(&in.Diags)
	for _, input := range in.List {
		log.Merge(formats.FaultsOf(input.Source))
	}
	return log.All()
}

// summary prints inputs as "label=name:content", and diags as "code×count".
func summary(t *testing.T, in *Inputs) string {
	t.Helper()
	var parts []string
	for _, input := range in.List {
		s := input.Source.Name() + ":" + content(t, input.Source)
		if input.Label != "" {
			s = input.Label + "=" + s
		}
		parts = append(parts, s)
	}
	for _, d := range allFaults(in) {
		parts = append(parts, fmt.Sprintf("%s×%d", d.Code, d.Count))
	}
	return strings.Join(parts, " ")
}

// inDir makes dir the working directory and fills it with files that hold
// their own names.
func inDir(t *testing.T, names ...string) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		write(t, dir, name, strings.ToUpper(filepath.Base(name)))
	}
	t.Chdir(dir)
}

func TestExpand(t *testing.T) {
	inDir(t, "a", "b", "c=d", "[x]", "d/1", "d/2/3", "d/.hidden", "d/__MACOSX/m", "d/.git/config", "d/4")
	f := func(want string, args ...string) {
		t.Helper()
		if got := summary(t, expand(t, args...)); got != want {
			t.Errorf("%q:\n got %s\nwant %s", args, got, want)
		}
	}
	f("a:A b:B", "a", "b")
	f("b:B a:A", "b", "a")
	f("a:A b:B", "[ab]")
	f("[x]:[X]", "[x]")            // a name before a pattern
	f("[x]:[X]", `\[*`)            // a pattern that is none for Stat
	f("c=d:C=D", "c=d")            // a name before a label
	f("x=a:A", "x=a")              // a label
	f("x=a:A x=b:B", "x=a", "x=b") // equal labels are one run
	f("x=a:A x=b:B", "x=[ab]")
	f("x=c=d:C=D", "x=c=d")
	f("d/1:1 d/2/3:3 d/4:4 hidden_skipped×3", "d")
	f("y=d/1:1 y=d/2/3:3 y=d/4:4 hidden_skipped×3", "y=d/")
	f("d/.hidden:.HIDDEN", "d/.hidden") // named, hence wanted
	f("a:A duplicate_input×1", "a", "./a")
	f("x=a:A y=a:A", "x=a", "y=a") // compared with itself
	f("d/1:1 d/2/3:3 d/4:4 duplicate_input×1 hidden_skipped×3", "d/1", "d")
}

func TestExpandErrors(t *testing.T) {
	inDir(t, "a", "empty/.hidden")
	f := func(msg, hint string, args ...string) {
		t.Helper()
		in, err := Expand(args, strings.NewReader(""), formats.Options{})
		if err == nil {
			t.Errorf("%q: no error, %d inputs", args, len(in.List))
			return
		}
		if !strings.Contains(err.Error(), msg) {
			t.Errorf("%q: %v, want %s", args, err, msg)
		}
		var h interface{ Hint() string }
		if hint != "" && (!errors.As(err, &h) || !strings.Contains(h.Hint(), hint)) {
			t.Errorf("%q: %#v gives no hint about %s", args, err, hint)
		}
	}
	f("nope.json: no such file", "current directory", "a", "nope.json")
	f("no file matches *.json", "name the directory", "*.json")
	f("[: ", "literal bracket", "[")
	f("d/x=y: no such file", "label=path", "d/x=y")
	f("a=b: no such file", "label=path", "a=b") // a is a file, not a label
	f("b: no such file", "", "x=b")
	f("an empty argument", "", "")
	f("no file to read in empty", "", "empty")
	f("hidden files", "", "empty")
	f("no file to read in ", "")
}

func TestExpandLinks(t *testing.T) {
	inDir(t, "d/a", "other/b")
	for link, target := range map[string]string{"d/same": "a", "d/far": "../other/b", "d/up": "..", "d/lost": "nowhere"} {
		if err := os.Symlink(target, link); err != nil {
			t.Skip(err)
		}
	}
	if got, want := summary(t, expand(t, "d")), "d/a:A d/far:B unreadable×1 duplicate_input×1 special_skipped×1"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	os.Symlink("circle", "circle")
	for _, link := range []string{"circle", "d/lost"} {
		if _, err := Expand([]string{link}, nil, formats.Options{}); err == nil || !strings.Contains(err.Error(), link+": the link leads to no file") {
			t.Errorf("%s: %v", link, err)
		}
	}
}

func TestExpandStdin(t *testing.T) {
	dir := t.TempDir()
	text := strings.Repeat("0123456789abcdef", 1<<17) // 2 MiB
	f := func(memory int64, scratch, want string) {
		t.Helper()
		in, err := Expand([]string{"x=-", "-"}, iotestReader(text), formats.Options{Memory: memory, Scratch: scratch})
		if err != nil {
			if want == "" || !strings.Contains(err.Error(), want) {
				t.Errorf("memory %d: %v", memory, err)
			}
			return
		}
		defer in.Close()
		if want != "" {
			t.Errorf("memory %d: no error, want %s", memory, want)
		}
		src := in.List[0].Source
		if got := content(t, src); got != text || src.Size() != int64(len(text)) {
			t.Errorf("memory %d: %d bytes, size %d", memory, len(got), src.Size())
		}
		for _, off := range []int64{0, 1, spoolChunk - 1, spoolChunk, 2*spoolChunk - 7, 1<<21 - 5} {
			buf := make([]byte, 100)
			n, err := src.At().ReadAt(buf, off)
			if want := text[off:min(off+100, 1<<21)]; string(buf[:n]) != want || (err == nil) != (n == 100) {
				t.Errorf("memory %d, at %d: %q, %v", memory, off, buf[:n], err)
			}
		}
		if in.List[0].Label != "x" || len(in.List) != 1 || len(in.Diags.All()) != 1 {
			t.Errorf("inputs %+v, diags %v", in.List, in.Diags.All())
		}
	}
	f(64<<20, "", "") // all in memory
	f(8<<20, "", "")  // exactly
	f(8<<20-4, "", "no directory for temporary files")
	f(2<<20, dir, "")
	f(1, dir, "")
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("%d temporary files are left", len(left))
	}
	f(1, filepath.Join(dir, "missing"), "no such file")
}

// iotestReader gives text in odd pieces.
func iotestReader(text string) io.Reader {
	return io.MultiReader(strings.NewReader(text[:1]), strings.NewReader(text[1:70000]), strings.NewReader(text[70000:]))
}

func TestExpandStdinFile(t *testing.T) {
	f, err := os.Open(write(t, t.TempDir(), "f", "0123456789"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	f.Seek(4, io.SeekStart) // as a shell that has read a line does
	in, err := Expand([]string{"-"}, f, formats.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if got := content(t, in.List[0].Source); got != "456789" || in.List[0].Source.Size() != 6 {
		t.Errorf("got %q", got)
	}
}

func TestExpandPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	path := fmt.Sprintf("/dev/fd/%d", r.Fd())
	if _, err := os.Stat(path); err != nil {
		t.Skip(err)
	}
	go func() {
		w.Write([]byte("through a pipe"))
		w.Close()
	}()
	in := expand(t, "p="+path)
	for range 2 { // a pipe can be read once, its source as often as one likes
		if got := content(t, in.List[0].Source); got != "through a pipe" {
			t.Errorf("got %q", got)
		}
	}
}

func TestStdinFails(t *testing.T) {
	_, err := Expand([]string{"-"}, io.MultiReader(strings.NewReader("abc"), errReader{}), formats.Options{})
	if err == nil || !strings.Contains(err.Error(), "stdin: ") || !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("got %v", err)
	}
	if _, err := Expand([]string{"-"}, nil, formats.Options{}); err == nil {
		t.Error("no stdin is no error")
	}
}

type errReader struct{}

func (errReader) Read([]byte) (int, error) { return 0, io.ErrClosedPipe }

// TestSpoolBeyondMemory keeps a long stream out of memory.
func TestSpoolBeyondMemory(t *testing.T) {
	const size = 40 << 20
	s := newSpools(formats.Options{Memory: 16 << 20, Scratch: t.TempDir()})
	defer s.close()
	sp, err := s.fill(io.LimitReader(new(pattern), size))
	if err != nil || sp.size != size || sp.inMem > 4<<20 {
		t.Fatalf("size %d, %d in memory, %v", sp.size, sp.inMem, err)
	}
	got, err := io.ReadAll(io.NewSectionReader(sp, 0, size))
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range got {
		if c != byte(i%251) {
			t.Fatalf("wrong byte at %d", i)
		}
	}
}

// pattern reads as bytes that tell where they stand.
type pattern struct{ off int64 }

func (r *pattern) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte((r.off + int64(i)) % 251)
	}
	r.off += int64(len(p))
	return len(p), nil
}
