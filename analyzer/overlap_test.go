package analyzer

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"servescope/analyzer/query"
	"servescope/formats"
)

// TestP52RotatedCopies: two inputs that hold the same lines are noted, and
// nothing is left out.
func TestP52RotatedCopies(t *testing.T) {
	line := func(n int) string {
		return fmt.Sprintf("INFO 03-01 09:00:0%d [logger.py:1] Received request r%d: params: SamplingParams(n=1), lora_request: None.\n", n, n)
	}
	all := line(1) + line(2) + line(3) + line(4)
	f := func(second, want string, total int64) {
		t.Helper()
		r := analyze(t, new(query.Query), textFile{name: "a.log", text: all}, textFile{name: "a.log.1", text: second})
		got := ""
		for _, d := range r.Diags {
			if d.Code == "repeated_lines" {
				got = d.Msg
			}
		}
		if !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%q: %q, want %q", second, got, want)
		}
		var n int64
		for _, run := range r.Runs {
			n += run.Requests.Total
		}
		if n != total {
			t.Errorf("%q: %d requests, want %d", second, n, total)
		}
	}
	f(line(1)+line(2), "2 of 6 lines occur in two inputs, here and in a.log: ", 6)
	f(line(5), "", 5)
	f(line(1)+line(1)+"banner\n\n", "1 of 6 lines occur in two inputs", 5) // the second line is an arrival of the same request
}

// TestCommon compares the estimate from few hashes with a count.
func TestCommon(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, size := range []int{0, 1, 100, 3000, 20_000, 100_000} {
		share := r.IntN(size + 1)
		sides := [2]map[uint64]bool{{}, {}}
		for i := range size {
			h := r.Uint64()
			if i < share {
				sides[0][h], sides[1][h] = true, true
			} else {
				sides[i%2][h] = true
			}
		}
		got, exact := common(printsOf(sides[0]), printsOf(sides[1]))
		tolerance := 0.0
		if !exact {
			tolerance = 0.1 * float64(size)
		}
		if d := float64(got) - float64(share); d < -tolerance || d > tolerance || exact && got != int64(share) {
			t.Errorf("%d lines: %d in common (exact: %v), want %d", size, got, exact, share)
		}
		if size > 10_000 && exact {
			t.Errorf("%d lines: exact", size)
		}
	}
}

// printsOf keeps the 4096 smallest of a set of hashes.
func printsOf(set map[uint64]bool) formats.Prints {
	p := formats.Prints{Lines: int64(len(set))}
	for h := range set {
		p.Hashes = append(p.Hashes, h)
	}
	slices.Sort(p.Hashes)
	if len(p.Hashes) > 4096 {
		p.Below, p.Hashes = p.Hashes[4096], p.Hashes[:4096]
	}
	return p
}
