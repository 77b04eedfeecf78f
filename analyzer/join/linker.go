package join

import (
	"slices"
)

// Options says which names link rows.
type Options struct {
	// IDs makes request ids link rows. Otherwise only groups that a source
	// writes itself link rows.
	IDs bool
}

// levels are the sets of decorations to remove, the most certain first. A row
// linked on one level may link its group to others on a later level.
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

// maxGroup is the maximum number of rows of one request: far more than sides,
// inputs and choices give.
const maxGroup = 256

// linker links rows.
type linker struct {
	rows
	table
	parent  []int32  // by row: a row of its group with a smaller number, or the row itself
	ring    []int32  // by row: the next row of its group
	rules   []Rule   // by row: how it was linked
	unclear []uint64 // bitmap of rows with an ambiguous name
	tally
	all []int32 // scratch: the rows of several groups
}

// tally counts names that linked nothing.
type tally struct {
	duplicates, ambiguous refused
	benchmarks            map[int32]*benchmarks // by run
}

// refused counts names by run and keeps the first rows that have them.
type refused struct {
	by    map[int32]int64
	first []int32
}

// shown is the number of names of a run that are kept as examples.
const shown = 5

func (x *refused) add(run, r int32) {
	if x.by == nil {
		x.by = make(map[int32]int64)
	}
	if x.by[run]++; x.by[run] <= shown {
		x.first = append(x.first, r)
	}
}

// link links the rows into groups.
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

// resolve links rows that have one name under the given rules, unless the name
// is ambiguous.
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

// together reports whether the rows are already in one group.
func (l *linker) together(rows []int32) bool {
	root := l.root(rows[0])
	return !slices.ContainsFunc(rows[1:], func(r int32) bool { return l.root(r) != root })
}

// plain reports whether one of the rows has the name without losing text that
// may distinguish two requests.
func (l *linker) plain(rows []int32, rules Rule) bool {
	return slices.ContainsFunc(rows, func(r int32) bool { return l.form(r, rules).used&lossy == 0 })
}

func (l *linker) form(r int32, rules Rule) form {
	id, _ := l.id(r)
	return strip(id, rules)
}

// fits reports whether the groups of the rows can be one request: then no
// source has two requests in them.
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

// compatible reports whether two rows of one source can belong to one request:
// as choices or attempts, or as the two halves of a disaggregated request.
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

// used returns the rules that gave r its name.
func (l *linker) used(r int32, rules Rule) Rule {
	if rules&(Room|Position) != 0 {
		return rules
	}
	return l.form(r, rules).used
}

// refuse counts an ambiguous name: a source has given it to two requests, or
// several rows could have it.
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
		return // other names link all of them
	default:
		l.ambiguous.add(v.Part.Run, rows[0])
	}
	if rules == Room {
		return // the id may still link them
	}
	for _, r := range rows {
		if rules == 0 || l.ring[r] == r {
			l.unclear[r>>6] |= 1 << (r & 63)
		}
	}
}
