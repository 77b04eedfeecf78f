package source

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"servescope/analyzer/diag"
	"servescope/formats"
)

// blockedGzip compresses data as bgzip does: members that say how long they are.
func blockedGzip(t *testing.T, data []byte, size int) []byte {
	t.Helper()
	var out bytes.Buffer
	for len(data) > 0 {
		n := min(size, len(data))
		var b bytes.Buffer
		zw := gzip.NewWriter(&b)
		zw.Extra = []byte("BC\x02\x00\x00\x00")
		zw.Write(data[:n])
		if err := zw.Close(); err != nil {
			t.Fatal(err)
		}
		binary.LittleEndian.PutUint16(b.Bytes()[16:], uint16(b.Len()-1))
		out.Write(b.Bytes())
		data = data[n:]
	}
	return out.Bytes()
}

// frames compresses data into zstd frames of all kinds of headers, with frames to
// skip between them.
func frames(t *testing.T, r *rand.Rand, data []byte, size int) []byte {
	t.Helper()
	var out []byte
	for i := 0; len(data) > 0; i++ {
		n := min(1+r.IntN(2*size), len(data))
		zw, err := zstd.NewWriter(nil, zstd.WithEncoderCRC(i%2 == 0), zstd.WithSingleSegment(i%3 == 0), zstd.WithEncoderLevel(zstd.SpeedFastest))
		if err != nil {
			t.Fatal(err)
		}
		if i%5 == 4 { // as a stream: the header tells no size
			var b bytes.Buffer
			zw.Reset(&b)
			zw.Write(data[:n])
			zw.Close()
			out = append(out, b.Bytes()...)
		} else {
			out = zw.EncodeAll(data[:n], out)
		}
		if data = data[n:]; i%4 == 1 {
			out = append(out, "\x53\x2a\x4d\x18\x05\x00\x00\x00skips"...)
		}
	}
	return out
}

func partText(r *rand.Rand, n int) []byte {
	var b bytes.Buffer
	for b.Len() < n {
		if fmt.Fprintf(&b, "line %d %d\n", r.Uint64(), r.Uint64()); r.IntN(50_000) == 0 {
			b.Write(bytes.Repeat([]byte("x"), 300_000))
		}
	}
	return b.Bytes()
}

// unpacked returns the text of a compressed file and its faults.
func unpacked(t *testing.T, code []byte, workers int) (string, []diag.Diag) {
	t.Helper()
	in, err := Unpack([]Input{{Source: FromBytes("x", code)}}, formats.Options{Workers: workers})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	r, err := in.List[0].Source.Open(0)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	return string(text), formats.FaultsOf(in.List[0].Source).All()
}

// TestParts holds files of many members and frames, sound and damaged, to the
// same text and the same faults on one goroutine and on several.
func TestParts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	text := partText(r, 3_000_000)
	for name, code := range map[string][]byte{"gzip": blockedGzip(t, text, 60_000), "zstd": frames(t, r, text, 90_000)} {
		if got, faults := unpacked(t, code, 3); got != string(text) || len(faults) > 0 {
			t.Fatalf("%s: %d bytes of %d, %v", name, len(got), len(text), faults)
		}
		for range 20 {
			bad := bytes.Clone(code)
			switch at := r.IntN(len(bad)); r.IntN(4) {
			case 0:
				bad = bad[:at]
			case 1:
				bad = append(bad, "garbage that is no frame at all"...)
			default:
				bad[at] ^= 1 << r.IntN(8)
			}
			want, wantFaults := unpacked(t, bad, 1)
			got, faults := unpacked(t, bad, 3)
			if got != want || !reflect.DeepEqual(faults, wantFaults) {
				t.Fatalf("%s: %d bytes, %v; on one goroutine %d bytes, %v", name, len(got), faults, len(want), wantFaults)
			}
		}
	}
}

// TestPartsAreFound makes sure that the files above are read in parts.
func TestPartsAreFound(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	text := partText(r, 1_000_000)
	for name, c := range map[string]struct {
		s    func(at io.ReaderAt, off, size int64) (span, bool)
		code []byte
	}{"gzip": {blocksOf, blockedGzip(t, text, 60_000)}, "zstd": {framesOf, frames(t, r, text, 30_000)}} {
		off, parts := int64(0), 0
		for off < int64(len(c.code)) {
			s, ok := c.s(bytes.NewReader(c.code), off, int64(len(c.code)))
			if !ok || s.off != off {
				t.Fatalf("%s: no part at %d of %d", name, off, len(c.code))
			}
			off, parts = off+s.n, parts+1
		}
		if off != int64(len(c.code)) || parts < 2 {
			t.Errorf("%s: %d parts up to %d of %d", name, parts, off, len(c.code))
		}
	}
}

// TestReadAhead closes readers at every stage, and reads on behind an error.
func TestReadAhead(t *testing.T) {
	text := partText(rand.New(rand.NewPCG(5, 6)), 3*aheadSize*aheadBlocks)
	for _, n := range []int{0, 1, formats.HeadSize, formats.HeadSize + 1, aheadSize * 2, len(text)} {
		a := readAhead(io.NopCloser(bytes.NewReader(text)))
		got := make([]byte, n)
		if _, err := io.ReadFull(a, got); err != nil || !bytes.Equal(got, text[:n]) {
			t.Errorf("%d bytes: %v", n, err)
		}
		if n == len(text) {
			for range 2 {
				if _, err := a.Read(make([]byte, 1)); err != io.EOF {
					t.Errorf("at the end: %v", err)
				}
			}
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
}
