//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"servescope/analyzer"
	"servescope/formats"
	"servescope/formats/all"
	generate "servescope/formats/formatstest/generate/shapes"
)

// maxrssUnit is the unit of rusage's Maxrss in bytes.
var maxrssUnit = map[bool]int64{true: 1, false: 1024}[runtime.GOOS == "darwin" || runtime.GOOS == "ios"]

// shape is one shape of a log.
type shape struct {
	key   string // in file names
	name  string
	write func(io.Writer, generate.Config) error
}

var shapes = []shape{
	{"records", "a request per line", generate.Records},
	{"events", "an event per line", generate.Events},
}

// logs are shapes of the text logs of servers.
var logs = []shape{
	{"vllmlog", "vLLM's log with prompts", generate.VLLMLog},
	{"vllmsteps", "vLLM's log, a line per step", generate.VLLMSteps},
	{"sglanglog", "SGLang's log", generate.SGLangLog},
}

// traces are profiler traces of one rank.
var traces = shape{"torchtrace", "a profiler trace", generate.TorchTrace}

// file returns a log of about size bytes, written once into the cache.
func (s shape) file(cache string, size int64) (path string, n int64, err error) {
	path = filepath.Join(cache, fmt.Sprintf("%s-%d.log", s.key, size))
	return cached(path, func(w io.Writer) error {
		return s.write(w, generate.Config{Size: size, Tokens: 200, Open: 200, Seed: 1})
	})
}

// small returns a benchmark result of the usual size: 100 requests of 170 tokens.
func small(cache string) (path string, n int64, err error) {
	return cached(filepath.Join(cache, "bench.json"), func(w io.Writer) error {
		return generate.Bench(w, generate.Config{Count: 100, Tokens: 170, Open: 128, Seed: 1})
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

// peers are the things to compare with, run in a process of their own.
var peers = map[string]func(path string) error{"newlines": countNewlines, "json": decodeLines, "scan": scan}

// scan reads a file as the program does, on one goroutine, up to the batches of
// rows, without any analysis.
func scan(path string) error {
	inputs, err := formats.Expand([]string{path}, os.Stdin, formats.Options{Workers: 1})
	if err != nil {
		return err
	}
	defer inputs.Close()
	src := inputs.List[0].Source
	head, err := formats.ReadHead(src)
	if err != nil {
		return err
	}
	found, err := all.Set().Detect(head)
	if err != nil {
		return err
	}
	r, err := found.Format.Open(context.Background(), src, formats.Whole, formats.Options{Workers: 1, Memory: analyzer.DefaultMemory / 2, Lists: true})
	if err != nil {
		return err
	}
	defer r.Close()
	rows := 0
	for r.Next() {
		rows += r.Batch().Rows
	}
	fmt.Println(rows)
	return r.Err()
}

// countNewlines reads a file and counts its lines, on one goroutine.
func countNewlines(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	buf, lines := make([]byte, 256<<10), 0
	for off := int64(0); ; {
		n, err := f.ReadAt(buf, off)
		lines += bytes.Count(buf[:n], []byte("\n"))
		off += int64(n)
		if err == io.EOF {
			fmt.Println(lines)
			return nil
		} else if err != nil {
			return err
		}
	}
}

// decodeLines decodes each line into a struct with encoding/json.
func decodeLines(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	tokens := 0
	for d := json.NewDecoder(bufio.NewReaderSize(f, 1<<20)); ; {
		var line struct {
			RequestID       string    `json:"request_id"`
			Event           string    `json:"event"`
			TS              float64   `json:"ts"`
			Arrival         float64   `json:"arrival"`
			TokenTimestamps []float64 `json:"token_timestamps"`
		}
		if err := d.Decode(&line); err == io.EOF {
			fmt.Println(tokens)
			return nil
		} else if err != nil {
			return err
		}
		tokens += len(line.TokenTimestamps)
	}
}
