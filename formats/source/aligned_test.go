package source

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// TestReadAligned compares with a plain read, wherever the slice lies and the
// source ends.
func TestReadAligned(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	text := make([]byte, 20_000)
	for i := range text {
		text[i] = byte(r.Uint32())
	}
	src := bytes.NewReader(text)
	for range 20_000 {
		n, off := r.IntN(3*worthAligning), r.IntN(len(text)+10)
		at := r.IntN(2 * line)
		got, want := make([]byte, at+n+line)[at:][:n], make([]byte, n)
		m, err := readAligned(src, got, int64(off))
		k, wantErr := src.ReadAt(want, int64(off))
		if m != k || !errors.Is(err, wantErr) || !bytes.Equal(got[:m], want[:k]) {
			t.Fatalf("%d bytes at %d: %d, %v, want %d, %v", n, off, m, err, k, wantErr)
		}
	}
}

// failsLater fails behind its first read.
type failsLater struct {
	io.ReaderAt
	calls int
}

func (f *failsLater) ReadAt(p []byte, off int64) (int, error) {
	if f.calls++; f.calls > 1 {
		return 0, os.ErrClosed
	}
	return f.ReaderAt.ReadAt(p, off)
}

// TestReadAlignedFails: what was read before an error counts.
func TestReadAlignedFails(t *testing.T) {
	text := bytes.Repeat([]byte("0123456789"), 1000)
	whole := make([]byte, 2*worthAligning)
	for at := range 3 {
		p := whole[at : at+worthAligning]
		n, err := readAligned(&failsLater{ReaderAt: bytes.NewReader(text)}, p, 7)
		if n != len(p) && (err != os.ErrClosed || n <= len(p)-line) || !bytes.Equal(p[:n], text[7:7+n]) {
			t.Errorf("%d bytes, %v", n, err)
		}
	}
}

// BenchmarkReadAt reads from a file in the system's cache, to memory that is
// aligned as the source and to memory that is not.
func BenchmarkReadAt(b *testing.B) {
	name := filepath.Join(b.TempDir(), "file")
	if err := os.WriteFile(name, make([]byte, 32<<20), 0o600); err != nil {
		b.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	buf := make([]byte, 256<<10+line)
	for way, read := range map[string]func([]byte, int64) (int, error){
		"plain":   f.ReadAt,
		"aligned": func(p []byte, off int64) (int, error) { return readAligned(f, p, off) },
	} {
		for _, at := range []int{0, 1} {
			b.Run(fmt.Sprintf("%s/%d", way, at), func(b *testing.B) {
				b.SetBytes(32 << 20)
				for b.Loop() {
					for off := int64(0); off < 32<<20; off += 256 << 10 {
						if n, err := read(buf[at:at+256<<10], off); n != 256<<10 {
							b.Fatal(n, err)
						}
					}
				}
			})
		}
	}
}
