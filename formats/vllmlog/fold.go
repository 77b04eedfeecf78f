package vllmlog

import (
	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/internal/linelog"
)

// fold makes rows of records.
type fold struct {
	run      *trace.RunMeta
	log      *linelog.Log
	steps    *trace.Builder
	facts    facts
	load     load
	requests requests
	text     []byte // scratch
}

func newFold(run *trace.RunMeta, log *linelog.Log, opt formats.Options) *fold {
	return &fold{run: run, log: log, steps: trace.NewBuilder(trace.Steps), load: load{engines: make(map[int64]bool)},
		requests: newRequests(run, log, opt)}
}

// Record implements linelog.Fold.
func (f *fold) Record(r *linelog.Record) *linelog.Problem {
	f.facts.saw(r)
	switch r.Kind.Name {
	case "stats":
		f.stats(r)
	case "prefix cache":
		f.prefixCache(r)
	case "speculation":
		f.speculation(r)
	case "kv transfer":
		f.transfer(r)
	case "iteration":
		f.iteration(r)
	case "access":
		f.facts.access(r)
	default:
		if p, ok := f.requests.take(f, r); ok {
			return p
		}
		f.facts.take(r)
	}
	return nil
}

// Batch implements linelog.Fold.
func (f *fold) Batch(all bool) *trace.Batch {
	if linelog.Ready(f.steps, all) {
		return f.steps.Take(f.run, f.log.File())
	}
	return f.requests.batch(f, all)
}

// End implements linelog.Fold.
func (f *fold) End() {
	f.facts.finish(f)
	f.load.finish(f)
	if !f.requests.seen {
		f.run.NoRequests = "the log has no request lines: start the server with --enable-log-requests, or add a result of the client"
	}
}
