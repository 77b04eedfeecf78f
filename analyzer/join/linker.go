package join

import (
	"slices"
)

// Options says what names a request.
type Options struct {
	// IDs has rows linked by their request ids; else only what a source groups
	// itself is.
	IDs bool
}

// levels are the decorations taken off one after the other, the surest first. A
// row that is linked on one level may bring its group to others on the next.
var levels = [...]Rule{
	0,
	Prefix,
	Prefix | Number,
	Prefix | Random,
	Prefix | Number | Random,
	Prefix | Index,
	Prefix | Number | Index,
	Prefix | Random | Index,
	Prefix | Number | Random | Index,
	Prefix | Number | Random | Index | Address,
}

// maxGroup is how many rows one request may have: far more than sides, inputs
// and choices give.
const maxGroup = 256

// linker links rows.
type linker struct {
	rows
	table
	parent  []int32  // by row: a row of its group with a smaller number, or itself
	ring    []int32  // by row: the next of its group
	rules   []Rule   // by row: how it was linked
	unclear []uint64 // bitmap of rows whose name is ambiguous
	tally
	all []int32 // scratch: the rows of several groups
}

// tally counts what linking met.
type tally struct {
	duplicates, ambiguous refused
	benchmarks            map[int32]*benchmarks // by run
}

// refused counts names by run and keeps the first rows that have them.
type refused struct {
	by    map[int32]int64
	first []int32
}

// shown is how many names of a run are kept as examples.
const shown = 5

func (x *refused) add(run, r int32) {
	if x.by == nil {
		x.by = make(map[int32]int64)
	}
	if x.by[run]++; x.by[run] <= shown {
		x.first = append(x.first, r)
	}
}

// link makes the groups.
func link(x rows, opt Options) *linker {
	l := &linker{rows: x, parent: make([]int32, x.n), ring: make([]int32, x.n), rules: make([]Rule, x.n), unclear: make([]uint64, (x.n+63)/64)}
	for r := range x.n {
		l.parent[r], l.ring[r] = r, r
	}
	if x.grouped() {
		l.fill(x.n, x.room)
		l.each(func(rows []int32) { l.resolve(rows, Room) })
	}
	l.records()
	if !opt.IDs {
		return l
	}
	possible := x.decorations()
	var done []Rule
	for _, rules := range levels {
		if rules &= possible; slices.Contains(done, rules) {
			continue
		}
		done = append(done, rules)
		l.fill(x.n, l.idName(rules))
		l.each(func(rows []int32) { l.resolve(rows, rules) })
	}
	l.positions()
	return l
}

// idName names a row by its id without the given decorations.
func (l *linker) idName(rules Rule) func(r int32, _ *[]byte) (key, bool) {
	return func(r int32, _ *[]byte) (key, bool) {
		id, ok := l.id(r)
		if !ok || len(id) == 0 || l.isUnclear(r) {
			return key{}, false
		}
		v, _ := l.at(r)
		return key{strip(id, rules), v.Part.Run}, true
	}
}

// root returns the first row of r's group.
func (l *linker) root(r int32) int32 {
	for l.parent[r] != r {
		l.parent[r] = l.parent[l.parent[r]]
		r = l.parent[r]
	}
	return r
}

func (l *linker) isUnclear(r int32) bool { return l.unclear[r>>6]&(1<<(r&63)) != 0 }

// resolve links rows that have one name under the given rules, unless that leaves
// a choice.
func (l *linker) resolve(rows []int32, rules Rule) {
	if l.together(rows) || rules&lossy != 0 && !l.plain(rows, rules) {
		return
	}
	if len(rows) <= maxGroup && l.fits(rows, rules) {
		l.unite(rows, rules)
		return
	}
	l.refuse(rows, rules)
}

// together reports whether the rows are one group already.
func (l *linker) together(rows []int32) bool {
	root := l.root(rows[0])
	return !slices.ContainsFunc(rows[1:], func(r int32) bool { return l.root(r) != root })
}

// plain reports whether one of the rows bears the name without having lost what
// may tell two requests apart.
func (l *linker) plain(rows []int32, rules Rule) bool {
	return slices.ContainsFunc(rows, func(r int32) bool { return l.form(r, rules).used&lossy == 0 })
}

func (l *linker) form(r int32, rules Rule) form {
	id, _ := l.id(r)
	return strip(id, rules)
}

// fits reports whether the groups of the rows can be one request: no source has
// two requests in it.
func (l *linker) fits(rows []int32, rules Rule) bool {
	l.all = l.all[:0]
	for i, r := range rows {
		if !slices.ContainsFunc(rows[:i], func(o int32) bool { return l.root(o) == l.root(r) }) {
			l.all = append(l.all, r)
			for m := l.ring[r]; m != r; m = l.ring[m] {
				l.all = append(l.all, m)
			}
		}
		if len(l.all) > maxGroup {
			return false
		}
	}
	for i, a := range l.all {
		for _, b := range l.all[:i] {
			if l.source(a) == l.source(b) && l.root(a) != l.root(b) && !l.compatible(a, b, rules) {
				return false
			}
		}
	}
	return true
}

// compatible reports whether two rows of one source can be of one request: they
// are sequences or attempts of it, or the two halves of a disaggregated one.
func (l *linker) compatible(a, b int32, rules Rule) bool {
	if rules == Room {
		return l.apart(a, b) || l.halves(a, b)
	}
	f, g := l.form(a, rules), l.form(b, rules)
	if string(f.text) != string(g.text) {
		return false
	}
	return l.apart(a, b) || f.number != g.number || l.halves(a, b)
}

// unite links the rows and their groups.
func (l *linker) unite(rows []int32, rules Rule) {
	for _, r := range rows {
		if used := l.used(r, rules); l.ring[r] == r {
			l.rules[r] = used
		}
	}
	first := rows[0]
	for _, r := range rows[1:] {
		a, b := l.root(first), l.root(r)
		if a == b {
			continue
		}
		l.parent[max(a, b)] = min(a, b)
		l.ring[first], l.ring[r] = l.ring[r], l.ring[first]
	}
}

// used returns the rules by which the name of r came about.
func (l *linker) used(r int32, rules Rule) Rule {
	if rules&(Room|Position) != 0 {
		return rules
	}
	return l.form(r, rules).used
}

// refuse counts a name that leaves a choice: one that a source has given to two
// requests, or that several rows would have.
func (l *linker) refuse(rows []int32, rules Rule) {
	v, _ := l.at(rows[0])
	source := l.source(rows[0])
	alone := !slices.ContainsFunc(rows, func(r int32) bool { return l.source(r) != source })
	switch {
	case alone && rules == 0:
		l.duplicates.add(v.Part.Run, rows[0])
	case alone:
		return
	case rules != 0 && !slices.ContainsFunc(rows, func(r int32) bool { return l.ring[r] == r }):
		return // all are linked under names that say more
	default:
		l.ambiguous.add(v.Part.Run, rows[0])
	}
	if rules == Room {
		return // the id may say more
	}
	for _, r := range rows {
		if rules == 0 || l.ring[r] == r {
			l.unclear[r>>6] |= 1 << (r & 63)
		}
	}
}
