package view

import (
	"cmp"
	"context"
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

// viewer makes the views of one run under one query. It keeps costly results for the next
// view of the same run and query: the selection and columns.
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

// outermost lists the sides from the one that a user sees to the innermost.
var outermost = []trace.Side{trace.Client, trace.Proxy, trace.Server, trace.Engine, trace.Decode, trace.Prefill}

// findSide finds the side whose rows are shown: the side that the viewport names, or else
// the outermost side with selected rows.
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

// findClocks lists the clocks of the run; the clock of most requests comes first.
func (v *viewer) findClocks(known map[selection.ClockKey]selection.ClockRange) {
	var keys []selection.ClockKey
	for key := range known {
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
		e := known[key]
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

// countedWith returns the row that the request of a row is counted with.
func (v *viewer) countedWith(row int32) int32 {
	if v.set.Multi != nil {
		if rows := v.set.Multi.Rows[row]; rows != nil {
			return rows[0]
		}
	}
	return row
}

// bins returns the viewport's numbers of bins or the given ones; of more cells than
// a screen has it makes fewer.
func (v *viewer) bins(x, y int) (nx, ny int) {
	nx, ny = min(cmp.Or(max(v.p.XBins, 0), x), maxCells), min(cmp.Or(max(v.p.YBins, 0), y), 2048)
	return min(nx, maxCells/ny), ny
}

// onFirstClock reports whether charts over time use a clock: it is the run's first clock,
// and not a clock of single requests.
func (v *viewer) onFirstClock(name string) bool {
	n, ok := v.index[selection.ClockKeyOf(v.run.Slot, name)]
	return ok && n == 0 && !v.clocks[0].own
}
