package report

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"
)

// TestJSONTokens compares texts and numbers with those of encoding/json.
func TestJSONTokens(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	alphabet := []string{"a", "é", "\u2028", "\u2029", "\x00", "\x1f", "\x7f", "\"", "\\", "\n", "\r", "\t", "\b", "\f", "<", ">", "&", "\xff", "\xc3", "\ufffd", "𝄞", "/"}
	for range 5000 {
		var s string
		for range r.IntN(8) {
			s += alphabet[r.IntN(len(alphabet))]
		}
		want, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if got := appendText(nil, s); string(got) != string(want) {
			t.Fatalf("%q: %s, want %s", s, got, want)
		}
	}
	numbers := []float64{0, math.Copysign(0, -1), 1e-6, 9.99e-7, 1e21, 9.99e20, 1e-9, 1e-10, 1e100, math.MaxFloat64, math.SmallestNonzeroFloat64, 0.1, 123456789}
	for range 20_000 {
		if f := math.Float64frombits(r.Uint64()); finite(f) {
			numbers = append(numbers, f, -f, f-f+float64(r.IntN(1000))/8)
		}
	}
	for _, f := range numbers {
		want, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		if got := AppendFloat(nil, f); string(got) != string(want) {
			t.Fatalf("%v: %s, want %s", f, got, want)
		}
	}
}
