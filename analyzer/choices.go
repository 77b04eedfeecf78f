package analyzer

import (
	"servescope/analyzer/kernel"
	"servescope/analyzer/query"
	"servescope/analyzer/trace"
)

// wholes are the requests that have several choices, each a row: a query judges
// the request and keeps or removes all of its rows.
type wholes struct {
	choices  *kernel.Choices
	rows     map[int32][]int32 // by the number of each of their rows: those of its request, the one that it is counted with first
	arrivals map[int32]int64   // by the number of that one; none where no arrival is known
}

// findWholes puts the rows of requests of several choices together. Kernels that
// have folded such rows without it, while they were read, have to begin anew.
func (s *Session) findWholes() {
	c := new(kernel.Choices)
	view := func(r *resident) *kernel.View {
		return &kernel.View{Batch: r.open(), RunIndex: r.slot, Links: s.joins, Base: r.number}
	}
	for _, r := range s.rows {
		if s.joins != nil || r.has(trace.Choice) {
			c.Find(view(r))
		}
	}
	if c.None() {
		return
	}
	s.keepRows()
	for _, r := range s.rows {
		c.Add(view(r))
	}
	c.Join()
	s.whole = &wholes{c, make(map[int32][]int32), make(map[int32]int64)}
	c.Each(func(rows []int32, arrival int64, known bool) {
		for _, n := range rows {
			s.whole.rows[n] = rows
		}
		if known {
			s.whole.arrivals[rows[0]] = arrival
		}
	})
}

// first reports whether the request of row n is counted with it.
func (w *wholes) first(n int32) bool {
	if w == nil {
		return true
	}
	rows := w.rows[n]
	return rows == nil || rows[0] == n
}

// arrival returns when the request of row n arrives, which itself arrives at the
// given time, if that is known.
func (w *wholes) arrival(n int32, at int64, known bool) (int64, bool) {
	if w == nil || w.rows[n] == nil {
		return at, known
	}
	at, known = w.arrivals[w.rows[n][0]]
	return at, known
}

// fold is how the value of a request in a column follows from those of its rows.
type fold uint8

const (
	least  fold = iota // of those that are known
	most               // likewise
	latest             // unknown if one is
	sum                // likewise
)

// folds are the columns that are about the whole of a request. In the others each
// row has what is told of its choice.
var folds = []struct {
	col trace.Col
	how fold
}{
	{trace.ScheduledSend, least}, {trace.Sent, least}, {trace.Received, least}, {trace.Dispatched, least}, {trace.Queued, least},
	{trace.FirstEvent, least}, {trace.FirstToken, least}, {trace.FirstAnswerToken, least},
	{trace.LastToken, latest}, {trace.Finished, latest},
	{trace.PromptTokens, most}, {trace.CachedTokens, most}, {trace.DClientWait, most},
	{trace.OutputTokens, sum}, {trace.ClientTokens, sum}, {trace.ReasoningTokens, sum}, {trace.MaxTokens, sum},
}

// of returns the value of a request in column c, whose rows are those in at.
func (f fold) of(c trace.Col, at []rowAt) (v int64, known bool) {
	for _, a := range at {
		own, ok := a.batch.Ints(c).At(a.row)
		switch {
		case !ok && (f == latest || f == sum):
			return 0, false
		case !ok:
		case !known:
			v, known = own, true
		case f == least:
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
func (s *Session) united(r *resident) *trace.Batch {
	b, some := trace.NewBuilder(trace.Requests), false
	own := r.open()
	for i := range own.Rows {
		n := r.number + int32(i)
		at := []rowAt{{own, i}}
		if rows := s.whole.rows[n]; rows != nil {
			at, some = at[:0], true
			for _, m := range rows {
				from := s.rows[s.find(m)]
				at = append(at, rowAt{from.open(), int(m - from.number)})
			}
		}
		for _, f := range folds {
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
			status = kernel.Worse(status, own)
		}
		b.Code(trace.StatusCol, int32(status))
		b.EndRow()
	}
	if !some {
		return own
	}
	values := b.Take(own.Run, own.File)
	out := own.With(trace.StatusCol, values)
	for _, f := range folds {
		out = out.With(f.col, values)
	}
	return out
}

// passing returns which rows the query's filter keeps: of the rows of a request,
// and of linked rows, all if it keeps one, so that a filter may ask for what any
// choice and any side tells. It is nil where there is no filter.
func (s *Session) passing(q *query.Query, metrics kernel.RowMetric) [][]bool {
	if q.Filter == nil {
		return nil
	}
	var v *kernel.View
	x := q.Filter.Evaluator(func(name string, _ *trace.Batch, values []float64, known []bool) { metrics(name, v, values, known) })
	pass := make([][]bool, len(s.rows))
	for i, r := range open(s.rows) {
		pass[i] = make([]bool, r.batch.Rows)
		v = &kernel.View{Batch: r.batch, RunIndex: r.slot, Base: r.number}
		b := r.batch
		if s.whole != nil {
			v.Links, v.Choices = s.joins, s.whole.choices
			b = s.united(r.resident)
		}
		x.Eval(b, pass[i])
	}
	any := func(rows func(int32) []int32) {
		for i, r := range s.rows {
			for k := range pass[i] {
				for _, m := range rows(r.number + int32(k)) {
					j := s.find(m)
					pass[i][k] = pass[i][k] || pass[j][m-s.rows[j].number]
				}
			}
		}
	}
	if s.whole != nil {
		any(func(n int32) []int32 { return s.whole.rows[n] })
	}
	if s.joins != nil {
		any(s.joins.Rows)
	}
	return pass
}

// together reports whether the verdict on a row may be that on another one.
func (s *Session) together() bool { return s.joins != nil || s.whole != nil }

// verdict is what the time of a request makes of its rows.
type verdict struct {
	keep bool
	why  uint8
}

// verdicts returns what the time of requests of several choices makes of each of
// their rows, by number.
func (s *Session) verdicts(sel *selection) map[int32]verdict {
	if s.whole == nil || sel.edges == nil {
		return nil
	}
	out := make(map[int32]verdict)
	for n, rows := range s.whole.rows {
		if n != rows[0] {
			continue
		}
		v := verdict{false, byTime}
		if at, known := s.whole.arrivals[n]; known {
			r := s.rows[s.find(n)]
			i := int(n - r.number)
			b := r.open()
			names := clocksOf(b)
			e := sel.edges[edgeOf(r.slot, names.at(i))]
			off, _ := b.Ints(trace.Offset).At(i)
			v.keep, v.why = e.judge(position{at, int64(r.file.index), off, r.first + int64(i)})
		}
		for _, m := range rows {
			out[m] = v
		}
	}
	return out
}

// choices returns what kernels need to join rows to requests; nil where every row
// is one.
func (s *Session) choices() *kernel.Choices {
	if s.whole == nil {
		return nil
	}
	return s.whole.choices
}
