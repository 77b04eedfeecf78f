package source

import (
	"archive/zip"
	"bytes"
	"fmt"
	"math/rand/v2"
	"servescope/formats"
	"strings"
	"testing"
)

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
			if d := allFaults(in); !complete && (len(d) != 1 || d[0].Offset != int64(len(got)) && name != "message") {
				t.Fatalf("%s cut at %d of %d, %d of %d bytes: faults %+v", name, cut, len(data), len(got), len(text), d)
			}
			bad := []byte(data)
			bad[10+r.IntN(len(bad)-10)] ^= 1 << r.IntN(8)
			in = unpack(t, string(bad))
			if got := content(t, in.List[0].Source); got != text && len(allFaults(in)) == 0 {
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
	d := allFaults(in)
	if len(d) != 1 || d[0].Code != "gzip_checksum" || d[0].Offset != 4 || d[0].Count != 1 || !strings.Contains(d[0].Msg, "member, which ends here") {
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
	if d := allFaults(in); len(d) != 1 || d[0].Code != "corrupt_zstd" || d[0].Count != 1 {
		t.Errorf("got %+v", d)
	}
}

func TestUnpackNothingDecompressed(t *testing.T) {
	set := formats.NewSet()
	f := func(data, want string) {
		t.Helper()
		in := unpack(t, data)
		h, err := formats.ReadHead(in.List[0].Source)
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
	_, err := Unpack([]Input{{Source: FromBytes("x", []byte(data[:len(data)-30])), Named: true}}, formats.Options{})
	if err == nil || !strings.Contains(err.Error(), "x: the zip archive cannot be read") {
		t.Errorf("a zip without directory: %v", err)
	}
	in, err := Unpack([]Input{{Source: FromBytes("x", []byte(data[:len(data)-30]))}}, formats.Options{}) // found in a directory
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
