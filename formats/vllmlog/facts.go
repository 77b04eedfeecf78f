package vllmlog

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"time"

	"servescope/analyzer/trace"
	"servescope/formats/internal/linelog"
)

// facts is what the log says about the run as a whole.
type facts struct {
	version, model, served  string
	tensor, pipeline        int64
	dataParallel            int64
	cache                   []string      // tokens of each engine's KV cache
	since                   int           // the youngest of releases that a line needs
	last                    *linelog.Kind // of the record before
	statuses                []count       // of access lines
	firstAccess, lastAccess int64         // times of the heads before them
	accesses                int64         // that have one
	profiler                []interval
	other                   bool // a second version or model was started
}

type count struct {
	status int64
	n      int64
}

// interval is a time in which the profiler ran; to is unknown while it does.
type interval struct {
	from, to int64
	closed   bool
}

// maxIntervals bounds the intervals that are kept.
const maxIntervals = 1000

// releases lists versions that lines can tell, the oldest first.
var releases = []string{"v0.1", "v0.4.1", "v0.5.3", "v0.5.5", "v0.6.5", "v0.8.0", "v0.8.3", "v0.8.5", "v0.9", "v0.10.1", "v0.11", "v0.11.1", "v0.12", "v0.14", "v0.22", "v0.24"}

// saw learns from any record.
func (f *facts) saw(r *linelog.Record) {
	if f.last != r.Kind {
		f.last = r.Kind
		f.atLeast(r.Kind.Since)
		if bytes.HasPrefix(r.Process.Name, []byte("APIServer")) {
			f.atLeast("v0.10.1")
		}
	}
}

func (f *facts) atLeast(version string) {
	if i := slices.Index(releases, version); i > f.since {
		f.since = i
	}
}

// access counts a response. Its line has no stamp: it is between two that have.
func (f *facts) access(r *linelog.Record) {
	s, ok := r.Int(status)
	if !ok {
		return
	}
	i := slices.IndexFunc(f.statuses, func(c count) bool { return c.status == s })
	if i < 0 {
		f.statuses = append(f.statuses, count{status: s})
		i = len(f.statuses) - 1
	}
	f.statuses[i].n++
	if r.HasNear {
		if f.accesses == 0 {
			f.firstAccess = r.Near
		}
		f.lastAccess = r.Near
		f.accesses++
	}
}

// take learns from a record of factKinds.
func (f *facts) take(r *linelog.Record) {
	switch r.Kind.Name {
	case "profiler started":
		if len(f.profiler) < maxIntervals {
			f.profiler = append(f.profiler, interval{from: r.T, closed: !r.Timed})
		}
	case "profiler stopped":
		for i := range f.profiler {
			if p := &f.profiler[i]; !p.closed && r.Timed {
				p.to, p.closed = r.T, true
			}
		}
	case "cache size":
		if t := string(r.Text(cacheTokens)); len(f.cache) < 64 {
			f.cache = append(f.cache, t)
		}
	}
	set(&f.version, r.Text(version), &f.other)
	var ignored bool
	set(&f.model, r.Text(modelName), &ignored)
	set(&f.served, trimName(r.Text(servedName)), &ignored)
	atLeast(&f.tensor, r, tensorParallel)
	atLeast(&f.pipeline, r, pipelineParallel)
	atLeast(&f.dataParallel, r, dataParallel)
}

// atLeast raises a size to what a record states.
func atLeast(to *int64, r *linelog.Record, slot int) {
	if n, ok := r.Int(slot); ok {
		*to = max(*to, n)
	}
}

// set keeps the first value of a fact and tells whether another follows.
func set(to *string, v []byte, other *bool) {
	switch {
	case len(v) == 0 || len(v) > trace.MaxText:
	case *to == "":
		*to = string(v)
	case *to != string(v):
		*other = true
	}
}

// trimName returns the name in ['name'].
func trimName(b []byte) []byte { return bytes.Trim(b, "[]'\" ") }

// finish writes the facts into the run.
func (f *facts) finish(fold *fold) {
	run := fold.run
	run.Model = f.served
	if run.Model == "" {
		run.Model = f.model
	}
	switch {
	case f.version != "":
		run.Version = f.version
	case f.since > 0:
		run.Version = "≥" + releases[f.since]
	}
	pair := func(key string, n int64) {
		if n > 0 {
			run.Config = append(run.Config, trace.Pair{Key: key, Value: strconv.FormatInt(n, 10)})
		}
	}
	pair("tensor_parallel_size", f.tensor)
	pair("pipeline_parallel_size", f.pipeline)
	pair("data_parallel_size", f.dataParallel)
	for _, n := range f.cache {
		run.Config = append(run.Config, trace.Pair{Key: "kv_cache_tokens", Value: n})
	}
	if f.other {
		run.Notes = append(run.Notes, "the log holds more than one version of the server; the first is named")
	}
	f.accessNote(run)
	for _, p := range f.profiler {
		switch {
		case p.to > 0:
			run.Notes = append(run.Notes, fmt.Sprintf("the profiler ran from %s to %s: exclude this time from latencies", f.text(run, p.from), f.text(run, p.to)))
		case !p.closed:
			run.Notes = append(run.Notes, fmt.Sprintf("the profiler ran from %s to the end: exclude this time from latencies", f.text(run, p.from)))
		}
	}
}

// text prints a time on the run's clock.
func (f *facts) text(run *trace.RunMeta, t int64) string {
	if run.Clock.Kind == trace.Wall {
		return time.Unix(0, t).UTC().Format("2006-01-02T15:04:05.999Z")
	}
	return fmt.Sprintf("%d ms", t/1e6)
}

// accessNote tells how many responses there were.
func (f *facts) accessNote(run *trace.RunMeta) {
	if len(f.statuses) == 0 {
		return
	}
	slices.SortFunc(f.statuses, func(a, b count) int { return int(a.status - b.status) })
	text := "HTTP responses by status, from lines without stamps"
	if f.accesses > 0 {
		text += fmt.Sprintf(" (from %s to after %s)", f.text(run, f.firstAccess), f.text(run, f.lastAccess))
	}
	text += ":"
	for _, c := range f.statuses {
		text += fmt.Sprintf(" %d × %d", c.status, c.n)
	}
	run.Notes = append(run.Notes, text)
}
