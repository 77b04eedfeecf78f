// Command simulate writes the log of a random simulated deployment in
// servescope's own format to standard output, and the truth about it to standard
// error; the same for the same seed:
//
//	go run ./testdata/generate/simulatelog -seed 7 >log.jsonl
//	go run ./cli/servescope analyze log.jsonl
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"

	"servescope/testdata/generate/simulate"
)

func main() {
	seed := flag.Uint64("seed", 1, "`number` that decides everything")
	flag.Parse()
	if err := write(os.Stdout, os.Stderr, *seed); err != nil {
		fmt.Fprintln(os.Stderr, "simulate:", err)
		os.Exit(1)
	}
}

// write writes the log of a seed and, as JSON, its scenario and truth; the truth
// of single requests is left out.
func write(log, truth io.Writer, seed uint64) error {
	l := simulate.Run(simulate.Random(seed))
	if err := l.WriteTokenlog(log); err != nil {
		return err
	}
	l.Truth.Spans = nil
	out := json.NewEncoder(truth)
	out.SetIndent("", "  ")
	return out.Encode(struct {
		Scenario simulate.Scenario
		Truth    simulate.Truth
	}{l.Scenario, l.Truth})
}
