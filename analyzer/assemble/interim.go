package assemble

import (
	"fmt"
	"maps"
	"sync"

	"servescope/analyzer/dataset"
	"servescope/analyzer/diag"
	"servescope/analyzer/fold"
	"servescope/analyzer/kernel"
	"servescope/analyzer/query"
	"servescope/analyzer/report"
	"servescope/analyzer/selection"
	"servescope/analyzer/trace"
)

// PartialFunc is asked after every batch that is folded whether anybody wants a
// report of what has been folded so far: what it returns takes the report, nil
// says no. It is called by several goroutines, and must be cheap.
type PartialFunc func() func(*Partial)

// Partial is a report of a part of the rows.
type Partial struct {
	Report *report.Report
	Rows   int64 // rows that have been folded for figures of tokens
	Total  int64 // rows that there are; -1 while they are being read
}

// PendingReason is the reason of figures that a report of a part does not have yet.
const PendingReason = "pending"

// overTime lists the kernels whose figures are too small where rows in between are
// missing: rates per second, and requests in flight.
var overTime = map[string]bool{"rates": true, "concurrency": true, "decode_span": true}

// interim makes reports of a first pass while it goes on: of the states that its
// goroutines have filled, which are merged for it, and fresh ones take their place. A
// state that has been finished takes more: to finish it changes nothing in it. It is a
// Watcher.
type interim struct {
	set   *dataset.Set
	q     *query.Query
	e     *Figures
	sel   *selection.Selection
	tell  PartialFunc
	total int64 // rows that there are; -1 while they are being read
	holes bool  // remote readers fold rows too, which no interim report has: those that it has follow no time

	mu   sync.Mutex              // one report is made at a time
	done map[string]kernel.State // of kernels that have seen every row, by name

	seen  sync.Mutex
	metas map[*dataset.Input]map[int64]*trace.RunMeta // runs that readers have met so far; nil once all are known
}

// FirstInterim returns what makes reports while the rows of set are read for the first
// time; holes says that remote readers fold some of them. It is nil where tell is.
func FirstInterim(set *dataset.Set, q *query.Query, e *Figures, tell PartialFunc, holes bool) fold.Watcher {
	if tell == nil {
		return nil
	}
	return &interim{set: set, q: q, e: e, sel: &selection.Selection{Set: set, Query: q}, tell: tell, total: -1, holes: holes,
		metas: make(map[*dataset.Input]map[int64]*trace.RunMeta)}
}

// Interim returns what makes reports while the rows of sel are folded. It is nil where
// tell is.
func Interim(sel *selection.Selection, e *Figures, tell PartialFunc) fold.Watcher {
	if tell == nil {
		return nil
	}
	total := int64(0)
	for _, r := range sel.Set.Requests {
		total += int64(r.Rows())
	}
	return &interim{set: sel.Set, q: sel.Query, e: e, sel: sel, tell: tell, total: total}
}

// Read implements Watcher. It keeps copies, for the readers go on learning of their own.
func (a *interim) Read(f *dataset.Input, m *trace.RunMeta) {
	own := *m
	own.Config, own.Notes = append([]trace.Pair(nil), m.Config...), append([]string(nil), m.Notes...)
	own.Reported, own.Doubts, own.NoRequests = nil, nil, ""
	a.seen.Lock()
	defer a.seen.Unlock()
	if a.metas[f] == nil {
		a.metas[f] = make(map[int64]*trace.RunMeta)
	}
	a.metas[f][m.Key] = &own
}

// Folded implements Watcher: it makes a report of what p has folded, if it is wanted.
func (a *interim) Folded(p *fold.Pass) {
	take := a.tell()
	if take == nil || !a.mu.TryLock() {
		return
	}
	defer a.mu.Unlock()
	if states, rows := p.Gather(); rows > 0 {
		maps.Copy(states, a.done)
		take(&Partial{a.report(states, rows), rows, a.total})
	}
}

// Finished implements Watcher.
func (a *interim) Finished(kernels []kernel.Kernel, states []kernel.State) {
	a.done = make(map[string]kernel.State)
	for i, k := range kernels {
		a.done[k.Name()] = states[i]
	}
}

// runs returns the runs that have rows so far, not to be changed by others.
func (a *interim) runs() []*dataset.Run {
	if a.metas == nil {
		return withoutReported(a.set.Runs)
	}
	a.seen.Lock()
	defer a.seen.Unlock()
	return a.set.Preview(a.metas)
}

// report is the report that the states amount to. Figures of kernels without one,
// and of those that want another pass before they can place anything, are pending.
func (a *interim) report(states map[string]kernel.State, rows int64) *report.Report {
	runs := a.runs()
	var list []kernel.State
	for _, k := range a.e.Kernels {
		state := states[k.Name()]
		if a.holes && overTime[k.Name()] {
			continue
		}
		if state != nil && !state.Late() {
			list = append(list, state)
		}
	}
	out := newCells(a.sel, runs)
	out.finish(list)
	r := &report.Report{Schema: report.Schema, Query: Echo(a.q), Definition: a.e.Definition, Inputs: Inputs(a.set)}
	claims := &Audits{runs: make(map[*dataset.Run]*report.Audit), verdicts: nil}
	for _, run := range runs {
		filled := out.runs[run.Slot]
		if n, ok := a.sel.Removed[run.Slot]; ok {
			filled.Removed = report.Removed{Filter: n.Filter, Interval: n.Time, Trim: n.Trim, Steps: n.Steps}
		}
		EachCell(filled, func(c *report.Cell) {
			a.e.complete(c, PendingReason)
			if c.Goodput != nil && a.holes {
				c.Goodput.Rate = report.Null(PendingReason)
				c.Throughput.Values["goodput"] = c.Goodput.Rate
			}
		})
		describe(a.set, filled, run, claims, a.q, a.e)
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

// withoutReported returns copies of runs without the producers' figures: these are
// compared with figures of the whole.
func withoutReported(runs []*dataset.Run) (out []*dataset.Run) {
	for _, r := range runs {
		own := *r
		own.Members = nil
		for _, m := range r.Members {
			bare := *m
			bare.Reported, bare.Doubts = nil, nil
			own.Members = append(own.Members, &bare)
		}
		out = append(out, &own)
	}
	return out
}
