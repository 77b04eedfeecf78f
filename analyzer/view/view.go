package view

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"servescope/analyzer/assemble"
	"servescope/analyzer/dataset"
	"servescope/analyzer/fold"
	"servescope/analyzer/join"
	"servescope/analyzer/kernel"
	"servescope/analyzer/load"
	"servescope/analyzer/query"
	"servescope/analyzer/selection"
	"servescope/analyzer/trace"
)

// Viewport says what a chart shows of one run, beside the query that selects its
// requests. Which fields count depends on Kind; a zero is the default.
//
// Times are ns since the origin of the run's clock: the first arrival of any of
// its requests, from which relative instants of a query count too; without
// requests the end of the first step.
type Viewport struct {
	Kind    string   // columns, requests, scatter, ecdf, heatmap, series, gaps, request, steps or values
	Run     int      // index in the report's runs
	Side    string   // whose rows of requests, as in column side; "": those by which the report counts them
	Columns []string // names; see Session.View

	Metric     string // of ecdf
	X, Y       string // columns of scatter
	Color      string // a third one, or ""
	Column     string // of values
	Sort       string // column that orders requests; "": the order of inputs
	Desc       bool   // from the greatest down
	Row        int64  // of request
	From, To   int64  // interval of heatmap, series, gaps and steps; equal: all
	Low, High  int64  // interval of values in ns; equal: all
	Offset     int    // of the first row of a page
	Limit      int    // rows of a page, or points
	XBins      int
	YBins      int
	Bucket     int64 // ns of series; 0: XBins of them
	TokenTimes bool  // series counts tokens by their own time, which reads the token lists
}

// Columns is what a chart is drawn from: columns of equal or, where they are of
// different things, different lengths.
type Columns struct {
	Kind   string
	Mode   string             // of scatter: points or bins
	Clocks []ViewClock        // of stamps, by the values of column clock
	Facts  map[string]float64 // figures that are one, as n
	Fields []Detail           // of request
	List   []Column
}

// ViewClock is a clock of a run. Stamps on it are given since Origin.
type ViewClock struct {
	Name   string
	Wall   bool
	Origin int64 // ns

	own bool // each request has its own: there is no time that they share
}

// Column is a column of numbers, NaN where a value is null; or with Text, of
// texts: Values[Codes[i]], null where the code is -1.
type Column struct {
	Name   string
	Text   bool
	Floats []float64
	Codes  []int32
	Values []string
}

// Detail is one column of a single request.
type Detail struct {
	Name  string
	Text  string  // of a text
	Value float64 // of a number; NaN: a text
	Unit  string
	Stamp bool
}

// Views makes views of one set, and keeps what is costly to find for the next one. One
// goroutine at a time uses it.
type Views struct {
	in     *load.Loader
	last   *viewer
	clocks map[selection.ClockKey]selection.ClockRange // of a query about everything; nil before a view asks for them
}

// NewViews returns a Views for what in reads.
func NewViews(in *load.Loader) *Views { return &Views{in: in} }

// View returns what a chart shows of the requests of one run that q selects: those that
// arrive in its interval. choose gives their selection, without groups; it is called
// only where the last view was of another query. Inputs are read again only for token
// lists that are not in memory. Errors are those of choose and of reading, and
// *query.Error for a viewport that makes no sense.
//
// Columns are those of the requests table, the metrics of single requests under
// the query's definition, and
//
//	row        the number of the request in the session, whatever the query
//	arrival    when it arrives: its send, or else the first stamp of it
//	end        when it ends
//	clock      index of its clock
//	gap_max    its longest chunk gap, ns
//	gap_p99    the 99th percentile of its chunk gaps (numpy's linear method), ns
//	gaps_ge.N  how many of its chunk gaps are N ns or longer, N > 0
//	part.X     an entry of its time to first token, X being a stage (queue),
//	           stages that nothing separates (queue+prefill), residual or total, ns
//	parts      all of these that some request has
//
// A run has rows of one side only: that by which the report counts its requests,
// the outermost, or the one that Side names. Facts has its code as "side".
//
// A request of several choices is one, as the report counts it, but its chunk gaps
// are those of all of its sequences.
func (x *Views) View(ctx context.Context, q *query.Query, p Viewport, choose func() (*selection.Selection, error)) (*Columns, error) {
	v, err := x.viewer(ctx, q, p, choose)
	if err != nil {
		return nil, err
	}
	show := map[string]func(*viewer, *Columns) error{
		"columns": (*viewer).columns, "requests": (*viewer).requests, "scatter": (*viewer).scatter,
		"ecdf": (*viewer).ecdf, "heatmap": (*viewer).heatmap, "series": (*viewer).series,
		"gaps": (*viewer).gaps, "request": (*viewer).request, "steps": (*viewer).stepRows, "values": (*viewer).values,
	}[p.Kind]
	if show == nil {
		return nil, viewError("there is no kind of view " + strconv.Quote(p.Kind))
	}
	out := &Columns{Kind: p.Kind, Clocks: v.clocks, Facts: map[string]float64{"side": float64(v.side)}}
	if err := cmp.Or(show(v, out), v.set.Store.Failed()); err != nil {
		return nil, err
	}
	return out, nil
}

