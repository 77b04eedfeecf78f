package formats

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
	"strings"
	"testing"
	"time"
	"unicode/utf16"

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
	in, err := Unpack([]Input{{Source: FromBytes("x", []byte(data)), Named: true}}, Options{})
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
	in, err := Unpack([]Input{{Source: FromBytes("x.json", []byte(gz("one")))}, {Source: FromBytes("y.gz", []byte("two"))}}, Options{})
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
}

// TestUnpackDamaged cuts and corrupts compressed text everywhere: what comes
// out is a beginning of the text, and a fault if it is not all of it.
func TestUnpackDamaged(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	var lines strings.Builder
	for range 3000 {
		fmt.Fprintf(&lines, `{"request_id":"r%d","ttft":%v}`+"\n", r.IntN(1000), r.Float64())
	}
	text := lines.String()
	whole := map[string]string{"gzip": gz(text[:70000]) + gz(text[70000:]), "zstd": zst(text[:70000]) + zst(text[70000:]), "message": messages(text[:70000], text[70000:])}
	for name, data := range whole {
		for range 60 {
			cut := 9 + r.IntN(len(data)-9)
			in := unpack(t, data[:cut])
			got := content(t, in.List[0].Source)
			if !strings.HasPrefix(text, strings.TrimSuffix(got, "\n")) {
				t.Fatalf("%s cut at %d: not a prefix", name, cut)
			}
			complete := got == text || len(got) == 70000 // a cut between two frames cannot be seen
			if d := in.Faults().All(); !complete && (len(d) != 1 || d[0].Offset != int64(len(got)) && name != "message") {
				t.Fatalf("%s cut at %d of %d, %d of %d bytes: faults %+v", name, cut, len(data), len(got), len(text), d)
			}
			bad := []byte(data)
			bad[10+r.IntN(len(bad)-10)] ^= 1 << r.IntN(8)
			in = unpack(t, string(bad))
			if got := content(t, in.List[0].Source); got != text && len(in.Faults().All()) == 0 {
				t.Fatalf("%s: a flipped bit changed the text and nobody noticed", name)
			}
		}
	}
}

func TestGzipChecksum(t *testing.T) {
	first := []byte(gz("one\n"))
	first[len(first)-8] ^= 1
	in := unpack(t, string(first)+gz("two\n"))
	for range 3 {
		if got := content(t, in.List[0].Source); got != "one\ntwo\n" {
			t.Errorf("got %q", got)
		}
	}
	d := in.Faults().All()
	if len(d) != 1 || d[0].Code != "gzip_checksum" || d[0].Offset != 4 || d[0].Count != 1 || !strings.Contains(d[0].Msg, "member 1") {
		t.Errorf("got %+v", d)
	}
}

// TestMessagesDamaged loses one message of the collector, not those after it.
func TestMessagesDamaged(t *testing.T) {
	data := []byte(messages("one", strings.Repeat("two", 100), "three"))
	second := len(messages("one")) + 4
	data[second+6] ^= 0xff
	in := unpack(t, string(data))
	got := content(t, in.List[0].Source)
	if !strings.HasPrefix(got, "one\n") || !strings.HasSuffix(got, "three\n") {
		t.Errorf("got %q", got)
	}
	if d := in.Faults().All(); len(d) != 1 || d[0].Code != "corrupt_zstd" || d[0].Count != 1 {
		t.Errorf("got %+v", d)
	}
}

