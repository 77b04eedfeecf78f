package join

import "servescope/analyzer/trace"

// Role says how a row contributes to its request.
type Role uint8

// The roles. Every row has one.
const (
	// Counts: the request is counted with this row.
	Counts Role = iota
	// Linked: the request is counted with a row of another side. This row holds
	// what its own side saw.
	Linked
	// Repeats: another row of the same side stands for this one. No figure
	// includes it.
	Repeats
	// Apart: the run counts requests at an outer side, and no row of that side
	// belongs to this one. No figure of the run includes it.
	Apart
)

// Links says which rows belong to one request. It is read-only, and safe for
// concurrent use.
type Links struct {
	rows
	tally
	rules   []Rule  // by row: how it was linked
	role    []Role  // by row
	node    []int8  // by row: 1 + the side, where it differs from the side that the source states
	group   []int32 // by row: number of its group, or -1
	starts  []int32 // by group: index of its first entry in members; then the end
	members []int32 // rows of groups, outermost first
	sides   map[int32]Sides
	beams   map[int32]bool // groups with a row that used beam search
	ids     bool
}

// Sides is a set of sides.
type Sides uint8

// Has reports whether side is in the set.
func (s Sides) Has(side trace.Side) bool { return s&(1<<side) != 0 }

// Link links the rows of parts, which hold all rows of the runs in order. It
// returns nil if nothing can be linked. It needs 40 bytes for each row while it
// runs. The result takes 10 bytes for each row, and another 4 for each linked
// row.
func Link(parts []Part, opt Options) *Links {
	x := newRows(parts)
	if !opt.IDs && !x.grouped() && !x.paired() && !x.nameless() {
		return nil
	}
	l := link(x, opt)
	out := &Links{rows: x, tally: l.tally, rules: l.rules, role: make([]Role, x.n), node: make([]int8, x.n), group: make([]int32, x.n), sides: make(map[int32]Sides), beams: make(map[int32]bool), ids: opt.IDs}
	out.nodes()
	out.collect(l)
	out.assign()
	out.findBeams()
	return out
}

func newRows(parts []Part) rows {
	var x rows
	type record struct {
		input int32
		key   int64
	}
	sources := make(map[record]int32)
	for _, p := range parts {
		v := viewOf(p)
		at := record{p.Input, p.Batch.Run.Key}
		n, ok := sources[at]
		if !ok {
			n = int32(len(sources)) * int32(len(outermost))
			sources[at] = n
		}
		v.source = n
		x.views = append(x.views, v)
		x.n = p.First + int32(p.Rows)
	}
	return x
}

// Role returns the role of row r.
func (l *Links) Role(r int32) Role { return l.role[r] }

// Side returns the side of row r: the side that its source states, or the side
// that its request implies. A node of a disaggregated deployment may be
// recorded as a server.
func (l *Links) Side(r int32) trace.Side {
	if n := l.node[r]; n > 0 {
		return trace.Side(n - 1)
	}
	return l.side(r)
}

// Rows returns the rows of the request of row r, including r, from the
// outermost side inwards. It returns nil if r is the only row. The slice is
// read-only.
func (l *Links) Rows(r int32) []int32 {
	g := l.group[r]
	if g < 0 {
		return nil
	}
	return l.members[l.starts[g]:l.starts[g+1]]
}

// findBeams finds the groups with a row that used beam search.
func (l *Links) findBeams() {
	for k := range l.views {
		v := &l.views[k]
		all := v.Part.Batch.Run.BeamSearch()
		for i := range v.Rows {
			said, ok := v.beams.At(i)
			if g := l.group[v.First+int32(i)]; g >= 0 && (all || ok && said) {
				l.beams[g] = true
			}
		}
	}
}

// BeamSearch reports whether another row of the request of row r, or that row's
// run, says that it used beam search: one side's record of how a request was
// decoded holds for all sides. A nil Links has no other rows.
func (l *Links) BeamSearch(r int32) bool {
	return l != nil && len(l.beams) > 0 && l.beams[l.group[r]]
}

// Lead returns the row that the request of row r is counted with, or r if there
// is none.
func (l *Links) Lead(r int32) int32 {
	for _, m := range l.Rows(r) {
		if l.role[m] == Counts {
			return m
		}
	}
	return r
}

// At returns the batch of row r and its index in it.
func (l *Links) At(r int32) (*trace.Batch, int) {
	v, i := l.at(r)
	return v.Part.Batch, i
}

// Joined reports whether rows were linked by their ids. Only then is a row
// without another row of its request known to have none.
func (l *Links) Joined() bool { return l.ids }

// Sequence reports whether row r is one of several sequences of its request, by
// the numbers in their ids. It returns the first row of these and the number of
// r. A nil Links has none.
func (l *Links) Sequence(r int32) (first int32, number int64, ok bool) {
	if l == nil || l.role[r] == Repeats {
		return 0, 0, false
	}
	list := l.Rows(r)
	if list == nil {
		return 0, 0, false
	}
	number, first = l.number(r), r
	for _, m := range list {
		if m == r || l.role[m] == Repeats || l.Side(m) != l.Side(r) || number < 0 {
			continue
		}
		if n := l.number(m); n >= 0 && n != number {
			first, ok = min(first, m), true
		}
	}
	return first, number, ok
}

// Own returns the id of row r as its source writes it.
func (l *Links) Own(r int32) ([]byte, bool) {
	v, i := l.at(r)
	return v.ids.At(i)
}

// Seen returns the sides of the rows of a run.
func (l *Links) Seen(run int32) Sides { return l.sides[run] }

// Counting returns the side that counts the requests of a run: the outermost
// side that the run has.
func (l *Links) Counting(run int32) trace.Side {
	for _, side := range outermost {
		if l.sides[run].Has(side) {
			return side
		}
	}
	return trace.Client
}

// Name returns the name that links the rows of the request of row r: the id of
// the outermost row that has one, or else the join_group of its source. If r is
// the only row, Name returns only the join_group.
func (l *Links) Name(r int32) ([]byte, bool) {
	list := l.Rows(r)
	for _, m := range list {
		if id, ok := l.id(m); ok {
			return id, true
		}
	}
	for _, m := range list {
		if text, ok := l.groupOf(m); ok {
			return room(nil, text), true
		}
	}
	return l.groupOf(r)
}

// groupOf returns the join_group that the source of row r states.
func (l *Links) groupOf(r int32) ([]byte, bool) {
	v, i := l.at(r)
	return v.groups.At(i)
}
