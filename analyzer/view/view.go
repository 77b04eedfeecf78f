package view

import (
	"cmp"
	"context"
	"fmt"
	"strconv"

	"servescope/analyzer/assemble"
	"servescope/analyzer/load"
	"servescope/analyzer/query"
	"servescope/analyzer/selection"
)

// Views makes views of one set, and keeps costly results for the next view. One goroutine
// at a time uses it.
type Views struct {
	in     *load.Loader
	last   *viewer
	clocks map[selection.ClockKey]selection.ClockRange // of a query about everything; nil before a view asks for them
}

// NewViews returns a Views for what in reads.
func NewViews(in *load.Loader) *Views { return &Views{in: in} }

// View returns the columns of a chart of the requests of one run that q selects: the
// requests that arrive in its interval. choose returns their selection, without groups;
// it is called only if the last view had another query. Inputs are read again only for
// token lists that are not in memory. View returns the errors of choose and of reading,
// and *query.Error for a viewport that makes no sense.
//
// Columns are the columns of the requests table, the metrics of single requests under
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
// A view shows rows of one side of a run: the outermost side, by which the report counts
// requests, or the side that Side names. Facts has its code as "side".
//
// A request with several choices is one request, as in the report, but has the chunk gaps
// of all of its sequences.
func (x *Views) View(ctx context.Context, q *query.Query, p Viewport, choose func() (*selection.Selection, error)) (*Columns, error) {
	v, err := x.viewer(ctx, q, p, choose)
	if err != nil {
		return nil, err
	}
	show := map[string]func(*viewer, *Columns) error{
		"columns": showColumns, "requests": showRequests, "scatter": showScatter,
		"ecdf": showECDF, "heatmap": showHeatmap, "series": showSeries,
		"gaps": showGaps, "request": showRequest, "steps": showSteps, "values": showValues,
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
	if x.clocks == nil {
		x.clocks = selection.ClockRangesOf(v.set)
	}
	v.findClocks(x.clocks)
	x.last = v
	return v, nil
}
