package analyzer

import (
	"errors"
	"fmt"
	"maps"
	"sync"

	"servescope/analyzer/diag"
	"servescope/analyzer/kernel"
	"servescope/analyzer/query"
	"servescope/analyzer/report"
	"servescope/analyzer/trace"
)

// PartialFunc is asked after every batch that is folded whether anybody wants a
// report of what has been folded so far: what it returns takes the report, nil
// says no. It is called by several goroutines, and must be cheap.
type PartialFunc func() func(*Partial)

// Tell makes f take reports while rows are folded, from the next Run on.
func (s *Session) Tell(f PartialFunc) { s.tell = f }

// Partial is a report of a part of the rows.
type Partial struct {
	Report *report.Report
	Rows   int64 // rows that have been folded for figures of tokens
	Total  int64 // rows that there are; -1 while they are being read
}

// pendingReason is the reason of figures that a report of a part does not have yet.
const pendingReason = "pending"

// overTime are the kernels whose figures are too small where rows in between are missing:
// what comes per second, and what is in flight at a time.
var overTime = map[string]bool{"rates": true, "concurrency": true, "decode_span": true}

// partials makes reports of a first pass while it goes on: of the states that its
// goroutines have filled, which are merged for it, and fresh ones take their place.
// A state that has been finished takes more: to finish it changes nothing in it.
type partials struct {
	s     *Session
	q     *query.Query
	e     *engine
	sel   *selection
	total int64
	runs  func() []*run // that have rows so far, not to be changed by others
	holes bool          // rows are folded elsewhere too, which no report of a part has: those it has follow no time

	mu   sync.Mutex              // one report is made at a time
	done map[string]kernel.State // of kernels that have seen every row, by name
}

// offer makes a report of what p has folded, if somebody wants one.
func (a *partials) offer(p *pass) {
	take := a.s.tell()
	if take == nil || !a.mu.TryLock() {
		return
	}
	defer a.mu.Unlock()
	if rows := p.gather(); rows > 0 {
		states := maps.Clone(a.done)
		if states == nil {
			states = make(map[string]kernel.State)
		}
		for i, state := range p.sum {
			states[p.kernels[i].Name()] = state
		}
		take(&Partial{a.report(states, rows), rows, a.total})
	}
}

// gather merges what the goroutines have folded since the last time into the sum,
// and returns how many rows that is of. One goroutine calls it at a time. An error
// of a merge is that of the pass.
func (p *pass) gather() (rows int64) {
	for w := range p.states {
		p.locks[w].Lock()
		states := p.states[w]
		p.states[w] = nil
		p.locks[w].Unlock()
		if p.sum == nil {
			p.sum = states
			continue
		}
		for i, state := range states {
			p.failed = errors.Join(p.failed, p.sum[i].Merge(state))
		}
	}
	for w := range p.rows {
		p.locks[w].Lock()
		rows += p.rows[w]
		p.locks[w].Unlock()
	}
	return rows
}

// finished notes the states of kernels that have seen every row.
func (a *partials) finished(kernels []kernel.Kernel, states []kernel.State) {
	a.done = make(map[string]kernel.State)
	for i, k := range kernels {
		a.done[k.Name()] = states[i]
	}
}

// report is the report that the states amount to. Figures of kernels without one,
// and of those that want another pass before they can place anything, are pending.
func (a *partials) report(states map[string]kernel.State, rows int64) *report.Report {
	runs := a.runs()
	var list []kernel.State
	for _, k := range a.e.kernels {
		state := states[k.Name()]
		if a.holes && overTime[k.Name()] {
			continue
		}
		if s, ok := state.(interface{ Late() bool }); state != nil && !(ok && s.Late()) {
			list = append(list, state)
		}
	}
	out := newOutput(a.q, a.sel, runs)
	out.finish(list)
	r := &report.Report{Schema: report.Schema, Query: echo(a.q), Definition: a.e.definition, Inputs: a.s.Inputs()}
	claims := &audits{runs: make(map[*run]*report.Audit), verdicts: nil}
	for _, run := range runs {
		filled := out.runs[run.slot]
		if n, ok := a.sel.removed[run.slot]; ok {
			filled.Removed = report.Removed{Filter: n.filter, Interval: n.time, Trim: n.trim, Steps: n.steps}
		}
		eachCell(filled, func(c *report.Cell) {
			a.e.complete(c, pendingReason)
			if c.Goodput != nil && a.holes {
				c.Goodput.Rate = report.Null(pendingReason)
				c.Throughput.Values["goodput"] = c.Goodput.Rate
			}
		})
		a.s.describe(filled, run, claims, a.q, a.e)
		r.Runs = append(r.Runs, *filled)
	}
	noteSides(r.Runs)
	of := "this report is of the first %d rows: the others are being read"
	if a.holes {
		of = "this report is of %d rows, which do not follow each other: the others are being read, and nothing is told per time"
	}
	r.Diags = []diag.Diag{{
		Code: "partial", Severity: diag.Notice, Offset: -1, Count: rows,
		Msg: fmt.Sprintf(of, rows),
		Fix: "wait for the report of all of them",
	}}
	return r
}

// partialsOf returns what makes reports while the rows that are there are folded,
// nil where nobody asks for them.
func (s *Session) partialsOf(q *query.Query, e *engine, sel *selection) *partials {
	if s.tell == nil {
		return nil
	}
	total := int64(0)
	for _, r := range s.rows {
		total += int64(r.rows())
	}
	return &partials{s: s, q: q, e: e, sel: sel, total: total, runs: func() []*run { return unclaimed(s.runs) }}
}

// unclaimed returns copies of runs without what their producers claim: that is
// compared with figures of the whole.
func unclaimed(runs []*run) (out []*run) {
	for _, r := range runs {
		own := *r
		own.members = nil
		for _, m := range r.members {
			bare := *m
			bare.Reported, bare.Doubts = nil, nil
			own.members = append(own.members, &bare)
		}
		out = append(out, &own)
	}
	return out
}

// sightings are the runs that readers have met so far, by file and key: copies, for
// the readers go on learning of their own.
type sightings struct {
	mu   sync.Mutex
	runs map[*file]map[int64]*trace.RunMeta
}

// newSightings returns where the reports of parts of a first reading find their runs,
// nil where p makes none.
func newSightings(s *Session, p *pass) *sightings {
	if p == nil || p.partials == nil {
		return nil
	}
	x := new(sightings)
	p.partials.runs = func() []*run { return x.list(s) }
	return x
}

func (x *sightings) add(f *file, m *trace.RunMeta) {
	if x == nil {
		return
	}
	own := *m
	own.Config, own.Notes = append([]trace.Pair(nil), m.Config...), append([]string(nil), m.Notes...)
	own.Reported, own.Doubts, own.NoRequests = nil, nil, ""
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.runs == nil {
		x.runs = make(map[*file]map[int64]*trace.RunMeta)
	}
	if x.runs[f] == nil {
		x.runs[f] = make(map[int64]*trace.RunMeta)
	}
	x.runs[f][m.Key] = &own
}

// list returns the runs as they would be named if nothing else came.
func (x *sightings) list(s *Session) []*run {
	t := &Session{opt: s.opt, inputs: s.inputs}
	s.slots.mu.Lock()
	t.slots.index = maps.Clone(s.slots.index)
	s.slots.mu.Unlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, f := range s.files {
		own := &file{index: f.index, source: f.source, label: f.label, format: f.format, metas: make(map[int64]*meta)}
		for _, m := range x.runs[f] {
			own.addMeta(m)
		}
		t.files = append(t.files, own)
	}
	t.makeRuns()
	return t.runs
}
