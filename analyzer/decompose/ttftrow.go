package decompose

import "servescope/analyzer/trace"

// Row is what a row of the requests table says of its time to first token. All
// stamps and durations are in ns, Unknown where null; the stamps are on the
// row's one clock.
type Row struct {
	Side   trace.Side
	Step   int64 // resolution of the stamps
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

// Columns reads the rows of a batch of the requests table. It may be used by one
// goroutine, until the batch changes.
type Columns struct {
	side   trace.Dicts
	engine trace.Dicts
	run    *trace.RunMeta
	step   trace.Ints
	sent   trace.Ints
	stamps [boundaries]trace.Ints
	event  trace.Ints
	own    [Leaves]trace.Ints
	merged [2]trace.Ints
	names  [2]trace.Dicts
	sets   [2][]Set // by code of names
	memo   [Memos]trace.Ints
}

// ColumnsOf returns the columns of b.
func ColumnsOf(b *trace.Batch) *Columns {
	c := &Columns{
		side: b.Dicts(trace.SideCol), engine: b.Dicts(trace.EngineCol), run: b.Run,
		step: b.Ints(trace.Resolution), sent: b.Ints(trace.Sent), event: b.Ints(trace.FirstEvent),
	}
	for i, col := range [...]trace.Col{trace.Received, trace.Dispatched, trace.Queued, trace.Admitted, trace.PrefillEnd, trace.FirstToken} {
		c.stamps[i] = b.Ints(col)
	}
	for l := Proxy; int(l) < Leaves; l++ {
		col := trace.DProxy + trace.Col(l-Proxy)
		c.own[l] = b.Ints(col)
	}
	for i, cols := range [...][2]trace.Col{{trace.DMerged, trace.MergedLeaves}, {trace.DMerged2, trace.MergedLeaves2}} {
		c.merged[i], c.names[i] = b.Ints(cols[0]), b.Dicts(cols[1])
		for _, name := range c.names[i].Values {
			set, _ := ParseSet(name) // of names that are no stages nothing is known
			c.sets[i] = append(c.sets[i], set)
		}
	}
	c.memo[ClientWait], c.memo[Multimodal] = b.Ints(trace.DClientWait), b.Ints(trace.DMM)
	return c
}

// Row sets r to row i.
func (c *Columns) Row(i int, r *Row) {
	r.Side = c.run.Side
	if code, ok := c.side.At(i); ok {
		r.Side = trace.Side(code)
	}
	r.Carried = carried(c.run.Engine)
	if code, ok := c.engine.At(i); ok {
		r.Carried = carried(c.engine.Values[code])
	}
	r.Step = max(1, at(c.step, i, 1))
	for k := range r.Stamps {
		r.Stamps[k] = at(c.stamps[k], i, Unknown)
	}
	if r.Side == trace.Client {
		r.Stamps[atStart] = at(c.sent, i, Unknown)
	}
	if r.Stamps[atFirst] == Unknown {
		r.Stamps[atFirst] = at(c.event, i, Unknown)
	}
	for l := range r.Own {
		r.Own[l] = at(c.own[l], i, Unknown)
	}
	for k := range r.Merged {
		r.Merged[k] = Entry{NS: at(c.merged[k], i, Unknown), From: Unknown, To: Unknown}
		if code, ok := c.names[k].At(i); ok && r.Merged[k].NS != Unknown {
			r.Merged[k].Leaves = c.sets[k][code]
		}
	}
	for k := range r.Memo {
		r.Memo[k] = at(c.memo[k], i, Unknown)
	}
}

// Begin sets where the row's total begins and ends, in ns on its clock: of a
// request of several sequences they are those of the earliest.
func (r *Row) Begin(start, first int64) {
	from := atStart
	if r.Side >= trace.Engine {
		from = atQueued
	}
	r.Stamps[from], r.Stamps[atFirst] = start, first
}

// Inward makes the row of a server that of its engine, whose total ends with the
// prefill. It reports false where the row does not stamp it.
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
