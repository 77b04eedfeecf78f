//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// tool is a tool that a user may take instead.
type tool struct {
	name    string
	command []string // the shape and the file follow
	threads bool     // the number of threads follows those
	ratio   int64    // bytes of memory per byte of the file, about
	slow    bool     // it is given a part of a long log
	missing string   // why it cannot be had
}

// tools installs the tools, or says why one cannot be had. DuckDB comes with its
// npm package, the others into a virtual environment of Python in the cache.
func tools(cache string) []*tool {
	duckdb := &tool{name: "DuckDB", command: []string{"node", "tools/bench/duckdb.mjs"}, threads: true, ratio: 4}
	if _, err := os.Stat("tools/duckdb/node_modules"); err != nil {
		duckdb.missing = try("npm", "ci", "--prefix", "tools/duckdb", "--no-audit", "--no-fund")
	}
	python := filepath.Join(cache, "python", "bin", "python")
	polars := &tool{name: "Polars", command: []string{python, "tools/bench/with_polars.py"}, threads: true, ratio: 8}
	numpy := &tool{name: "json + numpy", command: []string{python, "tools/bench/with_numpy.py"}, ratio: 5, slow: true}
	why := try("python3", "-m", "venv", filepath.Join(cache, "python"))
	if why == "" {
		why = try(python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "-r", "tools/bench/requirements.txt")
	}
	polars.missing, numpy.missing = why, why
	return []*tool{duckdb, polars, numpy}
}

// try runs a command and returns why it failed.
func try(args ...string) string {
	out, err := exec.Command(args[0], args[1:]...).CombinedOutput()
	if err == nil {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return strings.TrimSpace(err.Error() + " " + lines[len(lines)-1])
}

// bound is how many times faster than a contender servescope must be, and how
// many times it should; 0 is neither.
type bound struct{ must, target float64 }

// race is what is measured on one log: servescope and all that it is compared
// with.
type race struct {
	shape    shape
	as       string           // what the peers call the shape
	bounds   map[string]bound // by tool; "limit" as a share of newline counting, "one" over one worker
	path     string
	size     int64
	requests float64
	two      *contender
	one      *contender
	limit    *contender
	peers    []*entrant
	dropped  []string // tools that do not take part, and why
}

// entrant is a tool in a race.
type entrant struct {
	contender
	tool  *tool
	scale float64 // how many times longer the whole log is than the one that was read
	want  answers // servescope's, of the log that was read
}

// races lists what is compared with peers.
func races() []*race {
	return []*race{
		{shape: records, as: "records", bounds: map[string]bound{"DuckDB": {7, 10}, "Polars": {6, 9}, "json + numpy": {30, 45}, "limit": {0.15, 0.25}, "one": {1.5, 1.7}}},
		{shape: result, as: "bench", bounds: map[string]bound{"DuckDB": {8, 14}, "json + numpy": {30, 45}, "one": {1.5, 1.7}}},
		{shape: events, as: "events", bounds: map[string]bound{"DuckDB": {6, 9}, "Polars": {6, 9}, "one": {1.5, 1.7}}},
		{shape: manyOpen, as: "events", bounds: map[string]bound{"DuckDB": {4, 5}, "one": {1.5, 1.7}}},
	}
}

// percentiles are those that all contenders compute.
const percentiles = "50,90,99,99.9"

func analyze(binary string, workers int, path string) *contender {
	args := []string{binary, "analyze", "--format", "json", "--percentiles", percentiles, "--workers", strconv.Itoa(workers), path}
	return &contender{name: fmt.Sprintf("servescope, %d workers", workers), args: args}
}

// prepare writes the logs of a race and lists its contenders. A slow tool gets a
// log of slowSize; one that needs more memory than there is, too.
func (r *race) prepare(binary string, tools []*tool, a amount, slowSize int64, cache string) (err error) {
	if r.path, r.size, err = r.shape.file(cache, a); err != nil {
		return err
	}
	r.two, r.one = analyze(binary, runtime.NumCPU(), r.path), analyze(binary, 1, r.path)
	r.one.name = "servescope, 1 worker"
	r.limit = &contender{name: "pread and newline count", args: []string{os.Args[0], "newlines", r.path}}
	for _, t := range tools {
		if t.missing != "" {
			r.dropped = append(r.dropped, fmt.Sprintf("%s is not measured: %s", t.name, t.missing))
			continue
		}
		e := &entrant{tool: t, scale: 1}
		e.name, e.size = t.name, r.size
		path := r.path
		if most := memory() / 2; r.size*t.ratio > most || t.slow {
			part := a.atMost(min(slowSize, most/t.ratio), r.size)
			if path, e.size, err = r.shape.file(cache, part); err != nil {
				return err
			}
			e.scale = float64(r.size) / float64(e.size)
		}
		e.args = append(append([]string{}, t.command...), r.as, path)
		if t.threads {
			e.args = append(e.args, strconv.Itoa(runtime.NumCPU()))
		}
		r.peers = append(r.peers, e)
		once := analyze(binary, runtime.NumCPU(), path)
		if err := once.run(); err != nil {
			return err
		}
		if err := e.want.readReport(once.out); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

func (r *race) contenders() []*contender {
	list := []*contender{r.limit, r.two, r.one}
	for _, e := range r.peers {
		list = append(list, &e.contender)
	}
	return list
}

// check compares what the contenders printed.
func (r *race) check() error {
	if string(r.one.out) != string(r.two.out) {
		return fmt.Errorf("%s: one worker prints another report", r.path)
	}
	var own answers
	if err := own.readReport(r.two.out); err != nil {
		return fmt.Errorf("%s: %w", r.path, err)
	}
	r.requests = own.TTFT.N
	for _, e := range r.peers {
		var got answers
		if err := got.read(e.out); err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
		if d := got.differs(&e.want); d != "" {
			return fmt.Errorf("%s: %s of %s and servescope: %s", r.path, "answers of "+e.name, r.shape.name, d)
		}
		e.name = got.Version
	}
	return nil
}
