package delta

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// noise returns bytes that do not compress.
func noise(seed uint64, n int) []byte {
	out := make([]byte, n)
	rand.NewChaCha8([32]byte{byte(seed)}).Read(out)
	return out
}

// TestDelta: what a file shares with its base costs hardly anything, and comes back.
func TestDelta(t *testing.T) {
	base, own := noise(1, 3<<20), noise(2, 20000)
	file := append(append(bytes.Clone(base[1<<20:]), own...), base[:1<<20]...)
	packed, err := Pack(base, file)
	if err != nil {
		t.Fatal(err)
	}
	if len(packed) < len(own) || len(packed) > len(own)+len(file)/100 {
		t.Errorf("%d bytes of which %d are new take %d", len(file), len(own), len(packed))
	}
	var out bytes.Buffer
	if err := Unpack(&out, base, packed); err != nil || !bytes.Equal(out.Bytes(), file) {
		t.Errorf("%d bytes of %d come back: %v", out.Len(), len(file), err)
	}
	base[2<<20] ^= 1
	if err := Unpack(new(bytes.Buffer), base, packed); err == nil {
		t.Error("another base goes unnoticed")
	}
	if err := Unpack(new(bytes.Buffer), base, packed[:len(packed)/2]); err == nil {
		t.Error("half a file goes unnoticed")
	}
	if _, err := Pack(make([]byte, window), own); err == nil {
		t.Error("more than the window is packed")
	}
}
