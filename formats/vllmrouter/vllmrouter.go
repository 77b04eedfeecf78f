// Package vllmrouter reads the logs of the router of vLLM's production stack, as
// text and as JSON.
//
// A line tells when a request was routed, on the wall clock, and how long it had
// been in the router by then: rows of side proxy with received and dispatched.
// Only requests that the router orchestrates over a prefill and a decode instance
// have a line at their end; others stay open. The periodic block of statistics
// gives windows of the steps table, one per server. The id is the client's
// X-Request-Id or made by the router; vLLM's is "chatcmpl-" or "cmpl-" and it.
package vllmrouter

import (
	"context"

	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/internal/assemble"
	"servescope/formats/internal/linelog"
)

const name = "vllmrouter"

// Format is the format's entry in formats/all.
var Format = formats.Format{
	Name:     name,
	Title:    "log of the router of vLLM's production stack",
	Priority: 51,
	Shape:    formats.Ordered,
	Sniff:    sniff,
	Open:     open,
}

func sniff(h *formats.Head) (formats.Score, string) {
	seen := table.Sniff(h)
	if n := seen.Records["routed"] + seen.Records["retried"] + seen.Records["completed"]; n > 0 {
		return formats.Sure, "it has lines of a router"
	}
	return formats.No, "no line is one that the router of vLLM's production stack prints"
}

func open(ctx context.Context, src formats.Source, rng formats.Range, opt formats.Options) (formats.Reader, error) {
	run := &trace.RunMeta{Format: name, Engine: "vllm", Side: trace.Proxy}
	return linelog.Open(ctx, src, rng, opt, table, run, func(log *linelog.Log) linelog.Fold {
		rows := trace.NewBuilder(trace.Requests)
		w := &assemble.Writer{Notes: assemble.Notes{File: log.File(), Log: log.Diags()}, Builder: rows, Run: run, Lists: opt.Lists}
		f := &fold{run: run, log: log, writer: w, requests: rows, steps: trace.NewBuilder(trace.Steps), assembler: assemble.NewAssembler(w, opt.Memory)}
		f.assembler.Untold = true
		return f
	})
}

// fold makes rows of records.
type fold struct {
	run       *trace.RunMeta
	log       *linelog.Log
	writer    *assemble.Writer
	assembler *assemble.Assembler
	requests  *trace.Builder
	steps     *trace.Builder
	events    assemble.Events
	row       assemble.Row
	seen      bool
	server    []byte // of the block of statistics
}

// maxOpen is more requests than a router has at a time.
const maxOpen = 1 << 16

// Record implements linelog.Fold.
func (f *fold) Record(r *linelog.Record) *linelog.Problem {
	f.writer.Clock = f.run.Clock
	f.row.Reset(r.Offset)
	switch r.Kind.Name {
	case "routed":
		f.routed(r)
	case "retried":
		f.row.SetText(trace.Replica, r.Text(url))
		f.event(r, assemble.Dispatched)
	case "completed":
		f.event(r, assemble.Finish)
	case "server":
		f.server = append(f.server[:0], r.Text(url)...)
	case "engine stats":
		f.stats(r)
	}
	return nil
}

// routed takes the line of a request that is sent to a server. The time in it is
// that of the record. A second one for the same request names the decode
// instance; its process time is since the prefill ended.
func (f *fold) routed(r *linelog.Record) {
	f.row.SetText(trace.Replica, r.Text(url))
	if spent, _ := r.Int(process); r.Timed && !f.assembler.IsOpen(r.Text(id)) {
		f.row.SetInt(trace.Dispatched, r.T)
		received := *r
		received.T -= spent
		f.event(&received, assemble.Arrival)
		f.assembler.Expire(maxOpen)
		return
	}
	f.event(r, assemble.Dispatched)
}

// event hands an event to the assembler.
func (f *fold) event(r *linelog.Record, kind assemble.Kind) {
	f.seen = true
	if r.Resolution > 1 {
		f.row.SetInt(trace.Resolution, r.Resolution)
	}
	e := &f.events
	e.Reset(r.Offset, nil)
	e.Add(assemble.Event{Hash: assemble.Hash(r.Text(id)), At: r.T, ID: e.Keep(r.Text(id)), Tokens: -1, Kind: kind, Timed: r.Timed, Sort: -1}, &f.row)
	f.assembler.Fold(e)
}

// stats takes the load of the server named before, in a block of lines of which
// only the first has a stamp, in ms.
func (f *fold) stats(r *linelog.Record) {
	b := f.steps
	if len(f.server) > 0 {
		b.Dict(trace.StepReplica, f.server)
	}
	if r.HasNear {
		b.Int(trace.StepT, r.Near)
		b.Int(trace.StepResolution, 1e6)
	}
	b.Code(trace.StepKindCol, int32(trace.StepWindow))
	n, _ := r.Int(running)
	b.Int(trace.StepRunning, n)
	n, _ = r.Int(waiting)
	b.Int(trace.StepWaiting, n)
	b.Int(trace.StepOffset, r.Offset)
	b.EndRow()
}

// Batch implements linelog.Fold.
func (f *fold) Batch(all bool) *trace.Batch {
	if linelog.Ready(f.steps, all) {
		return f.steps.Take(f.run, f.log.File())
	}
	if all {
		f.assembler.Flush(func() bool { return linelog.Ready(f.requests, false) })
	}
	if linelog.Ready(f.requests, all) {
		return f.requests.Take(f.run, f.log.File())
	}
	return nil
}

// End implements linelog.Fold.
func (f *fold) End() {
	if !f.seen {
		f.run.NoRequests = "no line tells that a request was routed"
	}
}
