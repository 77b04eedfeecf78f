package breakdown

import (
	"cmp"
	"maps"
	"slices"

	"servescope/analyzer/decompose"
	"servescope/analyzer/join"
	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/cell"
	"servescope/analyzer/kernel/request"
	"servescope/analyzer/metric"
	"servescope/analyzer/trace"
)

type state struct {
	cell.State[cohorts, *cohorts]
	asked *metric.Definition

	offsets map[clocksKey]int64 // by how much the clocks of a server and its engine differ at most, ns
}

// Update implements State.
func (s *state) Update(v *kernel.View) {
	x := s.Begin(v)
	columns := decompose.ColumnsOf(v.Batch)
	var p decompose.Parts
	rows := make([]decompose.Row, 1, 8) // of the row, then of its peers
	others := linkedRows(v.Links, v.Base)
	var ways serverEngines
	for i := range v.Rows {
		w, selected := x.Next(i)
		if !selected || w.Sibling {
			continue
		}
		s.Cells.MakeRoom()
		q := w.Request()
		columns.Row(i, &rows[0])
		rows[0].Side = w.Side
		rows = inward(others(i, rows[:1]))
		place := x.Place(q, x.Group[i], q.Arrival())
		why := s.takeApart(q, rows, &p)
		s.unjoined(x, i, w, place)
		c := s.Cells.At(place, 1)
		c.rows++
		if why == metric.None {
			c.add(&p)
			s.boundIngress(x, i, w, &ways, c.last, &p)
			s.boundTTFT(x, i, w, &ways, c.last, p.Total)
			if q.EventOnly() {
				c.events++
			}
			continue
		}
		c.excluded.Add(why, 1)
		if (q.Status == trace.Aborted || q.Status == trace.Open) && !q.Emitted() {
			c.censored++
		}
		if len(rows) == 1 && w.Side == trace.Server && w.Role != join.Apart && q.Cohort(s.Def) == metric.None && rows[0].Inward() && rows[0].Parts(&p) {
			place.Side = int32(trace.Engine)
			c = s.Cells.At(place, 0)
			c.rows++
			c.add(&p)
		}
	}
}

// inward drops the peers that are further out than the first row: its total is
// within theirs. The nodes of a disaggregated deployment are beside each other.
func inward(rows []decompose.Row) []decompose.Row {
	own := rows[0].Side
	kept := 1
	for _, r := range rows[1:] {
		if r.Side > own || own == trace.Decode && r.Side == trace.Prefill {
			rows[kept] = r
			kept++
		}
	}
	return rows[:kept]
}

// linkedRows returns a function that appends to dst what the rows of other sides
// tell of the request of row i. It is for one goroutine.
func linkedRows(links *join.Links, base int32) func(i int, dst []decompose.Row) []decompose.Row {
	columns := make(map[*trace.Batch]*decompose.Columns)
	return func(i int, dst []decompose.Row) []decompose.Row {
		if links == nil {
			return dst
		}
		own := base + int32(i)
		for _, m := range links.Rows(own) {
			if m == own || links.Role(m) == join.Repeats {
				continue
			}
			b, k := links.At(m)
			c := columns[b]
			if c == nil {
				c = decompose.ColumnsOf(b)
				columns[b] = c
			}
			dst = append(dst, decompose.Row{})
			c.Row(k, &dst[len(dst)-1])
			dst[len(dst)-1].Side = links.Side(m)
		}
		return dst
	}
}

// unjoined counts a request that is counted further out, and that no server's row
// is linked to, where there are rows of servers.
func (s *state) unjoined(x *cell.Batch, i int, w *request.Row, to cell.Place) {
	if x.Links == nil || !x.Links.Joined() || w.Role != join.Counts || w.Side >= trace.Server || !x.Links.Seen(x.RunIndex).Has(trace.Server) {
		return
	}
	for _, m := range x.Links.Rows(x.First + int32(i)) {
		if x.Links.Side(m) == trace.Server {
			return
		}
	}
	to.Side = int32(trace.Server)
	c := s.Cells.At(to, 1)
	c.rows++
	c.excluded.Add(metric.NotJoined, 1)
}

