package analyzer

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"servescope/analyzer/load"
	"servescope/analyzer/stat"
)

// requestLines are token logs of n requests, some aborted before their first
// token, in two groups.
func requestLines(r *rand.Rand, n int) string {
	var b strings.Builder
	at := 1_764_428_000_000_000
	for i := range n {
		at += r.IntN(50_000)
		first := at + 20_000 + r.IntN(300_000)
		fmt.Fprintf(&b, `{"request_id":"%d-%d","tenant":"t%d","arrival":%d.%06d,"prompt_tokens":%d,`, i, n, i%2, at/1e6, at%1e6, r.IntN(5000))
		if i%50 == 7 {
			fmt.Fprintf(&b, "\"status\":\"aborted\",\"finished\":%d.%06d}\n", first/1e6, first%1e6)
			continue
		}
		tokens := 1 + r.IntN(6)
		fmt.Fprintf(&b, `"output_tokens":%d,"token_timestamps":[`, tokens)
		for k, t := 0, first; k < tokens; k++ {
			if k > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, "%d.%06d", t/1e6, t%1e6)
			t += 1 + r.IntN(40_000)
		}
		b.WriteString("]}\n")
	}
	return b.String()
}

// TestCountedValues holds reports whose latencies are counted, and fetched in a
// second pass, to those that keep every value, and to the same bytes whatever
// the workers, cuts and memory.
func TestCountedValues(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	list := []textFile{
		{"a.jsonl", "", requestLines(r, 400)},
		{"b.jsonl", "two", requestLines(r, 150)},
		{"c.jsonl", "two", requestLines(r, 60)},
	}
	for _, flags := range [][]string{nil, {"by=tenant", "window=5s"}, {"filter=prompt_tokens > 900", "from=+1s", "by=tenant"}, {"trim=warmup=5"}} {
		answer := func(opt load.Options, cut int64) string {
			s, err := openAll(t, opt, list...)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			s.in.RangeSize, s.in.BatchRows = cut, 1+int(cut%13)
			rep, err := s.Run(t.Context(), queryOf(t, flags...))
			if err != nil {
				t.Fatal(err)
			}
			return jsonOf(t, rep)
		}
		kept := answer(load.Options{}, 1<<20)
		first := ""
		for round := range 4 {
			limit := stat.SampleLimit
			stat.SampleLimit = 40
			got := answer(load.Options{Workers: 1 + round, Block: 100 + r.IntN(900), Memory: int64(1 + round%2<<20)}, int64(1+r.IntN(30_000)))
			if stat.SampleLimit = limit; round == 0 {
				first = got
				sameNumbers(t, got, kept)
			}
			if got != first {
				t.Fatalf("%v: round %d gives\n%s\nthe first\n%s", flags, round, got, first)
			}
		}
	}
}

// sameNumbers fails unless two reports are the same but for the last bits of
// their means and deviations, which are rounded once where values are counted.
func sameNumbers(t *testing.T, a, b string) {
	t.Helper()
	var x, y any
	if err := errors.Join(json.Unmarshal([]byte(a), &x), json.Unmarshal([]byte(b), &y)); err != nil {
		t.Fatal(err)
	}
	var walk func(path string, x, y any)
	walk = func(path string, x, y any) {
		switch x := x.(type) {
		case map[string]any:
			other, ok := y.(map[string]any)
			if !ok || len(other) != len(x) {
				t.Fatalf("%s: %v, want %v", path, x, y)
			}
			for k := range x {
				walk(path+"."+k, x[k], other[k])
			}
		case []any:
			other, ok := y.([]any)
			if !ok || len(other) != len(x) {
				t.Fatalf("%s: %v, want %v", path, x, y)
			}
			for i := range x {
				walk(path, x[i], other[i])
			}
		case float64:
			if f, ok := y.(float64); !ok || math.Abs(f-x) > 1e-12*math.Abs(f) {
				t.Fatalf("%s: %v, want %v", path, x, y)
			}
		default:
			if x != y {
				t.Fatalf("%s: %v, want %v", path, x, y)
			}
		}
	}
	walk("", x, y)
}
