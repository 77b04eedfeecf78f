package analyzer

import (
	"bytes"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"servescope/analyzer/load"
	"servescope/testdata/generate/shapes"
)

// TestSpilledRequests holds the reports of event logs to the same bytes whether
// all open requests fit the memory or go to temporary files, for any number of
// workers and any cut: of a log as it is written, and of one whose lines are out
// of order, some there twice and some missing.
func TestSpilledRequests(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 80))
	var text bytes.Buffer
	if err := shapes.Events(&text, shapes.Config{Seed: 3, Count: 1500, Tokens: 8, Open: 1000}); err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(text.String(), "\n")
	var torn []string
	for i, line := range lines {
		if k := i + r.IntN(40); k < len(lines) {
			lines[i], lines[k] = lines[k], lines[i]
		}
		for range []int{0, 1, 1, 1, 1, 1, 1, 1, 1, 2}[r.IntN(10)] {
			torn = append(torn, line)
		}
	}
	for _, log := range []string{text.String(), strings.Join(torn, "")} {
		for _, flags := range [][]string{nil, {"window=1s", "filter=prompt_tokens > 300"}, {"by=status", "trim=warmup=100"}} {
			var want string
			rounds := 5
			if testing.Short() {
				rounds = 3
			}
			for round := range rounds {
				opt := load.Options{Workers: 1 + round%3, Block: 1 << (10 + r.IntN(8))}
				if round > 0 {
					opt.Memory, opt.Scratch = 1<<(14+r.IntN(6)), t.TempDir()
				}
				s, err := openAll(t, opt, textFile{name: "events.jsonl", text: log})
				if err != nil {
					t.Fatal(err)
				}
				report, err := s.Run(t.Context(), queryOf(t, flags...))
				if err != nil {
					t.Fatal(err)
				}
				got := jsonOf(t, report)
				if round == 0 {
					want = got
				}
				if got != want {
					t.Fatalf("%v, %+v:\n%s\nwant\n%s", flags, opt, got, want)
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
				if round > 0 {
					if left, err := os.ReadDir(opt.Scratch); err != nil || len(left) > 0 {
						t.Errorf("%d temporary files are left, %v", len(left), err)
					}
				}
			}
		}
	}
	if slices.Equal(torn, lines) {
		t.Error("nothing is out of order")
	}
}