// takeApart sets p to the parts of a request, of which the first of rows is the
// row, or returns why it has no total.
func (s *state) takeApart(q *request.Row, rows []decompose.Row, p *decompose.Parts) metric.Reason {
	value := request.TTFT
	if q.Side >= trace.Engine {
		value = request.TTFTEngine
	}
	_, why := value(q, s.Def)
	switch {
	case why == metric.None:
		rows[0].Begin(q.Start, q.First(s.Def))
		if _, ok := decompose.TTFT(rows, p); !ok {
			return metric.NotRecorded
		}
	case why == metric.NotRecorded && q.Side >= trace.Engine && q.Cohort(s.Def) == metric.None:
		if rows[0].Parts(p) { // its stages alone make the total
			return metric.None
		}
	}
	return why
}

// Merge implements State.
func (s *state) Merge(other kernel.State) error {
	o, ok := other.(*state)
	if !ok {
		return cell.MergeError(s, other)
	}
	for key, off := range o.offsets {
		if least, known := s.offsets[key]; !known || off < least {
			s.offset(key, off)
		}
	}
	return s.MergeCells(&o.State)
}

func (s *state) offset(key clocksKey, off int64) {
	if s.offsets == nil {
		s.offsets = make(map[clocksKey]int64)
	}
	s.offsets[key] = off
}

// AppendState implements State.
func (s *state) AppendState(dst []byte) []byte {
	dst = cell.AppendInts(s.State.AppendState(dst), int64(len(s.offsets)))
	keys := slices.Collect(maps.Keys(s.offsets))
	slices.SortFunc(keys, func(a, b clocksKey) int { return cmp.Or(cmp.Compare(a.run, b.run), cmp.Compare(a.name, b.name)) })
	for _, key := range keys {
		dst = cell.AppendInts(cell.AppendText(cell.AppendInts(dst, int64(key.run)), key.name), s.offsets[key])
	}
	return dst
}

// LoadState implements State.
func (s *state) LoadState(src []byte) error {
	r := &cell.Reader{Src: src}
	s.Base.LoadRuns(r)
	s.Cells.Load(r)
	for n := r.Count(); n > 0 && r.Err == nil; n-- {
		key := clocksKey{int32(r.Int()), r.Text()}
		s.offset(key, r.Int())
	}
	return r.Done()
}

// Settle sums up the parts of the requests that give a run's latencies. Without
// windows each place is one cell.
func (s *state) Settle() {
	for p, c := range s.Cells.ByPlace {
		info := s.Runs[p.Run]
		if info != nil && p.Window == kernel.NoWindow && p.Side == int32(info.LatencySide(s.Def)) && len(c.bySignature) > 0 {
			c.totals = s.total(c, true)
		}
	}
}

// boundIngress learns from row i, whose request is taken apart as p, how the clocks of its
// server and its engine differ at least.
func (s *state) boundIngress(x *cell.Batch, i int, w *request.Row, ways *serverEngines, c *cohort, p *decompose.Parts) {
	if x.Links == nil || w.Side != trace.Server || w.FirstToken == request.None || w.Start == request.None {
		return
	}
	rest := int64(request.None)
	for _, e := range p.Entries() {
		if e.Leaves == unnamed {
			rest = e.NS
		}
	}
	if rest == request.None {
		return
	}
	ways.Links = x.Links
	for _, m := range x.Links.Rows(x.First + int32(i)) {
		if x.Links.Side(m) != trace.Engine || x.Links.Role(m) == join.Repeats {
			continue
		}
		engine := ways.At(m)
		b, j := x.Links.At(m)
		key, ok := ways.key(x, i, b, j)
		if !ok || engine.Start == request.None || engine.FirstToken == request.None {
			return
		}
		off := w.FirstToken - engine.FirstToken
		if least, known := s.offsets[key]; !known || off < least {
			s.offset(key, off)
		}
		c.ingressOf(key.name).add(engine.Start-w.Start, rest)
		return
	}
}

// boundTTFT learns from row i of an engine, whose time to first token is total.
func (s *state) boundTTFT(x *cell.Batch, i int, w *request.Row, ways *serverEngines, c *cohort, total int64) {
	if x.Links == nil || w.Side != trace.Engine || w.FirstToken == request.None || w.LastToken < w.FirstToken || w.MultiChoice != nil {
		return
	}
	ways.Links = x.Links
	for _, m := range x.Links.Rows(x.First + int32(i)) {
		if x.Links.Side(m) != trace.Server || x.Links.Role(m) == join.Repeats {
			continue
		}
		if server := ways.At(m); server.FirstToken == request.None && server.FirstEvent == request.None && server.Start != request.None && server.Finished != request.None {
			c.ttftServer.low.Add(total)
			c.ttftServer.high.Add(server.Finished - server.Start - (w.LastToken - w.FirstToken))
		}
		return
	}
}
