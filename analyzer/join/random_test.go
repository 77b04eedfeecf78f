package join

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"servescope/analyzer/trace"
)

// decorate makes the name that a server gives to id.
func decorate(r *rand.Rand, id string, style int) string {
	switch style {
	case 1:
		return "chatcmpl-" + id
	case 2:
		return "cmpl-" + id + "-0"
	case 3:
		return fmt.Sprintf("chatcmpl-%s-%08x", id, r.Uint32())
	case 4:
		return fmt.Sprintf("cmpl-%s-0-%08x", id, r.Uint32())
	}
	return id
}

// TestTruthIsFound: sources that decorate the ids of the same requests, each in
// its own way, and miss some of them. Every two rows of a request are linked, if
// the name without decorations is seen somewhere, and no others are.
func TestTruthIsFound(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 54))
		sides := []trace.Side{trace.Client, trace.Proxy, trace.Server, trace.Engine}
		var inputs []input
		truth := make(map[string][]int32) // rows of each request
		styled := make(map[string]int)    // rows of it whose name has lost nothing that tells it from others
		row := int32(0)
		for k, side := range sides {
			style := 0
			if k > 0 {
				style = r.IntN(5)
			}
			in := on(side, trace.Clock{})
			for _, n := range r.Perm(40) {
				if k > 0 && r.IntN(8) == 0 {
					continue
				}
				id := fmt.Sprintf("%04x-%d", n*n, n)
				in.rows = append(in.rows, cells{"request_id": decorate(r, id, style)})
				truth[id] = append(truth[id], row)
				if style <= 1 {
					styled[id]++
				}
				row++
			}
			inputs = append(inputs, in)
		}
		l := Link(parts(t, 16, inputs...), Options{IDs: true})
		for id, rows := range truth {
			want := slices.Clone(rows)
			if len(want) == 1 {
				want = nil
			}
			got := slices.Clone(l.Rows(rows[0]))
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("seed %d, %s: rows %d, want %d", seed, id, got, want)
			}
		}
		if s := l.Summarize(0); s.Ambiguous.N+s.Duplicates.N > 0 || s.Requests != 40 {
			t.Errorf("seed %d: %+v", seed, s)
		}
	}
}

// TestHostileNames: names made of pieces of decorations never link two requests of
// one source, and every row keeps a role.
func TestHostileNames(t *testing.T) {
	pieces := []string{"a", "-0", "-1", "cmpl-", "chatcmpl-", "-9f31c2d4", "-00000000", "0_", "17_", "___prefill_addr_", "___decode_addr_", "_", "-", "bench-1a2b3c4d-", "3"}
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 55))
		var inputs []input
		for _, side := range []trace.Side{trace.Client, trace.Server, trace.Server, trace.Decode} {
			in := on(side, trace.Clock{})
			in.run.Positions = r.IntN(4) == 0
			for range 25 {
				id := ""
				for range 1 + r.IntN(4) {
					id += pieces[r.IntN(len(pieces))]
				}
				in.rows = append(in.rows, cells{"request_id": id, "max_tokens": 1 + r.IntN(2)})
			}
			inputs = append(inputs, in)
		}
		l := Link(parts(t, 7, inputs...), Options{IDs: true})
		counted := make(map[int32]int)
		for row := range l.n {
			list := l.Rows(row)
			if list != nil && !slices.Contains(list, row) {
				t.Fatalf("seed %d: row %d is not of its own request", seed, row)
			}
			first, _, several := l.Sequence(row)
			if l.Role(row) == Counts && l.Side(row) == trace.Client && (!several || first == row) {
				counted[l.Lead(row)]++
			}
			for _, o := range list {
				if o < row && l.source(o) == l.source(row) && l.Side(o) == l.Side(row) && !l.differ(o, row) {
					t.Errorf("seed %d: %d and %d of one source are one request", seed, o, row)
				}
			}
		}
		for row, n := range counted {
			if n > 1 {
				t.Errorf("seed %d: the request of row %d is counted %d times", seed, row, n)
			}
		}
		l.Summarize(0)
	}
}

// differ reports whether two rows bear the numbers of two choices.
func (l *Links) differ(a, b int32) bool {
	x, _ := l.id(a)
	y, _ := l.id(b)
	for _, rules := range levels {
		f, g := strip(x, rules), strip(y, rules)
		if string(f.text) == string(g.text) && f.number != g.number {
			return true
		}
	}
	return false
}
