package sglanglog

import (
	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/formats/internal/linelog"
)

// fold makes rows of records.
type fold struct {
	run      *trace.RunMeta
	log      *linelog.Log
	steps    *trace.Builder
	rows     *trace.Builder // requests
	facts    facts
	load     load
	requests requests
	digits   [20]byte // of a rank
}

func newFold(run *trace.RunMeta, log *linelog.Log) *fold {
	return &fold{run: run, log: log, steps: trace.NewBuilder(trace.Steps), rows: trace.NewBuilder(trace.Requests)}
}

// Record implements linelog.Fold.
func (f *fold) Record(r *linelog.Record) *linelog.Problem {
	f.facts.saw(r.Kind)
	switch r.Kind.Name {
	case "prefill":
		f.prefill(r)
	case "decode":
		f.decode(r)
	case "retraction":
		f.retraction(r)
	case "scheduler status":
		return f.schedulerStatus(r)
	case "time stats":
		return f.timeStats(r)
	case "receive":
		return f.receive(r)
	case "finish":
		return f.finish(r)
	case "gateway response":
		return f.gateway(r)
	case "access":
		f.facts.access(r)
	default:
		f.facts.take(r)
	}
	return nil
}

// Batch implements linelog.Fold.
func (f *fold) Batch(all bool) *trace.Batch {
	if linelog.Ready(f.steps, all) {
		return f.steps.Take(f.run, f.log.File())
	}
	if linelog.Ready(f.rows, all) {
		return f.rows.Take(f.run, f.log.File())
	}
	return nil
}

// End implements linelog.Fold.
func (f *fold) End() {
	f.openRequests()
	f.facts.finish(f.run)
	f.missingRanks()
	if !f.requests.seen {
		f.run.NoRequests = "the log has no lines of requests: start the server with --log-requests and --enable-metrics, or add a result of the client"
	}
}

// torn tells that the object of a record is not whole.
var torn = &linelog.Problem{Code: "torn_record", Severity: diag.DataLoss,
	Msg: "the record of a request is cut off, or another writer's text is in it: it was skipped", Fix: "take the log again once it is complete"}
