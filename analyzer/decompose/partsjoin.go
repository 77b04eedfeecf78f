package decompose

import "servescope/analyzer/trace"

// reset empties p.
func (p *Parts) reset() {
	*p = Parts{}
	for i := range p.Memo {
		p.Memo[i] = Unknown
	}
}

// between adds the stages of the prefill node to the stages of the decode node.
// The two nodes work at the same time where the decode node waits for the whole
// prefill: then the way to the prefill node and back is not a part of the total.
func (p *Parts) between(prefill, decode *Row) {
	var q Parts
	prefill.Parts(&q)
	parallel := decode.Carried || decode.Merged[0].Leaves&remote == remote
	for _, e := range q.Entries() {
		if !parallel || e.Leaves&^remote == 0 {
			p.within(e)
		}
	}
	t, queued := prefill.Stamps[atStart], prefill.Stamps[atQueued]
	if parallel && t != Unknown && queued != Unknown && prefill.Stamps[atDispatch] == Unknown {
		p.Memo[Bootstrap] = queued - t // the scheduler received it
	}
}

// within adds an entry that is the finer account of one that holds its stages:
// it is subtracted from that. The same stages of two nodes outside of the
// engines add up.
func (p *Parts) within(e Entry) {
	e.From, e.To = Unknown, Unknown
	for i, o := range p.Entries() {
		if e.Leaves&^o.Leaves != 0 || e.Leaves == o.Leaves && e.Leaves&^remote != 0 {
			continue
		}
		p.remove(i)
		o = Entry{Leaves: o.Leaves &^ e.Leaves, NS: o.NS - e.NS, From: Unknown, To: Unknown, Step: max(o.Step, e.Step)}
		if o.Leaves != 0 { // without stages, the rest of the entry is residual
			p.insert(o)
		}
		break
	}
	p.add(e)
}

// wrap extends p from the total of the side inner to the total of r, a side further
// out. next says that the total of inner is a part of the total of r.
func (p *Parts) wrap(r *Row, inner trace.Side, next bool) bool {
	var q Parts
	if !r.Parts(&q) {
		return false
	}
	own := Of(Proxy)
	if r.Side == trace.Client {
		own = Of(Network, Client)
		p.Memo[ClientWait] = r.Memo[ClientWait]
	}
	if next {
		if r.Side == trace.Client && inner == trace.Server {
			p.Absent |= Of(Proxy)
		}
		p.within(Entry{Leaves: own, NS: q.Total - p.Total, Step: max(p.Step, q.Step)})
		p.Outside &^= own | p.Absent
	} else {
		for _, e := range q.Entries() {
			if e.Leaves&p.Covered() == 0 {
				p.within(e)
			}
		}
		p.Outside = q.Outside &^ (p.Covered() | p.Absent)
	}
	p.Total, p.Step, p.Measured, p.Open = q.Total, max(p.Step, q.Step), false, 0
	return true
}
