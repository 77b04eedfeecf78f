package tokenlog

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestStencils changes single bytes of lines that a stencil fits: what is read
// must be what the slow path reads.
func TestStencils(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	for _, format := range []string{
		`{"ts":%d.%06d,"request_id":"r-%05d","event":"token"}`,
		`{"ts": %d.%09d, "request_id": "0123456789abcdef-%08d", "event": "token"}`,
		`{"request_id":"%[3]d","event":"token","ts":%[1]d.%[2]d}`,
		`{"app":"x","event":"token","ts":%d.%08d,"request_id":"chatcmpl-%06d"}`,
	} {
		var plain bytes.Buffer
		for i := range 40 {
			fmt.Fprintf(&plain, format+"\n", 1764428000+i, 100_000+i*7, i%10)
		}
		all, s := scanText(plain.Bytes(), true)
		if len(all) != 40 || len(s.stencils) != 1 {
			t.Fatalf("%s: %d events, %d stencils", format, len(all), len(s.stencils))
		}
		for range 3000 {
			text := slices.Clone(plain.Bytes())
			for range 1 + r.IntN(3) {
				k := r.IntN(len(text))
				text[k] = []byte{'"', '\\', '\n', ' ', ',', ':', '}', '.', '0', '9', '-', 'e', 'x', 0, 0xc3, byte(r.IntN(256))}[r.IntN(16)]
			}
			readBoth(t, text)
		}
	}
}

// readBoth reads text with layouts that are learned and without: both must say the
// same.
func readBoth(t *testing.T, text []byte) {
	fast, a := scanText(text, true)
	slow, b := scanText(text, false)
	if !slices.Equal(fast, slow) || a.diagnosed != b.diagnosed || a.noise != b.noise || a.kinds != b.kinds {
		t.Fatalf("%q\nfast %+v\nslow %+v", text, fast, slow)
	}
}

func FuzzStencils(f *testing.F) {
	line := `{"ts":1764428000.431902,"request_id":"r-00001","event":"token"}` + "\n"
	f.Add([]byte(strings.Repeat(line, 9)))
	f.Add([]byte(strings.Repeat(strings.Replace(line, "0.431902", "0.431902123", 1), 6) + line))
	f.Add([]byte(strings.Repeat(strings.Replace(line, "r-00001", "0123456789abcdef-\xc3\xa4", 1), 5)))
	f.Fuzz(func(t *testing.T, text []byte) { readBoth(t, text) })
}

// TestStencilLayouts: lines whose values change their lengths, so that one
// stencil after the other fits, or none any more.
func TestStencilLayouts(t *testing.T) {
	var text bytes.Buffer
	n := 0
	for decimals := range 10 {
		for size := 1; size < 40; size += 3 {
			for range 3 {
				fmt.Fprintf(&text, `{"ts":%.*f,"request_id":"%0*d","event":"token"}`+"\n", decimals, 1764428000+float64(n)/8, size, n%10)
				n++
			}
		}
	}
	fast, s := scanText(text.Bytes(), true)
	slow, _ := scanText(text.Bytes(), false)
	if len(fast) != n || !slices.Equal(fast, slow) {
		t.Errorf("%d events, %d without templates, want %d", len(fast), len(slow), n)
	}
	if len(s.stencils) != maxStencils {
		t.Errorf("%d stencils", len(s.stencils))
	}
}
