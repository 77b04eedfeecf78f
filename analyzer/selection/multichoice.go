package selection

import (
	"servescope/analyzer/dataset"
	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/request"
	"servescope/analyzer/trace"
)

// combining is how the value of a request in a column follows from the values of its
// rows.
type combining uint8

const (
	smallest combining = iota // of the known values
	greatest                  // likewise
	latest                    // unknown if one is
	sum                       // likewise
)

// combined lists the columns that describe a whole request. In other columns each row
// describes its own choice.
var combined = []struct {
	col trace.Col
	how combining
}{
	{trace.ScheduledSend, smallest}, {trace.Sent, smallest}, {trace.Received, smallest}, {trace.Dispatched, smallest}, {trace.Queued, smallest},
	{trace.FirstEvent, smallest}, {trace.FirstToken, smallest}, {trace.FirstAnswerToken, smallest},
	{trace.LastToken, latest}, {trace.Finished, latest},
	{trace.PromptTokens, greatest}, {trace.CachedTokens, greatest}, {trace.DClientWait, greatest},
	{trace.OutputTokens, sum}, {trace.ClientTokens, sum}, {trace.ReasoningTokens, sum}, {trace.MaxTokens, sum},
}

// of returns the value of a request in column c; at lists the rows of the request.
func (f combining) of(c trace.Col, at []rowAt) (v int64, known bool) {
	for _, a := range at {
		own, ok := a.batch.Ints(c).At(a.row)
		switch {
		case !ok && (f == latest || f == sum):
			return 0, false
		case !ok:
		case !known:
			v, known = own, true
		case f == smallest:
			v = min(v, own)
		case f == sum:
			v += own
		default:
			v = max(v, own)
		}
	}
	return v, known
}

// rowAt is a row of a batch.
type rowAt struct {
	batch *trace.Batch
	row   int
}

// united returns the rows of r with the values of their requests in the columns
// that are about these.
func united(set *dataset.Set, r *dataset.Batch) *trace.Batch {
	b, some := trace.NewBuilder(trace.Requests), false
	own := r.Open()
	for i := range own.Rows {
		n := r.Number + int32(i)
		at := []rowAt{{own, i}}
		if rows := set.Multi.Rows[n]; rows != nil {
			at, some = at[:0], true
			for _, m := range rows {
				from := set.Requests[set.Find(m)]
				at = append(at, rowAt{from.Open(), int(m - from.Number)})
			}
		}
		for _, f := range combined {
			if v, ok := f.how.of(f.col, at); ok {
				b.Int(f.col, v)
			}
		}
		status := trace.Empty
		for k, a := range at {
			own := trace.OK
			if code, ok := a.batch.Dicts(trace.StatusCol).At(a.row); ok {
				own = trace.Status(code)
			}
			if k == 0 {
				status = own
			}
			status = request.Worse(status, own)
		}
		b.Code(trace.StatusCol, int32(status))
		b.EndRow()
	}
	if !some {
		return own
	}
	values := b.Take(own.Run, own.File)
	out := own.With(trace.StatusCol, values)
	for _, f := range combined {
		out = out.With(f.col, values)
	}
	return out
}

// passing returns which rows the query's filter keeps: of the rows of a request,
// and of linked rows, all if it keeps one, so that a filter may ask for what any
// choice and any side tells. It is nil where there is no filter.
func passing(sel *Selection) [][]bool {
	set, q, metrics := sel.Set, sel.Query, sel.metrics
	if q.Filter == nil {
		return nil
	}
	var v *kernel.View
	x := q.Filter.Evaluator(func(name string, _ *trace.Batch, values []float64, known []bool) { metrics(name, v, values, known) })
	pass := make([][]bool, len(set.Requests))
	for i, r := range dataset.OpenEach(set.Requests) {
		pass[i] = make([]bool, r.Cols.Rows)
		v = &kernel.View{Batch: r.Cols, RunIndex: r.Slot, Base: r.Number}
		b := r.Cols
		if set.Multi != nil {
			v.Links, v.Choices = set.Links, set.Multi.Choices
			b = united(set, r.Batch)
		}
		x.Eval(b, pass[i])
	}
	any := func(rows func(int32) []int32) {
		for i, r := range set.Requests {
			for k := range pass[i] {
				for _, m := range rows(r.Number + int32(k)) {
					j := set.Find(m)
					pass[i][k] = pass[i][k] || pass[j][m-set.Requests[j].Number]
				}
			}
		}
	}
	if set.Multi != nil {
		any(func(n int32) []int32 { return set.Multi.Rows[n] })
	}
	if set.Links != nil {
		any(set.Links.Rows)
	}
	return pass
}

// verdict says whether the time of a request keeps or removes its rows.
type verdict struct {
	keep bool
	why  uint8
}

// verdicts returns what the time of requests of several choices makes of each of
// their rows, by number.
func verdicts(sel *Selection) map[int32]verdict {
	set := sel.Set
	if set.Multi == nil || sel.ClockRanges == nil {
		return nil
	}
	out := make(map[int32]verdict)
	for n, rows := range set.Multi.Rows {
		if n != rows[0] {
			continue
		}
		v := verdict{false, byTime}
		if at, known := set.Multi.Arrivals[n]; known {
			r := set.Requests[set.Find(n)]
			i := int(n - r.Number)
			b := r.Open()
			names := dataset.ClocksOf(b)
			e := sel.ClockRanges[ClockKeyOf(r.Slot, names.At(i))]
			off, _ := b.Ints(trace.Offset).At(i)
			v.keep, v.why = e.judge(position{at, int64(r.File.Index), off, r.First + int64(i)})
		}
		for _, m := range rows {
			out[m] = v
		}
	}
	return out
}
