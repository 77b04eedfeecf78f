package parquet

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"servescope/formats/internal/column"

	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/pierrec/lz4/v4"
)

// TestFrames reads LZ4 as Hadoop writes it, in frames, and as it was written before.
func TestFrames(t *testing.T) {
	text := []byte(strings.Repeat("time to first token, ", 1000))
	block := func(b []byte) []byte {
		out := make([]byte, lz4.CompressBlockBound(len(b)))
		n, err := lz4.CompressBlock(b, out, nil)
		if err != nil || n == 0 {
			t.Fatal(n, err)
		}
		return out[:n]
	}
	var framed []byte
	for part := range slices.Chunk(text, 9000) {
		own := block(part)
		framed = binary.BigEndian.AppendUint32(framed, uint32(len(part)))
		framed = append(binary.BigEndian.AppendUint32(framed, uint32(len(own))), own...)
	}
	for name, body := range map[string][]byte{"frames": framed, "bare": block(text)} {
		s := &stream{codec: lz4Hadoop, raw: []byte("levels")}
		if err := s.decompress(body, len(text)+6); err != nil || string(s.raw) != "levels"+string(text) {
			t.Errorf("%s: %v, %d bytes", name, err, len(s.raw))
		}
		for n := range len(body) {
			s := &stream{codec: lz4Hadoop}
			if err := s.decompress(body[:n], len(text)); err == nil {
				t.Fatalf("%s: %d bytes of %d are read", name, n, len(body))
			}
		}
	}
	s := &stream{codec: lz4Raw}
	if err := s.decompress(block(text)[:8], maxPage); err == nil || cap(s.raw) > 1<<20 {
		t.Errorf("a claim of %d bytes: %v, %d bytes", maxPage, err, cap(s.raw))
	}
}

// TestDeltaSize finds the end of what parquet-go packs.
func TestDeltaSize(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for n := range 700 {
		list := make([]int32, n)
		for i := range list {
			list[i] = r.Int32() >> r.IntN(31)
		}
		packed, err := new(delta.BinaryPackedEncoding).EncodeInt32(nil, list)
		if err != nil {
			t.Fatal(err)
		}
		if size, ok := deltaSize(append(packed[:len(packed):len(packed)], 1, 2, 3), n); !ok || size != len(packed) {
			t.Fatalf("%d numbers end at %d of %d: %v", n, size, len(packed), ok)
		}
	}
}

// TestHalf: values of the standard's table of examples of binary16.
func TestHalf(t *testing.T) {
	for x, want := range map[uint16]float64{0x0000: 0, 0x0001: 1.0 / (1 << 24), 0x03ff: 1023.0 / (1 << 24), 0x0400: 1.0 / (1 << 14),
		0x3555: 1365.0 / 4096, 0x3bff: 2047.0 / 2048, 0x3c00: 1, 0x3c01: 1025.0 / 1024, 0x7bff: 65504, 0x7c00: math.Inf(1), 0xc000: -2, 0xfc00: math.Inf(-1),
		0x8001: -1.0 / (1 << 24)} {
		if got := half(x); got != want {
			t.Errorf("%#04x is %v, want %v", x, got, want)
		}
	}
	if v := half(0x7e00); v == v {
		t.Errorf("0x7e00 is %v", v)
	}
	if v := half(0x8000); v != 0 || !math.Signbit(v) {
		t.Errorf("0x8000 is %v", v)
	}
}

// TestOldTimestamps: days and nanoseconds, of which only those of some centuries
// are times here.
func TestOldTimestamps(t *testing.T) {
	at := func(day int32, ns uint64) []byte {
		return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint64(nil, ns), uint32(day))
	}
	for _, c := range []struct {
		src  []byte
		want int64
	}{{at(2440588, 1), 1}, {at(2440587, 86399e9), -1e9}, {at(2461101, 36000e9), 1772359200e9}, {at(5373484, 0), math.MaxInt64}, {at(0, 0), math.MaxInt64}} {
		var got [1]int64
		if err := plainInts(&leaf{Field: column.Field{Kind: column.Int}, physical: int96s}, c.src, got[:]); err != nil || got[0] != c.want {
			t.Errorf("%x is %d, want %d; %v", c.src, got[0], c.want, err)
		}
	}
}

// TestManyColumns: a table of features may have a hundred thousand columns.
func TestManyColumns(t *testing.T) {
	wide := func(n int) []node {
		nodes := make([]node, n+1)
		nodes[0] = node{name: "root", physical: -1, children: int64(n)}
		for i := range n {
			nodes[i+1] = node{name: "x", physical: doubles, converted: -1}
		}
		return nodes
	}
	most := column.Most()
	if leaves, _, err := leavesOf(wide(most)); err != nil || len(leaves) != most {
		t.Errorf("%d of %d columns, %v", len(leaves), most, err)
	}
	if _, _, err := leavesOf(wide(most + 1)); err == nil {
		t.Errorf("%d columns are read", most+1)
	}
}
