//go:build unix

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"servescope/testdata/generate/shapes"
)

// shape is one shape of a log.
type shape struct {
	key   string // in file names
	name  string
	write func(io.Writer, shapes.Config) error
	open  int   // requests at a time
	bytes int64 // per request, where only a number of requests can be asked for

	tokens int64  // per request, 0: meanTokens
	seed   uint64 // added to that of all logs
}

// The shapes that peers read too, and as which of theirs.
var (
	records  = shape{key: "records", name: "a request per line", write: shapes.Records, open: 200}
	result   = shape{key: "bench", name: "benchmark result on one line", write: shapes.Bench, open: 200, bytes: 4770}
	events   = shape{key: "events", name: "an event per line, 200 open", write: shapes.Events, open: 200}
	manyOpen = shape{key: "events-open", name: "an event per line, 50 000 open", write: shapes.Events, open: 50_000, bytes: 13_600}
)

// logs are shapes of the text logs of servers.
var logs = []shape{
	{key: "vllmlog", name: "vLLM's log with prompts", write: shapes.VLLMLog, open: 200},
	{key: "vllmsteps", name: "vLLM's log, a line per step", write: shapes.VLLMSteps, open: 200},
	{key: "sglanglog", name: "SGLang's log", write: shapes.SGLangLog, open: 200},
}

// Objects on lines, and a profiler's trace of one rank.
var (
	lines = []shape{
		{key: "otlp", name: "spans of vLLM", write: shapes.OTLP, open: 200},
		{key: "otlptree", name: "spans of SGLang", write: shapes.OTLPTree, open: 200},
		{key: "sglangexport", name: "SGLang's request metrics", write: shapes.SGLangExport, open: 200},
		{key: "benchlines", name: "benchmark results, one per line", write: shapes.BenchLines, open: 200},
	}
	traces = shape{key: "torchtrace", name: "a profiler trace", write: shapes.TorchTrace}
)

// meanTokens is the mean number of output tokens of a generated request.
const meanTokens = 200

// amount is how much is written: bytes, or tokens.
type amount struct{ size, tokens int64 }

// part returns an nth of it.
func (a amount) part(n int64) amount { return amount{a.size / n, a.tokens / n} }

// atMost returns the amount, or so much of it as has the given size; how many
// bytes a token takes is known from a log that was written.
func (a amount) atMost(size, written int64) amount {
	if written <= size {
		return a
	}
	if a.tokens > 0 {
		return amount{tokens: int64(float64(a.tokens) * float64(size) / float64(written))}
	}
	return amount{size: size}
}

// file returns a log of the given amount, written once into the cache.
func (s shape) file(cache string, a amount) (path string, n int64, err error) {
	if s.tokens == 0 {
		s.tokens = meanTokens
	}
	c := shapes.Config{Size: a.size, Tokens: float64(s.tokens), Open: s.open, Seed: 1 + s.seed}
	path = filepath.Join(cache, fmt.Sprintf("%s-%d.log", s.key, a.size))
	if a.tokens > 0 {
		c.Size, c.Count = 0, int(max(1, a.tokens/s.tokens))
		path = filepath.Join(cache, fmt.Sprintf("%s-%d-tokens.log", s.key, a.tokens))
	} else if s.bytes > 0 {
		c.Size, c.Count = 0, max(s.open, int(a.size/s.bytes)) // as many as are open
	}
	return cached(path, func(w io.Writer) error { return s.write(w, c) })
}

// small returns a benchmark result of the usual size: 100 requests of 170 tokens.
func small(cache string) (path string, n int64, err error) {
	return cached(filepath.Join(cache, "bench.json"), func(w io.Writer) error {
		return shapes.Bench(w, shapes.Config{Count: 100, Tokens: 170, Open: 128, Seed: 1})
	})
}

// cached returns the file at path and its size, after writing it if need be.
func cached(path string, write func(io.Writer) error) (string, int64, error) {
	if info, err := os.Stat(path); err == nil {
		return path, info.Size(), nil
	}
	f, err := os.Create(path + ".tmp")
	if err != nil {
		return "", 0, err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	if err := errors.Join(write(w), w.Flush(), f.Close(), os.Rename(f.Name(), path)); err != nil {
		return "", 0, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", 0, err
	}
	return path, info.Size(), nil
}
