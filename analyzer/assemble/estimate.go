package assemble

import (
	"context"
	"fmt"
	"maps"
	"sort"

	"servescope/analyzer/dataset"
	"servescope/analyzer/decompose/estimate"
	"servescope/analyzer/diag"
	"servescope/analyzer/fold"
	"servescope/analyzer/kernel/request"
	"servescope/analyzer/load"
	"servescope/analyzer/report"
	"servescope/analyzer/selection"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
)

// MaxEstimates is how many groups and windows of a report are estimated: the
// intervals of each cost a pass over the steps for every model drawn.
var MaxEstimates = 200

// Estimate adds the estimated parts of the time per output token to the runs of r, a
// report of the query of sel, and to their groups and windows; see package estimate. A
// request is in an interval and a window, as with tpot, if it ends there. Requests that
// sel does not select still belong to the engine's steps. complete says that the caller
// knows every request of the logged replicas to be in the inputs. Estimate returns the
// number of chunks of tokens that were used, and fails where reading fails.
func Estimate(ctx context.Context, in *load.Loader, sel *selection.Selection, r *report.Report, complete bool) (chunks int64, err error) {
	set := sel.Set
	logs := make(map[int32]*stamped)
	for i, run := range set.Runs {
		logs[run.Slot] = stampedOf(sel, run.Slot, &r.Runs[i])
	}
	err = fold.Walk(ctx, in, sel, true, func(slot, _ int32, b *trace.Batch, group []int32) error {
		logs[slot].add(b, group)
		return nil
	})
	if err != nil {
		return 0, err
	}
	for _, rows := range dataset.OpenEach(set.Steps) {
		logs[rows.Slot].AddSteps(rows.Cols)
	}
	for i, run := range set.Runs {
		l := logs[run.Slot]
		if len(l.at) == 0 {
			continue
		}
		result := l.Estimate(complete)
		chunks += result.Chunks
		left := 0
		for k, c := range l.cells(&r.Runs[i], sel) {
			switch {
			case ctx.Err() != nil:
				return 0, context.Cause(ctx)
			case c.rows == 0:
			case k > MaxEstimates:
				left++
			default:
				sum := result.Summary(func(row int64) bool { return c.in(l.at[row]) })
				d := result.Decomposition(sum)
				d.Gaps = gapsOf(set, run.Slot, sum.Long.Top)
				c.cell.Decompositions = append(c.cell.Decompositions, d)
			}
		}
		if left > 0 {
			r.Diags = append(r.Diags, diag.Diag{
				Code: "estimates_capped", Severity: diag.Notice, File: run.Label, Offset: -1, Count: int64(left),
				Msg: fmt.Sprintf("the time per token is estimated for the first %d windows and groups: %d have no estimate", MaxEstimates, left),
				Fix: "give a longer --window, or group by fewer dimensions",
			})
		}
	}
	return chunks, set.Store.Failed()
}

// stamped is the rows of one run, and where each of them counts.
type stamped struct {
	estimate.Log
	sel    *selection.Selection
	slot   int32
	axis   string // the clock of the run's windows
	starts []int64
	length int64
	at     []placed // by row
}

// placed is the group and window of a row; -1: it is in none.
type placed struct{ group, window int32 }

func stampedOf(sel *selection.Selection, slot int32, r *report.Run) *stamped {
	set := sel.Set
	l := &stamped{sel: sel, slot: slot, length: sel.Query.Window}
	for i := range r.Windows {
		l.starts = append(l.starts, r.Windows[i].From)
	}
	for _, rows := range dataset.OpenEach(set.Requests) {
		if rows.Slot != slot || len(l.starts) == 0 {
			continue
		}
		names := dataset.ClocksOf(rows.Cols)
		for i := range rows.Cols.Rows {
			if set.Counts(rows.Batch, i) {
				l.axis = selection.ClockKeyOf(slot, names.At(i)).Axis
				return l
			}
		}
	}
	return l
}

// add adds the rows of a batch.
func (l *stamped) add(b *trace.Batch, group []int32) {
	l.Add(b)
	ends, names := request.LeavingsOf(b), dataset.ClocksOf(b)
	var name string
	var key selection.ClockKey
	for i := range b.Rows {
		p := placed{0, -1}
		if group != nil {
			p.group = group[i]
		}
		if clock := names.At(i); clock != name || i == 0 {
			name, key = clock, selection.ClockKeyOf(l.slot, clock)
		}
		t, ok := ends.At(i)
		if e, some := l.sel.ClockRanges[key]; l.sel.ClockRanges != nil && (!ok || !some || !e.Holds(t)) {
			p.group = -1
		}
		if ok && key.Axis == l.axis {
			p.window = l.window(t)
		}
		l.at = append(l.at, p)
	}
}

// window returns the number of the window that t is in, or -1.
func (l *stamped) window(t int64) int32 {
	i := sort.Search(len(l.starts), func(i int) bool { return l.starts[i] > t }) - 1
	if i < 0 || t-l.starts[i] >= l.length {
		return -1
	}
	return int32(i)
}

// stampedCell is a cell of a report and what it holds.
type stampedCell struct {
	cell *report.Cell
	rows int
	in   func(placed) bool
}

// cells returns the cells of a run: the whole, its windows, its groups and their
// windows.
func (l *stamped) cells(r *report.Run, sel *selection.Selection) []stampedCell {
	rows := make(map[placed]int) // any: in any group, or in any window
	const any = -3
	for _, p := range l.at {
		if p.group >= 0 {
			rows[p]++
			rows[placed{p.group, any}]++
			rows[placed{any, p.window}]++
		}
	}
	out := []stampedCell{{&r.Cell, len(l.at), func(p placed) bool { return p.group >= 0 }}}
	for i := range r.Windows {
		w := int32(i)
		out = append(out, stampedCell{&r.Windows[i].Cell, rows[placed{any, w}], func(p placed) bool { return p.group >= 0 && p.window == w }})
	}
	var within []stampedCell
	for i := range r.Groups {
		g := &r.Groups[i]
		number := int32(-2)
		for k, name := range sel.Groups.Names {
			if maps.Equal(name, g.By) {
				number = int32(k)
			}
		}
		out = append(out, stampedCell{&g.Cell, rows[placed{number, any}], func(p placed) bool { return p.group == number }})
		for k := range g.Windows {
			w := l.window(g.Windows[k].From)
			within = append(within, stampedCell{&g.Windows[k].Cell, rows[placed{number, w}], func(p placed) bool { return p.group == number && p.window == w }})
		}
	}
	return append(out, within...)
}

// gapsOf names the requests of gaps, whose rows are numbered within a run.
func gapsOf(set *dataset.Set, slot int32, top []estimate.Gap) (out []report.Gap) {
	for _, g := range top {
		gap := report.Gap{At: report.KnownInt(g.At, unit.Nanosecond), Duration: g.Length}
		row := g.Row
		for _, r := range set.Requests {
			if r.Slot != slot {
				continue
			}
			if n := int64(r.Rows()); row >= n {
				row -= n
				continue
			}
			if id, ok := r.Open().Texts(trace.RequestID).At(int(row)); ok {
				gap.Request = string(id)
			}
			break
		}
		out = append(out, gap)
	}
	return out
}
