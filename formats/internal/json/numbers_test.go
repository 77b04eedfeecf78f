package json

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestNumbers compares arrays with what encoding/json reads in them, for random
// layouts, buffers and portions; what follows the array must still be there.
func TestNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 8))
	for range 300 {
		var want []int64
		for range r.IntN(60) {
			want = append(want, r.Int64N(1<<uint(1+r.IntN(40))))
		}
		b, err := json.Marshal(append([]int64{}, want...))
		if err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(string(b), ",", []string{",", ", ", ",\n  "}[r.IntN(3)])
		for name, in := range readers(`{"a":` + text + `,"b":7}`) {
			c := New(in, 0, r.IntN(200)+1)
			c.Open()
			c.More()
			c.Key(9)
			got, ok := c.Numbers(nil, 0)
			if !ok || !slices.Equal(got, want) || !c.More() || string(c.Key(9)) != "b" || string(c.Literal()) != "7" || c.More() || c.Kind() != EOF {
				t.Fatalf("%s: %s: %v %v, %v", name, text, got, ok, c.problem)
			}
		}
	}
}

func TestNumbersOdd(t *testing.T) {
	for _, tc := range []struct {
		in string
		ok bool
		n  int
	}{
		{"[]", true, 0}, {"[ ]", true, 0}, {"[1.5, 2.25,]", true, 2}, {"[1, null]", false, 1}, {"[1, NaN, 2]", false, 1}, {"[[1]]", false, 0},
		{`[1, "]"]`, false, 1}, {"[1e30]", false, 0}, {"7", false, 0}, {"[1, 2", false, 1}, {"[1", false, 0}, {"[", false, 0}, {"[1}", false, 1},
	} {
		for name, in := range readers(tc.in) {
			c := New(in, 0, 1)
			got, ok := c.Numbers(nil, 9)
			if ok != tc.ok || len(got) != tc.n || c.depth != 0 && !c.broken {
				t.Errorf("%s: %s: %v %v, %v", name, tc.in, got, ok, c.problem)
			}
		}
	}
}
