package source

import (
	"archive/zip"
	"encoding/binary"
	"io"
	"servescope/formats"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"
)

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

// TestStamped reads framed text with the stamps of its runtime, and without.
func TestStamped(t *testing.T) {
	const cri = "2026-03-01T09:00:00.1Z stdout P a\n2026-03-01T09:00:00.2Z stderr F b\nbare\n2026-03-01T09:00:00.3+02:00 stdout F c\n2026-03-01T09:00:00.4Z stdout P d\n"
	in := unpack(t, cri)
	src := in.List[0].Source
	stamped := StampedOf(src)
	if stamped == nil {
		t.Fatal("there are no stamps")
	}
	read := func(src formats.Source) string {
		r, err := src.Open(0)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		text, err := io.ReadAll(iotest.OneByteReader(r))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	want := "\x1e2026-03-01T09:00:00.2Z b\n\x1e bare\n\x1e2026-03-01T09:00:00.1Z ac\n\x1e2026-03-01T09:00:00.4Z d\n"
	if got := read(stamped); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := read(src), "b\nbare\nac\nd\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, d := range formats.FaultsOf(src).All() { // each once, at its offset in the text without stamps
		if want := map[string]int64{"unframed_line": 2, "partial_line": 10}[d.Code]; d.Count != 1 || d.Offset != want {
			t.Errorf("%s: %d times, first at %d, want once, at %d", d.Code, d.Count, d.Offset, want)
		}
	}
	if n := len(formats.FaultsOf(src).All()); n != 2 {
		t.Errorf("%d kinds of faults, want 2", n)
	}
	if StampedOf(unpack(t, "plain\n").List[0].Source) != nil {
		t.Error("a plain file has stamps")
	}
}