func viewError(msg string) error { return &query.Error{Flag: "view", Msg: msg} }

// viewer makes the views of one run under one query. What is costly to find is
// kept for the next view of the same: the selection and columns.
type viewer struct {
	key    string
	in     *load.Loader
	set    *dataset.Set
	ctx    context.Context
	p      Viewport
	q      *query.Query
	e      *assemble.Figures
	run    *dataset.Run
	sel    *selection.Selection
	side   trace.Side
	clocks []ViewClock
	index  map[selection.ClockKey]int // in clocks

	cache map[string]*Column
	order []int32 // of the rows by one column
	by    string  // that column and direction
}

func (x *Views) viewer(ctx context.Context, q *query.Query, p Viewport, choose func() (*selection.Selection, error)) (*viewer, error) {
	key := fmt.Sprintf("%+v %q %d %s", assemble.Echo(q), q.Definition, p.Run, p.Side)
	if v := x.last; v != nil && v.key == key {
		v.ctx, v.p = ctx, p
		return v, nil
	}
	e, err := assemble.FiguresOf(q.Definition)
	if err != nil {
		return nil, err
	}
	sel, err := choose()
	if err != nil {
		return nil, err
	}
	if p.Run < 0 || p.Run >= len(sel.Set.Runs) {
		return nil, viewError(fmt.Sprintf("there are %d runs, and no number %d", len(sel.Set.Runs), p.Run))
	}
	v := &viewer{key: key, in: x.in, set: sel.Set, ctx: ctx, p: p, q: q, e: e, run: sel.Set.Runs[p.Run], sel: sel, cache: make(map[string]*Column)}
	if err := v.findSide(); err != nil {
		return nil, err
	}
	v.findClocks(x)
	x.last = v
	return v, nil
}

// outermost lists the sides from the one that a user sees to the innermost.
var outermost = []trace.Side{trace.Client, trace.Proxy, trace.Server, trace.Engine, trace.Decode, trace.Prefill}

// findSide finds the side whose rows are shown: the outermost of those that are
// selected, else the one that the viewport names.
func (v *viewer) findSide() error {
	seen := make(map[trace.Side]bool)
	for i, r := range v.set.Requests {
		if r.Slot != v.run.Slot || v.set.Links == nil && !r.Has(trace.SideCol) && seen[r.Run().Side] {
			continue
		}
		group, sides := v.sel.Of(i), v.sidesOf(r.Open(), r.Number)
		for k := range r.Rows() {
			if group == nil || group[k] >= 0 {
				if seen[sides.at(k)] = true; sides.one {
					break
				}
			}
		}
	}
	for _, side := range outermost {
		name := trace.Requests.Fields[trace.SideCol].Values[side]
		if v.p.Side == name || v.p.Side == "" && seen[side] {
			v.side = side
			return nil
		}
	}
	if v.p.Side != "" {
		return viewError("there is no side " + strconv.Quote(v.p.Side))
	}
	return nil
}

// sides tells the side of each row of a batch.
type sides struct {
	codes trace.Dicts
	run   trace.Side
	links *join.Links // nil where no rows are linked
	base  int32       // number of the first row
	one   bool        // all are of the run's side
}

