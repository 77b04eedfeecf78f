package decompose

import "servescope/analyzer/trace"

// Row holds the stamps and durations of a row of the requests table that concern
// its time to first token. All are in ns, Unknown where null; the stamps are on
// the one clock of the row.
type Row struct {
	Side   trace.Side
	Step   int64 // resolution of the stamps
	Grain  int64 // resolution of the durations
	Stamps [boundaries]int64
	Own    [Leaves]int64 // durations of single stages
	Merged [2]Entry      // durations of several; no stages: none
	Memo   [Memos]int64

	// Carried tells that a decode node gets the first token with the KV cache and
	// runs no forward pass for it, as SGLang's do. vLLM's compute the last token
	// of the prompt again.
	Carried bool
}

// Boundaries of stages, by their columns. At a client the first is sent.
const (
	atStart = iota // received; sent at a client
	atDispatch
	atQueued
	atAdmitted
	atPrefillEnd
	atFirst // first token, else first event

	boundaries
)

// Columns reads the rows of a batch of the requests table, until the batch
// changes. It may be used by several goroutines at a time.
type Columns struct {
	side, engine      trace.Dicts
	step, grain       trace.Ints
	sent, event       trace.Ints
	stamps, own, memo []column // those that are not null throughout
	merged            []mergedColumn
	none              Row // a row without values
}

// column is one of a row's values: at is its index in the row.
type column struct {
	at     int
	values trace.Ints
}

type mergedColumn struct {
	column
	names trace.Dicts
	sets  []Set // by code of names
}

// ColumnsOf returns the columns of b.
func ColumnsOf(b *trace.Batch) *Columns {
	c := &Columns{
		side: b.Dicts(trace.SideCol), engine: b.Dicts(trace.EngineCol),
		step: b.Ints(trace.Resolution), grain: b.Ints(trace.DResolution), sent: b.Ints(trace.Sent), event: b.Ints(trace.FirstEvent),
		none: Row{Side: b.Run.Side, Carried: carried(b.Run.Engine)},
	}
	add := func(list *[]column, at int, col trace.Col) {
		if b.Has(col) {
			*list = append(*list, column{at, b.Ints(col)})
		}
	}
	for i, col := range [...]trace.Col{trace.Received, trace.Dispatched, trace.Queued, trace.Admitted, trace.PrefillEnd, trace.FirstToken} {
		c.none.Stamps[i] = Unknown
		add(&c.stamps, i, col)
	}
	for l := range c.none.Own {
		if c.none.Own[l] = Unknown; Leaf(l) >= Proxy {
			add(&c.own, l, trace.DProxy+trace.Col(l)-trace.Col(Proxy))
		}
	}
	for i, cols := range [...][2]trace.Col{{trace.DMerged, trace.MergedLeaves}, {trace.DMerged2, trace.MergedLeaves2}} {
		if !b.Has(cols[0]) || !b.Has(cols[1]) {
			continue
		}
		m := mergedColumn{column: column{i, b.Ints(cols[0])}, names: b.Dicts(cols[1])}
		for _, name := range m.names.Values {
			set, _ := ParseSet(name) // of names that are no stages nothing is known
			m.sets = append(m.sets, set)
		}
		c.merged = append(c.merged, m)
	}
	for i, col := range [...]trace.Col{ClientWait: trace.DClientWait, Multimodal: trace.DMM, Bootstrap: -1} {
		if c.none.Memo[i] = Unknown; col >= 0 {
			add(&c.memo, i, col)
		}
	}
	return c
}

// Row sets r to row i.
func (c *Columns) Row(i int, r *Row) {
	*r = c.none
	if code, ok := c.side.At(i); ok {
		r.Side = trace.Side(code)
	}
	if code, ok := c.engine.At(i); ok {
		r.Carried = carried(c.engine.Values[code])
	}
	r.Step, r.Grain = max(1, at(c.step, i, 1)), max(1, at(c.grain, i, 1))
	for k := range c.stamps {
		r.Stamps[c.stamps[k].at] = at(c.stamps[k].values, i, Unknown)
	}
	if r.Side == trace.Client {
		r.Stamps[atStart] = at(c.sent, i, Unknown)
	}
	if r.Stamps[atFirst] == Unknown {
		r.Stamps[atFirst] = at(c.event, i, Unknown)
	}
	for k := range c.own {
		r.Own[c.own[k].at] = at(c.own[k].values, i, Unknown)
	}
	for k := range c.merged {
		m := &c.merged[k]
		ns, known := m.values.At(i)
		if code, ok := m.names.At(i); ok && known {
			r.Merged[m.at] = Entry{Leaves: m.sets[code], NS: ns, From: Unknown, To: Unknown}
		}
	}
	for k := range c.memo {
		r.Memo[c.memo[k].at] = at(c.memo[k].values, i, Unknown)
	}
}

// Begin sets where the row's total begins and ends, in ns on its clock. For a
// request with several sequences the caller gives the stamps of the earliest one.
func (r *Row) Begin(start, first int64) {
	from := atStart
	if r.Side >= trace.Engine {
		from = atQueued
	}
	r.Stamps[from], r.Stamps[atFirst] = start, first
}

// Inward turns the row of a server into the row of its engine, whose total ends
// with the prefill. It reports false where the row does not stamp the prefill.
func (r *Row) Inward() bool {
	if r.Stamps[atQueued] == Unknown || r.Stamps[atPrefillEnd] == Unknown {
		return false
	}
	r.Side, r.Stamps[atFirst] = trace.Engine, r.Stamps[atPrefillEnd]
	return true
}

func carried(engine string) bool { return engine == "sglang" }

// at returns value i of a column, or what stands for null.
func at(c trace.Ints, i int, null int64) int64 {
	if v, ok := c.At(i); ok {
		return v
	}
	return null
}
