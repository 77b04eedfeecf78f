package decompose

import (
	"math/bits"

	"servescope/analyzer/trace"
)

// TTFT sets p to the time to first token of one request, split into stages by the
// rows of all sides that saw the request. rows belong to one join group and
// attempt, with at most one row per side and node; of several rows the first
// counts. A caller that knows a server or engine to be a prefill or decode node
// says so by the Side of its row. TTFT returns the outermost side that has a total,
// whose total is split: client, else proxy, else server, else engine, decode or
// prefill node. It reports false where no side has a total. For the total of an
// inner side, pass the row of that side and the rows further in. TTFT does not
// allocate.
//
// Stamps of two rows are never subtracted, because their clocks may differ; totals
// may be subtracted. The difference between the totals of a side and of the next
// side inward is {network, client} at a client and proxy at a gateway; without a
// row of a gateway there is assumed to be no gateway. The stages that an engine
// states take precedence over the stages that its server states.
//
// For a disaggregated request the stages of both nodes are combined. The decode
// node waits for the stages of the prefill node: their durations lie inside of that
// wait and are never added to it. Where nodes overlap that are assumed to follow
// one another, the residual is negative. One node alone gives the figures of that
// node.
func TTFT(rows []Row, p *Parts) (side trace.Side, ok bool) {
	if len(rows) == 1 {
		return rows[0].Side, rows[0].Parts(p)
	}
	var by group
	for i := len(rows) - 1; i >= 0; i-- {
		by[rows[i].Side] = &rows[i]
	}
	side, ok = by.inner(p)
	for _, outer := range [...]trace.Side{trace.Proxy, trace.Client} {
		if r := by[outer]; r != nil && p.wrap(r, side, ok && side <= trace.Server) {
			side, ok = outer, true
		}
	}
	return side, ok
}

// group holds the rows of one request by side; nil where the side has no row.
type group [trace.Decode + 1]*Row

// inner takes apart what rows inside of the server tell.
func (by *group) inner(p *Parts) (side trace.Side, ok bool) {
	server, engine := by[trace.Server], by[trace.Engine]
	switch {
	case by[trace.Prefill] != nil || by[trace.Decode] != nil:
		return by.nodes(p)
	case server != nil && engine != nil:
		row := *server
		row.adopt(engine)
		if row.Parts(p) {
			return trace.Server, true
		}
	case server != nil:
		return trace.Server, server.Parts(p)
	}
	if engine != nil {
		return trace.Engine, engine.Parts(p)
	}
	p.reset()
	return trace.Engine, false
}

// adopt makes what the engine says of its stages the row's own account.
func (r *Row) adopt(engine *Row) {
	var q Parts
	engine.Parts(&q)
	for _, e := range q.Entries() {
		r.Grain = max(r.Grain, e.Step)
		if e.Leaves.Len() == 1 {
			r.Own[bits.TrailingZeros16(uint16(e.Leaves))] = e.NS
		} else if !r.states(e.Leaves) && r.Merged[1].Leaves == 0 {
			r.Merged[1] = Entry{Leaves: e.Leaves, NS: e.NS, From: Unknown, To: Unknown}
		}
	}
}

// nodes takes apart what the nodes of a disaggregated deployment tell.
func (by *group) nodes(p *Parts) (side trace.Side, ok bool) {
	p.reset()
	side = trace.Prefill
	prefill, decode := by[trace.Prefill], by[trace.Decode]
	if decode != nil {
		side, ok = trace.Decode, decode.Parts(p)
	}
	switch {
	case decode == nil:
		ok = prefill.Parts(p)
	case prefill != nil:
		p.between(prefill, decode)
	}
	p.Measured, p.Open = false, 0
	server := by[trace.Server]
	if server == nil {
		return side, ok
	}
	var q Parts
	if !server.Parts(&q) {
		return side, ok
	}
	for _, e := range q.Entries() {
		if e.Leaves == Of(Input) { // its other stages belong to a node
			p.within(e)
		}
	}
	p.Total, p.Step, p.Outside = q.Total, q.Step, q.Outside&^p.Covered()
	return trace.Server, true
}
