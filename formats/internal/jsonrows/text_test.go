package jsonrows

import (
	"encoding/json"
	"math/rand/v2"
	"testing"
)

// TestText compares decoded strings with those of encoding/json.
func TestText(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	pieces := []string{"a", "é", `\n`, `\"`, `\\`, `\/`, `\b`, `\f`, `\r`, `\t`, `\u0041`, `\u00e9`, `\uD834`, `\uDD1E`, `\ud834\udd1e`, `\u12`, `\u+123`, `\x`, `\`, "\"", "\n", "\xff", "\xc3", "0", `\u0000`}
	decoded := 0
	for range 100_000 {
		var raw string
		for range r.IntN(6) {
			raw += pieces[r.IntN(len(pieces))]
		}
		want := raw
		var out string
		if json.Unmarshal([]byte(`"`+raw+`"`), &out) == nil && len(raw) > 0 {
			for i := range raw {
				if raw[i] == '\\' {
					want = out
					decoded++
					break
				}
			}
		}
		if got := string(Text([]byte(raw))); got != want {
			t.Fatalf("%q: %q, want %q", raw, got, want)
		}
	}
	if decoded < 1000 {
		t.Errorf("only %d strings were decoded", decoded)
	}
}
