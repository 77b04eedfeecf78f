//go:build unix

// Command bench measures the whole program from file to report, and what a user
// might take instead: it writes logs of a given size into a cache, builds
// servescope, runs it and its peers in turn, and prints Markdown.
//
//	go run ./cli/internal/bench                    logs of 700 MB
//	go run ./cli/internal/bench -tokens 100000000  logs of 10⁸ tokens
//	go run ./cli/internal/bench -model             how cost grows
//
// The peers are DuckDB and Polars with a thread per core, and a script that
// computes with json and numpy as vLLM's own benchmark does; tools/bench holds
// what they run. On the same file all must give the answers that servescope
// gives: mean, standard deviation, p50, p90, p99 and p99.9 of TTFT, TPOT and the
// gaps between tokens, and tokens per second. The limit of a tool that streams a
// file, reading it and counting its newlines, is measured in the same turns.
//
// It fails when answers differ, or when a goal is missed: the table's bounds; 500
// MB per core-second and 256 MiB at the peak for both shapes of a token log, and for
// reading a benchmark result; of all three, that analysis adds less than twice what
// reading alone takes; 300 MB per core-second
// for reading other logs of servers and clients; 200 MB per core-second and 256
// MiB for a profiler trace; 50 ms for a benchmark result of the usual size.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"servescope/analyzer/unit"
)

// options are the flags.
type options struct {
	amount amount
	runs   int
	cache  string
	script int64 // bytes of the log that a slow script is given
	peers  bool
	goals  bool
}

func main() {
	if len(os.Args) == 3 && selves[os.Args[1]] != nil {
		exit(selves[os.Args[1]](os.Args[2]))
		return
	}
	var o options
	size := flag.String("size", "700MB", "`bytes` of each token log")
	flag.Int64Var(&o.amount.tokens, "tokens", 0, "`number` of tokens of each token log, instead of bytes")
	flag.IntVar(&o.runs, "runs", 5, "`number` of turns")
	flag.StringVar(&o.cache, "cache", filepath.Join(os.TempDir(), "servescope-bench"), "`folder` for the logs")
	script := flag.String("script", "200MB", "`bytes` of the log that the script is given; its time is scaled")
	flag.BoolVar(&o.peers, "peers", true, "compare with peers")
	flag.BoolVar(&o.goals, "goals", true, "measure what the goals are stated for")
	model := flag.Bool("model", false, "measure how time and memory grow, instead")
	flag.Parse()
	var err error
	if o.amount.size, err = unit.ParseSize(*size); err == nil {
		o.script, err = unit.ParseSize(*script)
	}
	if err == nil && *model {
		err = costs(o)
	} else if err == nil {
		err = bench(o)
	}
	exit(err)
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// build builds servescope into the cache.
func build(cache string) (binary string, err error) {
	if err := os.MkdirAll(cache, 0o777); err != nil {
		return "", err
	}
	binary = filepath.Join(cache, "servescope")
	if out, err := exec.Command("go", "build", "-o", binary, "./cli/servescope").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return binary, nil
}

func bench(o options) error {
	binary, err := build(o.cache)
	if err != nil {
		return err
	}
	var missed []string
	if o.peers {
		list := races()
		tools := tools(o.cache)
		for _, r := range list {
			if err := r.prepare(binary, tools, o.amount, o.script, o.cache); err != nil {
				return err
			}
			if err := turns(r.contenders(), o.runs); err != nil {
				return err
			}
			if err := r.check(); err != nil {
				return err
			}
		}
		missed = printRaces(list, o.runs)
		fmt.Println()
	}
	if o.goals {
		list, err := goals(binary, o.amount, o.cache)
		if err != nil {
			return err
		}
		var contenders []*contender
		for _, g := range list {
			contenders = append(contenders, &g.contender)
		}
		if err := turns(contenders, o.runs); err != nil {
			return err
		}
		missed = append(missed, printGoals(list)...)
	}
	if len(missed) > 0 {
		return fmt.Errorf("missed: %s", strings.Join(missed, "; "))
	}
	return nil
}
