package decompose

import "servescope/analyzer/trace"

// day is the longest time believed: stamps further apart belong to different clocks.
const day = 86400e9

// span is the time between two neighbouring known boundaries.
type span struct {
	leaves   Set
	from, to int64
}

// spans holds the spans of a row, in the order of the boundaries.
type spans struct {
	list  [boundaries]span
	n     int
	whole bool // the first and the last boundary of the path are known: total is the time between them
	total int64
}

// Parts sets p to the row's time to first token, taken apart by the row alone.
// It reports false where the row has no such total; p then holds the entries
// that it has of one. It does not allocate.
func (r *Row) Parts(p *Parts) bool {
	*p = Parts{Memo: r.Memo}
	w := r.path()
	s := r.spans(w)
	ok := s.whole
	if p.Total, p.Step = s.total, r.Step; !ok {
		p.Step = r.Grain
		p.Total, ok = r.sum()
	}
	inside := w.inside()
	r.own(p, inside)
	if s.whole && r.Step > max(p.Total, 1) {
		p.Coarse = inside &^ (p.Covered() | w.absent)
	} else {
		p.split(&s, r.Step)
		p.join(&s)
		for _, x := range s.list[:s.n] {
			p.fill(x, w, r.Step)
		}
	}
	covered := p.Covered()
	p.Absent = w.absent &^ covered
	p.Outside = (p.Outside | everything&^inside) &^ (covered | p.Absent)
	if s.whole {
		p.measure(s.list[0].from, s.list[s.n-1].to)
	}
	return ok
}

// everything is the set of all stages.
const everything = Set(1<<Leaves - 1)

// spans finds the known boundaries of a path. Boundaries that are a day off the
// first boundary belong to another clock and are left out.
func (r *Row) spans(w *path) (s spans) {
	first, at, set := Unknown, Unknown, Set(0)
	for i, k := range w.stamps {
		if i > 0 {
			set |= w.between[i-1]
		}
		t := r.Stamps[k]
		switch {
		case t == Unknown:
			continue
		case first == Unknown:
			first = t
		case apartBy(first, t) > day:
			continue
		default:
			s.list[s.n] = span{set, at, t}
			s.n++
		}
		at, set = t, 0
	}
	last := r.Stamps[w.stamps[len(w.stamps)-1]]
	if s.n > 0 && first == r.Stamps[w.stamps[0]] && at == last && set == 0 {
		s.whole, s.total = true, last-first
	}
	return s
}

func apartBy(a, b int64) uint64 {
	if a > b {
		a, b = b, a
	}
	return uint64(b) - uint64(a)
}

// sum returns the total of an engine that has no stamps: the sum of its stages,
// which follow one another.
func (r *Row) sum() (int64, bool) {
	wait := &r.Merged[0]
	switch {
	case r.Side == trace.Engine && r.Own[Queue] != Unknown && r.Own[Prefill] != Unknown:
		return r.Own[Queue] + r.Own[Prefill], true
	case r.Side == trace.Decode && r.Carried && r.Own[DecodeQueue] != Unknown && wait.Leaves == remote:
		return r.Own[DecodeQueue] + wait.NS, true
	}
	return 0, false
}

// remote is the work of the prefill node, for which a decode node waits.
var remote = Of(Queue, Prefill, KVTransfer)

// own adds the durations that the row states itself of stages of the total.
func (r *Row) own(p *Parts, inside Set) {
	for l, ns := range r.Own {
		if ns == Unknown {
			continue
		}
		if set := r.local(Leaf(l)); set&inside != 0 && apartBy(ns, 0) <= day {
			p.take(Entry{Leaves: set, NS: ns, From: Unknown, To: Unknown, Step: r.Grain})
		}
	}
	for _, e := range r.Merged {
		if e.Leaves&inside != 0 && apartBy(e.NS, 0) <= day {
			e.Step = r.Grain
			p.take(e)
		}
	}
}

// local returns the stages of the request that a stage of the row's node stands
// for. On a decode node a request leaves the engine's own queue when the KV cache
// has arrived, and the engine's own prefill is the first forward pass.
func (r *Row) local(l Leaf) Set {
	if r.Side == trace.Decode && !r.Carried {
		switch l {
		case Queue:
			return Of(KVTransfer, DecodeQueue)
		case Prefill:
			return Of(FirstDecode)
		}
	}
	return Of(l)
}
