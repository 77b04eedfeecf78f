package sglanglog

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"

	"servescope/analyzer/trace"
	"servescope/formats/internal/linelog"
)

// facts is what the log says about the run as a whole.
type facts struct {
	version, model, served                   string
	disaggregation                           string
	tensor, pipeline, data, expert, interval int64
	oldest                                   int // the youngest of releases that a line needs
	kinds                                    []*linelog.Kind
	statuses                                 []count // of access lines
	health                                   int64   // records of the server's own probes
	other                                    bool    // a second model was started
}

type count struct{ status, n int64 }

// releases lists versions that lines can tell, the oldest first.
var releases = []string{"", "v0.4.2", "v0.4.6.post4", "v0.4.6.post5", "v0.4.7", "v0.5.4", "v0.5.5", "v0.5.7", "v0.5.9", "v0.5.10", "v0.5.11", "v0.5.12"}

// saw learns from the kind of a record.
func (f *facts) saw(k *linelog.Kind) {
	if !slices.Contains(f.kinds, k) {
		f.kinds = append(f.kinds, k)
		f.since(k.Since)
	}
}

// since learns that a line needs a version.
func (f *facts) since(version string) {
	if version == releases[f.oldest] || version == "" {
		return
	}
	f.oldest = max(f.oldest, slices.Index(releases, version))
}

// access counts a response. Its line comes at the start of a streamed one, so it
// tells no latency.
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
}

// take learns from a record of factKinds.
func (f *facts) take(r *linelog.Record) {
	var ignored bool
	set(&f.version, r.Text(version), &ignored)
	set(&f.model, r.Text(modelPath), &f.other)
	set(&f.served, r.Text(servedName), &ignored)
	set(&f.disaggregation, r.Text(disaggregation), &ignored)
	for _, c := range [...]struct {
		slot int
		to   *int64
	}{{tensorParallel, &f.tensor}, {pipelineParallel, &f.pipeline}, {dataParallel, &f.data}, {expertParallel, &f.expert}, {interval, &f.interval}} {
		if n, ok := r.Int(c.slot); ok && n > 0 {
			*c.to = n
		}
	}
}

// set keeps the first value of a fact and tells whether another follows.
func set(to *string, v []byte, other *bool) {
	v = bytes.Trim(v, "'\"")
	switch {
	case len(v) == 0 || len(v) > trace.MaxText:
	case *to == "":
		*to = string(v)
	case *to != string(v):
		*other = true
	}
}

// finish writes the facts into the run.
func (f *facts) finish(run *trace.RunMeta) {
	run.Model = f.served
	if run.Model == "" {
		run.Model = f.model
	}
	switch {
	case f.version != "":
		run.Version = f.version
	case f.oldest > 0:
		run.Version = "≥" + releases[f.oldest]
	}
	pair := func(key, value string) {
		if value != "" && value != "0" {
			run.Config = append(run.Config, trace.Pair{Key: key, Value: value})
		}
	}
	pair("tp_size", strconv.FormatInt(f.tensor, 10))
	pair("pp_size", strconv.FormatInt(f.pipeline, 10))
	pair("dp_size", strconv.FormatInt(f.data, 10))
	pair("ep_size", strconv.FormatInt(f.expert, 10))
	pair("decode_log_interval", strconv.FormatInt(f.interval, 10))
	pair("disaggregation_mode", f.disaggregation)
	if f.other {
		run.Notes = append(run.Notes, "the log holds more than one start of a server; the first model is named")
	}
	if f.health > 0 {
		run.Notes = append(run.Notes, fmt.Sprintf("%d records are of the server's own health checks and no requests", f.health))
	}
	if len(f.statuses) == 0 {
		return
	}
	slices.SortFunc(f.statuses, func(a, b count) int { return int(a.status - b.status) })
	text := "HTTP responses by status:"
	for _, c := range f.statuses {
		text += fmt.Sprintf(" %d × %d", c.status, c.n)
	}
	run.Notes = append(run.Notes, text)
}
