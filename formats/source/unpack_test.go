package source

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"servescope/formats"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
)

// gz, zst, tarOf, zipOf and messages make what Unpack takes apart.

func gz(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	io.WriteString(w, text)
	w.Close()
	return b.String()
}

func zst(text string, opts ...zstd.EOption) string {
	var b bytes.Buffer
	w, err := zstd.NewWriter(&b, opts...)
	if err != nil {
		panic(err)
	}
	io.WriteString(w, text)
	w.Close()
	return b.String()
}

func messages(texts ...string) string {
	var b bytes.Buffer
	for _, text := range texts {
		frame := zst(text)
		binary.Write(&b, binary.BigEndian, uint32(len(frame)))
		b.WriteString(frame)
	}
	return b.String()
}

// tarOf makes an archive of names and contents in turn.
func tarOf(pairs ...string) string {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for i := 0; i < len(pairs); i += 2 {
		w.WriteHeader(&tar.Header{Name: pairs[i], Mode: 0o644, Size: int64(len(pairs[i+1])), Typeflag: tar.TypeReg})
		io.WriteString(w, pairs[i+1])
	}
	w.WriteHeader(&tar.Header{Name: "a/directory/", Typeflag: tar.TypeDir})
	w.WriteHeader(&tar.Header{Name: "link", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"})
	w.Close()
	return b.String()
}

func zipOf(method uint16, pairs ...string) string {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	w.RegisterCompressor(zstd.ZipMethodWinZip, zstd.ZipCompressor())
	for i := 0; i < len(pairs); i += 2 {
		f, err := w.CreateHeader(&zip.FileHeader{Name: pairs[i], Method: method})
		if err != nil {
			panic(err)
		}
		io.WriteString(f, pairs[i+1])
	}
	w.Close()
	return b.String()
}

// unpack takes apart one source in memory.
func unpack(t *testing.T, data string) *Inputs {
	t.Helper()
	in, err := Unpack([]Input{{Source: FromBytes("x", []byte(data)), Named: true}}, formats.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close() })
	return in
}

func TestUnpack(t *testing.T) {
	f := func(data, want string) {
		t.Helper()
		if got := summary(t, unpack(t, data)); got != want {
			t.Errorf("\n got %.300s\nwant %.300s", got, want)
		}
	}
	f("plain", "x:plain")
	f("", "x:")
	f(gz("one"), "x:one")
	f(zst("one"), "x:one")
	f(gz(gz("one")), "x:one")
	f(gz(gz(gz("one"))), "nested_archive×1")
	f(zst("one", zstd.WithEncoderCRC(true)), "x:one")
	f(messages("one", "two\n", "three"), "x:one\ntwo\nthree\n")
	f(tarOf("a", "A", "d/b", "B"), "x!a:A x!d/b:B special_skipped×1")
	f(gz(tarOf("a", "A")), "x!a:A special_skipped×1")
	f(zst(tarOf("a", "A")), "x!a:A special_skipped×1")
	f(zipOf(zip.Deflate, "a", "A", "d/b", "B", "d/", ""), "x!a:A x!d/b:B")
	f(zipOf(zip.Store, "a", "A"), "x!a:A")
	f(zipOf(zstd.ZipMethodWinZip, "a", "A"), "x!a:A")
	f(gz(zipOf(zip.Deflate, "a", "A")), "x!a:A")
	f(zipOf(zip.Store), "")
	// One level of compression within an archive, no archive within one.
	f(zipOf(zip.Store, "a.gz", gz("A"), "b", zst("B")), "x!a.gz:A x!b:B")
	f(tarOf("a.gz", gz("A")), "x!a.gz:A special_skipped×1")
	f(tarOf("a", "A", "b", tarOf("c", "C"), "d", gz(tarOf("c", "C")), "e", zipOf(zip.Deflate, "c", "C")),
		"x!a:A nested_archive×1 nested_archive×1 nested_archive×1 special_skipped×1")
	// What systems leave behind, and hostile names.
	f(zipOf(zip.Deflate, "a", "A", "__MACOSX/._a", "m", ".DS_Store", "m", "d/.git/config", "m"), "x!a:A hidden_skipped×3")
	f(tarOf("./a", "A", "../../etc/passwd", "B", `c:\d`, "C"), "x!a:A x!etc/passwd:B x!c:/d:C special_skipped×1")
	f(zipOf(zip.Store, "a\x1b[31m\n\xff", "A"), "x!a\uFFFD[31m\uFFFD\uFFFD:A")
	f(tarOf("a", "old", "b", "B", "a", "new"), "x!a:new x!b:B member_replaced×1 special_skipped×1")
	// By content, whatever it is called.
	in, err := Unpack([]Input{{Source: FromBytes("x.json", []byte(gz("one")))}, {Source: FromBytes("y.gz", []byte("two"))}}, formats.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := summary(t, in); got != "x.json:one y.gz:two" {
		t.Errorf("got %s", got)
	}
}

// TestP84 holds the archived and compressed files that other tools misread.
func TestP84(t *testing.T) {
	f := func(data, want string) {
		t.Helper()
		if got := summary(t, unpack(t, data)); got != want {
			t.Errorf("\n got %.300s\nwant %.300s", got, want)
		}
	}
	f(gz("one\n")+gz("two\n")+gz("")+gz("three"), "x:one\ntwo\nthree")
	f(zst("one\n")+"\x50\x2a\x4d\x18\x04\x00\x00\x00skip"+zst("two\n"), "x:one\ntwo\n")
	f("\x5f\x2a\x4d\x18\x01\x00\x00\x00s"+zst("two\n"), "x:two\n")
	f(gz("one")+"garbage", "x:one trailing_garbage×1")
	f(gz("one")+strings.Repeat("\x00", 1000), "x:one trailing_garbage×1")
	f(zst("one")+"garbage", "x:one trailing_garbage×1")
	f(zipOf(zip.Deflate, "a.log", "A", "logs/b.log", "B", "__MACOSX/._a.log", "m"), "x!a.log:A x!logs/b.log:B hidden_skipped×1")

	// 10 GiB of zeros in 10 MB, under the real limits.
	bomb := &repeatedSource{gz(strings.Repeat("\x00", 1<<20)), 10 << 10}
	in, err := Unpack([]Input{{Source: bomb}}, formats.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := in.List[0].Source.Open(0)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	n, err := io.Copy(io.Discard, r)
	d := allFaults(in)
	if err != nil || n < 1<<30 || n > 1<<30+1<<20 || len(d) != 1 || !strings.Contains(d[0].Msg, "the limit is 500:1 beyond 1073741824 bytes") {
		t.Errorf("%d bytes, %v, %+v", n, err, d)
	}
}

// TestBombs tries archives made to fill memory, disks or time, under limits a
// thousand times smaller than the real ones.
func TestBombs(t *testing.T) {
	const mib = 1 << 20
	zeros := strings.Repeat("\n", 24*mib)
	small := limits{ratio: 500, after: mib, members: 3, index: 10000}
	f := func(data, want string, l limits) {
		t.Helper()
		in := new(Inputs)
		defer in.Close()
		in.spools = newSpools(formats.Options{})
		u := newUnpacker(in, formats.Options{})
		u.limits = l
		err := u.add(Input{Source: FromBytes("x", []byte(data)), Named: true})
		var n int64
		for _, input := range in.List {
			n += int64(len(content(t, input.Source)))
		}
		if n > 15*mib {
			t.Errorf("%d bytes came out", n)
		}
		if got := fmt.Sprint(allFaults(in), err); !strings.Contains(got, want) {
			t.Errorf("got %.300s, want %s", got, want)
		}
	}
	f(gz(zeros), "the limit is 500:1 beyond 1048576 bytes", small)
	f(zst(zeros), "the limit is 500:1", small)
	f(gz(gz(zeros)), "the limit is 500:1", small)
	f(messages(zeros), "the limit is 500:1", small)
	f(zipOf(zip.Deflate, "a", zeros), "the limit is 500:1", small)
	f(zipOf(zip.Deflate, "a", zeros[:mib/2], "b", zeros[:mib/2], "c", zeros[:mib/2]), "the limit is 500:1", small)
	f(gz(tarOf("a", zeros)), "the limit is 500:1", small)
	f(tarOf("a", "", "b", "", "c", "", "d", "", "e", ""), "more than 3 members, which is the limit", small)
	f(zipOf(zip.Store, "a", "", "b", "", "c", "", "d", ""), "more than 3 members", small)
	var many []string
	for i := range 300 {
		many = append(many, fmt.Sprint("a name as long as this one", i), "")
	}
	f(zipOf(zip.Store, many...), "larger than the limit of 10000 bytes", small)
	// Real logs are far from the limits.
	r := rand.New(rand.NewPCG(1, 1))
	line := strings.Repeat("x", 900) + "\n"
	var log strings.Builder
	for log.Len() < 2*mib-1000 {
		fmt.Fprintf(&log, "%d %s", r.IntN(1000), line)
	}
	f(gz(log.String()), "[] <nil>", small)
}

// TestLongStreams reads 1 GiB of gzip members and of zstd frames in little memory.
func TestLongStreams(t *testing.T) {
	var block strings.Builder
	r := rand.New(rand.NewPCG(9, 9))
	for block.Len() < 1<<20 {
		fmt.Fprintf(&block, "%016x%s\n", r.Uint64(), strings.Repeat("payload ", 30))
	}
	const n = 512
	for name, member := range map[string]string{"gzip": gz(block.String()), "zstd": zst(block.String())} {
		in, err := Unpack([]Input{{Source: &repeatedSource{member, n}}}, formats.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		rd, err := in.List[0].Source.Open(0)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.Copy(io.Discard, rd); err != nil || got != n*int64(block.Len()) {
			t.Errorf("%s: %d bytes, %v", name, got, err)
		}
		rd.Close()
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 32<<20 {
			t.Errorf("%s: %d bytes were allocated", name, used)
		}
	}
}

// repeatedSource is a text n times over, which cannot be read from the middle.
type repeatedSource struct {
	text string
	n    int
}

func (s *repeatedSource) Name() string       { return "long" }
func (s *repeatedSource) Size() int64        { return -1 }
func (s *repeatedSource) ModTime() time.Time { return time.Time{} }
func (s *repeatedSource) At() io.ReaderAt    { return nil }
func (s *repeatedSource) Open(off int64) (io.ReadCloser, error) {
	list := make([]io.Reader, s.n)
	for i := range list {
		list[i] = strings.NewReader(s.text)
	}
	return io.NopCloser(io.MultiReader(list...)), nil
}

// failing is a source whose reading fails after its text.
type failing struct{ repeatedSource }

func (s *failing) Open(int64) (io.ReadCloser, error) {
	return io.NopCloser(io.MultiReader(strings.NewReader(s.text), errReader{})), nil
}

// TestReadErrors tells errors of reading from damage of the content.
func TestReadErrors(t *testing.T) {
	long := gz(strings.Repeat("0123456789abcdef\n", 1<<20))
	for name, data := range map[string]string{"gzip": long, "zstd": zst(long), "messages": messages(long), "utf16": "\xff\xfe" + long,
		"bom": "\xef\xbb\xbf" + strings.Repeat("x", 1<<17), "cri": strings.Repeat("2026-03-01T09:00:00Z stdout F x\n", 1<<13)} {
		data = data[:len(data)*3/4]
		in, err := Unpack([]Input{{Source: &failing{repeatedSource{text: data}}, Named: true}}, formats.Options{})
		if err == nil {
			var r io.ReadCloser
			if r, err = in.List[0].Source.Open(0); err == nil {
				_, err = io.Copy(io.Discard, r)
				r.Close()
			}
		}
		if !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("%s: an error of reading became %v", name, err)
		}
	}
}

func TestSourcesWithoutRandomAccess(t *testing.T) {
	for name, data := range map[string]string{"gzip": gz("one"), "utf16": "\xff\xfea\x00", "zip": zipOf(zip.Deflate, "a", "A")} {
		src := unpack(t, data).List[0].Source
		if src.At() != nil || src.Size() >= 0 != (name == "zip") {
			t.Errorf("%s: random access, or size %d", name, src.Size())
		}
		if _, err := src.Open(1); err == nil {
			t.Errorf("%s: opened in the middle", name)
		}
	}
	for name, data := range map[string]string{"bom": "\xef\xbb\xbfone", "tar": tarOf("a", "one"), "tar.gz": gz(tarOf("a", "one")), "stored": zipOf(zip.Store, "a", "one")} {
		src := unpack(t, data).List[0].Source
		buf := make([]byte, 9)
		if n, err := src.At().ReadAt(buf, 1); string(buf[:n]) != "ne" || err != io.EOF || src.Size() != 3 {
			t.Errorf("%s: %q, %v, size %d", name, buf[:n], err, src.Size())
		}
	}
}

// FuzzUnpack finds no input that panics, hangs or blows up.
func FuzzUnpack(f *testing.F) {
	for _, data := range []string{gz("one") + gz("two"), zst("one"), messages("one", "two"), tarOf("a", "A"), gz(tarOf("a", "A")),
		zipOf(zip.Deflate, "a", "A", "b", gz("B")), encode16("abcdef", true, true)} {
		f.Add([]byte(data))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		in := &Inputs{spools: newSpools(formats.Options{})}
		defer in.Close()
		u := newUnpacker(in, formats.Options{})
		u.limits = limits{ratio: 500, after: 1 << 20, members: 100, index: 1 << 16}
		if err := u.add(Input{Source: FromBytes("x", data), Named: true}); err != nil {
			return
		}
		for _, input := range in.List {
			if _, err := formats.ReadHead(input.Source); err != nil {
				t.Error(err)
			}
			r, err := input.Source.Open(0)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, r); err != nil {
				t.Error(err)
			}
			r.Close()
		}
		allFaults(in)
	})
}

// TestWorkbookIsRefused: a spreadsheet is an archive, but its members are not logs.
func TestWorkbookIsRefused(t *testing.T) {
	data := zipOf(zip.Deflate, "[Content_Types].xml", "<Types/>", "xl/workbook.xml", "<workbook/>", "xl/worksheets/sheet1.xml", "<worksheet/>")
	in, err := Unpack([]Input{{Source: FromBytes("stats.xlsx", []byte(data)), Named: true}}, formats.Options{})
	if err == nil {
		in.Close()
		t.Fatal("a workbook was unpacked")
	}
	if want := "stats.xlsx: this is an Excel workbook, which is not read: write the requests as text"; !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s…", err, want)
	}
}
