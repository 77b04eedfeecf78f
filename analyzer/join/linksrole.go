package join

import (
	"cmp"
	"slices"

	"servescope/analyzer/trace"
)

// outermost orders the sides from outside. A request that several sides saw is
// counted once, by the first of these.
var outermost = [...]trace.Side{trace.Client, trace.Proxy, trace.Server, trace.Engine, trace.Decode, trace.Prefill}

// rank is the position of each side in outermost.
var rank = func() (of [len(outermost)]int) {
	for i, side := range outermost {
		of[side] = i
	}
	return of
}()

// collect lists the rows of each group.
func (l *Links) collect(from *linker) {
	for r := range l.n {
		if from.ring[r] == r {
			l.group[r] = -1
			continue
		}
		if from.parent[r] != r { // the first of a group is its root
			continue
		}
		l.starts = append(l.starts, int32(len(l.members)))
		first := len(l.members)
		l.members = append(l.members, r)
		for m := from.ring[r]; m != r; m = from.ring[m] {
			l.members = append(l.members, m)
		}
		l.halve(l.members[first:])
		slices.SortFunc(l.members[first:], l.order)
	}
	l.starts = append(l.starts, int32(len(l.members)))
	for g := range len(l.starts) - 1 {
		for _, m := range l.members[l.starts[g]:l.starts[g+1]] {
			l.group[m] = int32(g)
		}
	}
}

// order sorts the rows of a request: outermost side first, and on one side the
// row that says most first.
func (l *Links) order(a, b int32) int {
	return cmp.Or(cmp.Compare(rank[l.Side(a)], rank[l.Side(b)]), cmp.Compare(l.quality(b), l.quality(a)), cmp.Compare(a, b))
}

// quality measures how much a row says about the times of its request. It
// decides between rows of the same side: spans, which have stamps in ns, say
// more than lines of a log.
func (l *Links) quality(r int32) int64 {
	v, i := l.at(r)
	s := &v.columns
	n := int64(0)
	for _, c := range [...]trace.Ints{s.first, s.last, s.start[0], s.start[1], s.finished, v.output} {
		if _, ok := c.At(i); ok {
			n++
		}
	}
	step, ok := s.resolution.At(i)
	if !ok || step < 1 {
		step = 1
	}
	fine := int64(0)
	for ; step < 1e12; step *= 10 {
		fine++
	}
	if _, ok := s.first.At(i); ok {
		n += 100 // without a first token the rest is worth little
	}
	if l.node[r] > 0 { // the node's own record comes before a row recorded as a server's
		n -= 1000
	}
	return n + 8*fine
}

// halve finds the rows of a disaggregated request that are recorded as rows of
// one server. The prefill node is asked for one token.
func (l *Links) halve(list []int32) {
	for _, a := range list {
		for _, b := range list {
			if a == b || !l.onPrefill(a, b) {
				continue
			}
			l.node[a] = int8(trace.Prefill) + 1
			if _, room := l.groupOf(b); !room { // else both nodes have the request at once: what the second saw is all of it
				l.node[b] = int8(trace.Decode) + 1
			}
		}
	}
}

// assign assigns a role to every row.
func (l *Links) assign() {
	for r := range l.n {
		v, _ := l.at(r)
		l.sides[v.Part.Run] |= 1 << l.Side(r)
	}
	for r := range l.n {
		v, _ := l.at(r)
		if l.ids && l.Side(r) != l.Counting(v.Part.Run) {
			l.role[r] = Apart
		}
	}
	for g := range len(l.starts) - 1 {
		list := l.members[l.starts[g]:l.starts[g+1]]
		v, _ := l.at(list[0])
		counting := l.Counting(v.Part.Run)
		counted := l.Side(list[0]) == counting
		for i, m := range list {
			switch {
			case i > 0 && slices.ContainsFunc(list[:i], func(o int32) bool { return l.repeats(m, o) }):
				l.role[m] = Repeats
			case counted && l.Side(m) != counting:
				l.role[m] = Linked
			}
		}
	}
}

// repeats reports whether row o, which says more, stands for row m: both have
// the same side, and m is no other attempt or choice.
func (l *Links) repeats(m, o int32) bool {
	if l.Side(m) != l.Side(o) || l.apart(m, o) {
		return false
	}
	n, k := l.number(m), l.number(o)
	return n < 0 || k < 0 || n == k
}

// number returns the number of the prompt or choice in the id of row r, or -1.
func (l *Links) number(r int32) int64 {
	id, _ := l.id(r)
	return strip(id, Prefix|Number|Random|Index).number
}

// nodes finds the rows whose ids identify them as rows of a node of a
// disaggregated deployment, with or without the other half.
func (l *Links) nodes() {
	for r := range l.n {
		v, i := l.at(r)
		if id, ok := v.ids.At(i); ok && l.node[r] == 0 && v.sideOf(i) == trace.Server {
			if side, ok := node(id, value(v.most, i), value(v.output, i)); ok {
				l.node[r] = int8(side) + 1
			}
		}
	}
}
