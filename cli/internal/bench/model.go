//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"servescope/analyzer/unit"
)

// point is a log of which the cost is measured.
type point struct {
	contender
	of       string // what grows, and to which value
	tokens   int64
	requests int64
}

// costs measures how time and memory grow with each of tokens, requests, open
// requests and files, the others being equal, and prints tables.
func costs(o options) error {
	binary, err := build(o.cache)
	if err != nil {
		return err
	}
	if o.amount.tokens == 0 {
		o.amount.tokens = 100_000_000
	}
	fmt.Printf("%s, %s. Medians of %d interleaved runs, %d workers, page cache warm.\n", time.Now().Format("2006-01-02"), machine(), o.runs, runtime.NumCPU())
	for _, series := range []func(options, *[]*point) error{growTokens, growRequests, growOpen, growFiles} {
		var list []*point
		if err := series(o, &list); err != nil {
			return err
		}
		var contenders []*contender
		for _, p := range list {
			p.args = append([]string{binary, "analyze"}, p.args...)
			contenders = append(contenders, &p.contender)
		}
		if err := turns(contenders, o.runs); err != nil {
			return err
		}
		printCosts(list)
	}
	return nil
}

// point adds a log of the shape.
func (s shape) point(o options, of string, tokens int64, list *[]*point) error {
	path, n, err := s.file(o.cache, amount{tokens: tokens})
	per := s.tokens
	if per == 0 {
		per = meanTokens
	}
	*list = append(*list, &point{contender{args: []string{path}, size: n}, of, tokens, tokens / per})
	return err
}

// growTokens goes to the largest log with a request per line only: others have up
// to four times as many bytes.
func growTokens(o options, list *[]*point) error {
	for _, s := range []shape{records, result, events} {
		most := o.amount.tokens
		if s.key != records.key {
			most /= 10
		}
		for n := int64(100_000); n <= most; n *= 10 {
			if err := s.point(o, s.name, n, list); err != nil {
				return err
			}
		}
	}
	return nil
}

// fixed is the number of tokens of logs in which something else grows.
const fixed = 10_000_000

func growRequests(o options, list *[]*point) error {
	for _, per := range []int64{2000, 200, 20, 2} {
		s := records
		s.key, s.tokens = fmt.Sprintf("records-of-%d", per), per
		if err := s.point(o, fmt.Sprintf("%d tokens a request", per), fixed, list); err != nil {
			return err
		}
	}
	return nil
}

func growOpen(o options, list *[]*point) error {
	for _, open := range []int{5, 50, 500, 5000, 50_000} {
		s := events
		s.key, s.open, s.tokens = fmt.Sprintf("events-open-%d", open), open, meanTokens/4
		if err := s.point(o, fmt.Sprintf("%d open", open), fixed/4, list); err != nil {
			return err
		}
	}
	return nil
}

func growFiles(o options, list *[]*point) error {
	for _, files := range []int64{1, 10, 100, 1000} {
		folder := filepath.Join(o.cache, fmt.Sprintf("files-%d", files))
		if err := os.MkdirAll(folder, 0o777); err != nil {
			return err
		}
		p := &point{contender{args: []string{folder}}, strconv.FormatInt(files, 10) + " files", fixed, fixed / meanTokens}
		for i := range files {
			s := records
			s.key, s.seed = fmt.Sprintf("records-%d", i), uint64(i)
			_, n, err := s.file(folder, amount{tokens: fixed / files})
			if err != nil {
				return err
			}
			p.size += n
		}
		*list = append(*list, p)
	}
	return nil
}

// printCosts prints a series as a table.
func printCosts(list []*point) {
	fmt.Println("\n| log | tokens | requests | size | wall | CPU | CPU per token | peak memory |")
	fmt.Println("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
	for _, p := range list {
		wall, _ := p.median(wall)
		cpu, _ := p.median(cpu)
		peak, _ := p.median(peak)
		fmt.Printf("| %s | %d | %d | %s | %.2f s | %.2f s | %.1f ns | %.0f MiB |\n", p.of, p.tokens, p.requests,
			unit.Format(unit.Byte, float64(p.size)), wall, cpu, cpu*1e9/float64(p.tokens), peak/(1<<20))
	}
}
