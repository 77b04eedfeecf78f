package analyzer

import (
	"fmt"
	"maps"
	"slices"
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

// partials makes reports of a first pass while it goes on. It reads copies of what
// the kernels hold, by their encoding: the states of the pass stay as they are.
type partials struct {
	s     *Session
	q     *query.Query
	e     *engine
	sel   *selection
	total int64
	runs  func() []*run // that have rows so far, not to be changed by others

	mu   sync.Mutex        // one report is made at a time
	done map[string][]byte // states of kernels that have seen every row, by name
}

// offer makes a report of what p has folded, if somebody wants one.
func (a *partials) offer(p *pass) {
	take := a.s.tell()
	if take == nil || !a.mu.TryLock() {
		return
	}
	defer a.mu.Unlock()
	states, rows, err := p.soFar()
	if err != nil || rows == 0 {
		return
	}
	for name, code := range a.done {
		if state := a.fresh(name, p.facts); state.LoadState(code) == nil {
			states[name] = state
		}
	}
	take(&Partial{a.report(states, p.facts, rows), rows, a.total})
}

// finished notes the states of kernels that have seen every row.
func (a *partials) finished(kernels []kernel.Kernel, states []kernel.State) {
	a.done = make(map[string][]byte)
	for i, k := range kernels {
		a.done[k.Name()] = states[i].AppendState(nil)
	}
}

func (a *partials) fresh(name string, facts *kernel.Facts) kernel.State {
	for _, k := range a.e.kernels {
		if k.Name() == name {
			return k.New(a.q, facts)
		}
	}
	return nil
}

// report is the report that the states amount to. Figures of kernels without one
// are pending.
func (a *partials) report(states map[string]kernel.State, known *kernel.Facts, rows int64) *report.Report {
	runs := a.runs()
	facts := &kernel.Facts{Pass: 1, Runs: slices.Clone(known.Runs), Private: make(map[string][]byte)}
	var list []kernel.State
	for _, k := range a.e.kernels {
		if state := states[k.Name()]; state != nil {
			state.Next(facts) // it may want another pass: that is for the report of all
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
		eachCell(filled, func(c *report.Cell) { a.e.complete(c, pendingReason) })
		a.s.describe(filled, run, claims, a.q, a.e)
		r.Runs = append(r.Runs, *filled)
	}
	noteSides(r.Runs)
	r.Diags = []diag.Diag{{
		Code: "partial", Severity: diag.Notice, Offset: -1, Count: rows,
		Msg: fmt.Sprintf("this report is of the first %d rows: the others are being read", rows),
		Fix: "wait for the report of all of them",
	}}
	return r
}

// soFar returns a copy of the states of the kernels, by name, and how many rows they
// have seen.
func (p *pass) soFar() (states map[string]kernel.State, rows int64, err error) {
	states = make(map[string]kernel.State)
	for w := range p.states {
		p.locks[w].Lock()
		codes := make([][]byte, len(p.states[w]))
		for i, state := range p.states[w] {
			codes[i] = state.AppendState(nil)
		}
		rows += p.rows[w]
		p.locks[w].Unlock()
		for i, code := range codes {
			k := p.kernels[i]
			state := k.New(p.q, p.facts)
			if err := state.LoadState(code); err != nil {
				return nil, 0, err
			}
			if all := states[k.Name()]; all == nil {
				states[k.Name()] = state
			} else if err := all.Merge(state); err != nil {
				return nil, 0, err
			}
		}
	}
	return states, rows, nil
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