func (v *viewer) sidesOf(b *trace.Batch, base int32) sides {
	return sides{b.Dicts(trace.SideCol), b.Run.Side, v.set.Links, base, v.set.Links == nil && !b.Has(trace.SideCol)}
}

func (s *sides) at(i int) trace.Side {
	if s.links != nil {
		return s.links.Side(s.base + int32(i))
	}
	if code, ok := s.codes.At(i); ok {
		return trace.Side(code)
	}
	return s.run
}

// shows reports whether row i is a request of the side that is shown; with
// sequences, or one of the choices of such.
func (v *viewer) shows(of *sides, i int, sequences bool) bool {
	n := of.base + int32(i)
	if of.at(i) != v.side || !sequences && !v.set.Multi.First(n) {
		return false
	}
	return v.set.Links == nil || v.set.Links.Role(n) != join.Repeats
}

// findClocks lists the clocks of the run, that of most requests first.
func (v *viewer) findClocks(x *Views) {
	if x.clocks == nil {
		all := &selection.Selection{Set: v.set, Q: new(query.Query)}
		all.FindClockRanges()
		x.clocks = all.ClockRanges
	}
	var keys []selection.ClockKey
	for key := range x.clocks {
		if key.Slot == v.run.Slot {
			keys = append(keys, key)
		}
	}
	count := make(map[selection.ClockKey]int)
	if len(keys) > 1 {
		v.countClocks(count)
	}
	slices.SortFunc(keys, func(a, b selection.ClockKey) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a.Axis, b.Axis))
	})
	v.index = make(map[selection.ClockKey]int)
	for i, key := range keys {
		e := x.clocks[key]
		v.index[key] = i
		v.clocks = append(v.clocks, ViewClock{key.Axis, e.Kind == trace.Wall, e.First, e.Kind == trace.RequestClock})
	}
}

// countClocks counts the requests of the side that is shown by their clocks.
func (v *viewer) countClocks(count map[selection.ClockKey]int) {
	for _, r := range dataset.OpenEach(v.set.Requests) {
		if r.Slot != v.run.Slot {
			continue
		}
		names, of := dataset.ClocksOf(r.Cols), v.sidesOf(r.Cols, r.Number)
		for i := range r.Cols.Rows {
			if v.shows(&of, i, false) {
				count[selection.ClockKeyOf(r.Slot, names.At(i))]++
			}
		}
	}
}

// each calls f with the rows of the run that the query selects, in order: indexes
// in a batch that is valid during the call, and the view that kernels take. With
// sequences each choice of a request is there, else the one that it is counted with.
func (v *viewer) each(lists, sequences bool, f func(k *kernel.View, rows []int32)) error {
	var rows []int32
	return fold.Walk(v.ctx, v.in, v.sel, lists, func(slot, base int32, b *trace.Batch, group []int32) error {
		if slot != v.run.Slot {
			return nil
		}
		rows = rows[:0]
		of := v.sidesOf(b, base)
		for i := range b.Rows {
			if (group == nil || group[i] >= 0) && v.shows(&of, i, sequences) {
				rows = append(rows, int32(i))
			}
		}
		if len(rows) > 0 {
			f(v.kernelView(slot, base, b), rows)
		}
		return nil
	})
}

func (v *viewer) kernelView(slot, base int32, b *trace.Batch) *kernel.View {
	k := &kernel.View{Batch: b, RunIndex: slot, Links: v.set.Links, Base: base, Ends: v.set.Ends}
	if v.set.Multi != nil {
		k.Choices = v.set.Multi.Choices
	}
	return k
}

// since returns a stamp since the origin of its clock.
func (v *viewer) since(b *trace.Batch, i int, stamp int64) float64 {
	names := dataset.ClocksOf(b)
	return v.sinceOf(names.At(i), stamp)
}

// clockOf returns the index in clocks of a clock of the run, by its name.
func (v *viewer) clockOf(name string) (int, bool) {
	i, ok := v.index[selection.ClockKeyOf(v.run.Slot, name)]
	return i, ok
}

func (v *viewer) sinceOf(clock string, stamp int64) float64 {
	if i, ok := v.clockOf(clock); ok {
		return float64(stamp - v.clocks[i].Origin)
	}
	return math.NaN()
}