func TestUnpackNothingDecompressed(t *testing.T) {
	set := NewSet(prefixFormat("a", "zzz", 1, Sure))
	f := func(data, want string) {
		t.Helper()
		in := unpack(t, data)
		h, err := ReadHead(in.List[0].Source)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = set.Detect(h); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	f("\x1f\x8b\x08\x00\x00\x00\x00", "nothing could be read: the gzip data ends too early")
	f("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xff\xff\xff\xff", "nothing could be read: the gzip data is damaged")
	f(zst("one")[:7], "nothing could be read: the zstd data ends too early")
	f(gz(""), "the file is empty")
}

func TestDamagedArchives(t *testing.T) {
	data := zipOf(zip.Deflate, "a", strings.Repeat("A1", 500), "b", "B")
	_, err := Unpack([]Input{{Source: FromBytes("x", []byte(data[:len(data)-30])), Named: true}}, Options{})
	if err == nil || !strings.Contains(err.Error(), "x: the zip archive cannot be read") {
		t.Errorf("a zip without directory: %v", err)
	}
	in, err := Unpack([]Input{{Source: FromBytes("x", []byte(data[:len(data)-30]))}}, Options{}) // found in a directory
	if err != nil || summary(t, in) != "unreadable×1" {
		t.Errorf("a zip without directory, not named: %v", err)
	}
	bad := []byte(data)
	bad[35] ^= 0xff // in the data of a
	got := summary(t, unpack(t, string(bad)))
	if !strings.Contains(got, "x!b:B") || !strings.Contains(got, "zip_checksum×1") && !strings.Contains(got, "corrupt_zip×1") {
		t.Errorf("a damaged member: %.100s", got)
	}
	locked := []byte(data)
	locked[6] |= 1                                           // in the local header
	locked[bytes.Index(locked, []byte("PK\x01\x02"))+8] |= 1 // in the directory
	if got := summary(t, unpack(t, string(locked))); got != "x!b:B encrypted×1" {
		t.Errorf("an encrypted member: %.100s", got)
	}
	odd := []byte(data)
	odd[8] = 97
	odd[bytes.Index(odd, []byte("PK\x01\x02"))+10] = 97
	if got := summary(t, unpack(t, string(odd))); got != "x!a: x!b:B zip_method×1" {
		t.Errorf("an unknown method: %.100s", got)
	}
	archive := tarOf("a", "A", "b", strings.Repeat("B", 2000), "c", "C")
	if got := summary(t, unpack(t, archive[:512*4+700])); got != "x!a:A x!b:"+strings.Repeat("B", 512+700)+" corrupt_tar×1" {
		t.Errorf("a tar that is cut off: %.100s", got)
	}
	broken := []byte(archive)
	broken[1024+150] ^= 1
	if got := summary(t, unpack(t, string(broken))); got != "x!a:A corrupt_tar×1" {
		t.Errorf("a tar with a broken header: %.100s", got)
	}
	compressed := gz(archive)
	if got := summary(t, unpack(t, compressed[:len(compressed)-9])); !strings.Contains(got, "x!a:A") || !strings.Contains(got, "truncated_gzip×1") {
		t.Errorf("a tar.gz that is cut off: %.100s", got)
	}
	sparse := tarOf("a", "A")
	sparse = sparse[:156] + "S" + sparse[157:]
	if isTar([]byte(sparse)) {
		t.Error("the checksum of a tar header is not looked at")
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
		in.scratch = newScratch(Options{})
		u := newUnpacker(in, Options{})
		u.limits = l
		err := u.add(Input{Source: FromBytes("x", []byte(data)), Named: true})
		var n int64
		for _, input := range in.List {
			n += int64(len(content(t, input.Source)))
		}
		if n > 15*mib {
			t.Errorf("%d bytes came out", n)
		}
		if got := fmt.Sprint(in.Faults().All(), err); !strings.Contains(got, want) {
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
		in, err := Unpack([]Input{{Source: &repeatedSource{member, n}}}, Options{})
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
		in, err := Unpack([]Input{{Source: &failing{repeatedSource{text: data}}, Named: true}}, Options{})
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
		if src.At() != nil || src.Size() != -1 {
			t.Errorf("%s: random access or a size", name)
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

func encode16(text string, big, bom bool) string {
	if bom {
		text = "\uFEFF" + text
	}
	var b []byte
	for _, u := range utf16.Encode([]rune(text)) {
		if big {
			b = binary.BigEndian.AppendUint16(b, u)
		} else {
			b = binary.LittleEndian.AppendUint16(b, u)
		}
	}
	return string(b)
}

func TestTextEncodings(t *testing.T) {
	f := func(data, want string) {
		t.Helper()
		if got := summary(t, unpack(t, data)); got != "x:"+want {
			t.Errorf("got %.100q, want %.100q", got, "x:"+want)
		}
	}
	f("\xef\xbb\xbfone", "one")
	f(gz("\xef\xbb\xbfone"), "one")
	f("\xef\xbb\xbf", "")
	// Long enough that characters straddle the blocks of the decoder.
	text := "x" + strings.Repeat("{\"text\":\"é中\U0001F600\"}\r\n", 8000)
	ascii := strings.Repeat("{\"request_id\":\"r1\"}\n", 300)
	for _, big := range []bool{false, true} {
		f(encode16(text, big, true), text)
		f(gz(encode16(text, big, true)), text)
		f(encode16(ascii, big, false), ascii)
		f(encode16("", big, true), "")
	}
	lone := encode16("a", false, true) + "\x00\xd8" + "b\x00" + "\x00\xdc" + "c" // a lone high, a lone low, half a unit
	f(lone, "a\uFFFDb\uFFFD\uFFFD invalid_utf16×3")
	f("\xff\xfe\x00\xd8", "\uFFFD invalid_utf16×1")
	f("a\x00b\x00\x00\x00c\x00d\x00", "a\x00b\x00\x00\x00c\x00d\x00") // binary stays as it is
	docker := `{"log":"one\n","stream":"stdout","time":"2026-03-01T09:00:00Z"}` + "\n"
	f(encode16(docker, true, true), "one\n")
}

func TestP47(t *testing.T) {
	f := func(data, want string) {
		t.Helper()
		if got := summary(t, unpack(t, data)); got != want {
			t.Errorf("got %.200q, want %.200q", got, want)
		}
	}
	cri := "2026-03-01T09:00:00.1Z stdout P {\"id\":\"r1\",\"toke\n2026-03-01T09:00:00.2Z stderr F warning\n2026-03-01T09:00:00.3Z stdout P ns\":[1,2\n2026-03-01T09:00:00.4Z stdout F ,3]}\n"
	f(cri, "x:warning\n{\"id\":\"r1\",\"tokens\":[1,2,3]}\n")
	f(gz(cri), "x:warning\n{\"id\":\"r1\",\"tokens\":[1,2,3]}\n")
	f(zipOf(zip.Deflate, "0.log", cri), "x!0.log:warning\n{\"id\":\"r1\",\"tokens\":[1,2,3]}\n")
	f(cri+"2026-03-01T09:00:00.1Z stdout P {\"id\"", "x:warning\n{\"id\":\"r1\",\"tokens\":[1,2,3]}\n{\"id\"\n partial_line×1")
	f(cri+"no frame\n", "x:warning\n{\"id\":\"r1\",\"tokens\":[1,2,3]}\nno frame\n unframed_line×1")
}

// FuzzUnpack finds no input that panics, hangs or blows up.
func FuzzUnpack(f *testing.F) {
	for _, data := range []string{gz("one") + gz("two"), zst("one"), messages("one", "two"), tarOf("a", "A"), gz(tarOf("a", "A")),
		zipOf(zip.Deflate, "a", "A", "b", gz("B")), encode16("abcdef", true, true)} {
		f.Add([]byte(data))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		in := &Inputs{scratch: newScratch(Options{})}
		defer in.Close()
		u := newUnpacker(in, Options{})
		u.limits = limits{ratio: 500, after: 1 << 20, members: 100, index: 1 << 16}
		if err := u.add(Input{Source: FromBytes("x", data), Named: true}); err != nil {
			return
		}
		for _, input := range in.List {
			if _, err := ReadHead(input.Source); err != nil {
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
		in.Faults()
	})
}
