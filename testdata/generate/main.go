// Command generate writes a log for benchmarks, the same bytes for the
// same flags. Defaults give the sizes that the speed goals are stated for:
//
//	go run ./testdata/generate -shape records > records.jsonl   (180 000 requests, 0.7 GB)
//	go run ./testdata/generate -shape events > events.jsonl     (50 000 requests, 0.65 GB)
//	go run ./testdata/generate -shape events -open 50000 > many-open.jsonl
//	go run ./testdata/generate -shape bench > bench.json        (145 000 requests, 0.7 GB, one line)
//	go run ./testdata/generate -shape vllmlog > server.log     (180 000 requests, 0.6 GB)
//	go run ./testdata/generate -shape vllmsteps > steps.log    (a line per engine step)
//	go run ./testdata/generate -shape sglanglog > sglang.log   (180 000 requests, 0.1 GB)
//	go run ./testdata/generate -shape sglangexport > export.log (180 000 requests, 0.5 GB)
//	go run ./testdata/generate -shape benchlines > runs.jsonl   (1 800 results of 100 requests, 0.9 GB)
//	go run ./testdata/generate -shape otlp > spans.jsonl       (180 000 requests, 0.25 GB)
//	go run ./testdata/generate -shape otlptree > tree.jsonl    (5 000 requests, 0.6 GB)
//	go run ./testdata/generate -shape torchtrace > trace.json   (5 GB, 5 million kernels)
package main

import (
	"flag"
	"fmt"
	"os"

	"servescope/testdata/generate/shapes"
)

func main() {
	var c shapes.Config
	shape := flag.String("shape", "records", "records (a request per line), events (an event per line), bench (a benchmark's result), benchlines (results, one per line), sglangexport (SGLang's request metrics), torchtrace (a profiler's trace), vllmlog, vllmsteps, sglanglog (servers' logs), otlp (spans of vLLM) or otlptree (spans of SGLang)")
	flag.Int64Var(&c.Size, "size", 0, "stop at this many `bytes`; 0: at -requests")
	flag.IntVar(&c.Count, "requests", 0, "stop after this `number` of requests, or steps of a trace; 0: 180000 records, the events of 50000 or a result of 145000, unless -size is given")
	flag.Float64Var(&c.Tokens, "tokens", 200, "mean output `tokens` per request")
	flag.IntVar(&c.Open, "open", 200, "mean `number` of requests at a time")
	flag.Uint64Var(&c.Seed, "seed", 1, "seed of the random numbers")
	flag.Parse()
	write, count := shapes.Records, 180_000
	switch *shape {
	case "records":
	case "events":
		write, count = shapes.Events, 50_000
	case "bench":
		write, count = shapes.Bench, 145_000
		if c.Size > 0 {
			fmt.Fprintln(os.Stderr, "generate: the size of -shape bench is set by -requests")
			os.Exit(2)
		}
	case "vllmlog":
		write = shapes.VLLMLog
	case "vllmsteps":
		write, count = shapes.VLLMSteps, 3_000_000
	case "sglanglog":
		write = shapes.SGLangLog
	case "sglangexport":
		write = shapes.SGLangExport
	case "benchlines":
		write = shapes.BenchLines
	case "otlp":
		write = shapes.OTLP
	case "otlptree":
		write, count = shapes.OTLPTree, 5_000
	case "torchtrace":
		write = shapes.TorchTrace
		if count = 0; c.Count == 0 && c.Size == 0 {
			c.Size = 5e9
		}
	default:
		fmt.Fprintf(os.Stderr, "generate: unknown -shape %q, want records, events, bench, benchlines, sglangexport, torchtrace, vllmlog, vllmsteps, sglanglog, otlp or otlptree\n", *shape)
		os.Exit(2)
	}
	if c.Count == 0 && c.Size == 0 {
		c.Count = count
	}
	if err := write(os.Stdout, c); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}
