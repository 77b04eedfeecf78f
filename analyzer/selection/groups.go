package selection

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"servescope/analyzer/dataset"
	"servescope/analyzer/trace"
)

// MaxGroups is how many groups a report holds; the smallest of more are united.
const MaxGroups = 1000

// OtherGroup stands for every dimension of the group of those beyond maxGroups.
const OtherGroup = "(other)"

// Groups numbers the combinations of the values of a query's dimensions. While
// it learns them it is used by one goroutine; after finish it is read-only.
type Groups struct {
	dims   []*dimension
	pairs  []map[pair]int32 // by level: the number of a combination of the first level+1 dimensions
	tuples [][][]int32      // by level and number: the values
	final  []int32          // by number on the last level: the number in the report, or -1
	Names  []map[string]string
	United int   // groups that became one
	Rest   int64 // requests of these
}

// pair extends a combination by a value of the next dimension.
type pair struct{ group, value int32 }

// dimension numbers the values of one dimension; 0 is null.
type dimension struct {
	name   string
	col    trace.Col
	count  bool // a token count, in buckets by powers of two
	index  map[string]int32
	values []string
}

func newGroups(by []string) *Groups {
	g := &Groups{}
	for _, name := range by {
		d := &dimension{name: name, index: make(map[string]int32), values: []string{""}}
		if name != "run" && name != "file" {
			d.col, _ = trace.Requests.Lookup(name)
			d.count = trace.Requests.Fields[d.col].Type == trace.Int64
		}
		g.dims = append(g.dims, d)
		g.pairs = append(g.pairs, make(map[pair]int32))
		g.tuples = append(g.tuples, nil)
	}
	return g
}

// known reports whether g is finished: nothing is added any more.
func (g *Groups) known() bool { return g.Names != nil }

// of sets out to the group of each row of b, in the numbers before finish; -1
// for a combination that a finished g does not know. What a row does not tell,
// those that it is linked to may.
func (g *Groups) of(b *trace.Batch, f *dataset.Input, out []int32, scratch *[]int32, linked linkedValues) {
	clear(out)
	ids := slices.Grow((*scratch)[:0], b.Rows)[:b.Rows]
	*scratch = ids
	for level, d := range g.dims {
		d.ids(b, f, ids, g.known())
		linked.complete(d, ids)
		var last pair
		number := int32(-1)
		for i, value := range ids {
			if p := (pair{out[i], value}); i == 0 || p != last {
				last, number = p, g.number(level, p)
			}
			out[i] = number
		}
	}
}

func (g *Groups) number(level int, p pair) int32 {
	if n, ok := g.pairs[level][p]; ok {
		return n
	}
	if g.known() {
		return -1
	}
	var tuple []int32
	if level > 0 {
		tuple = append(tuple, g.tuples[level-1][p.group]...)
	}
	n := int32(len(g.tuples[level]))
	g.tuples[level] = append(g.tuples[level], append(tuple, p.value))
	g.pairs[level][p] = n
	return n
}

// ids sets out to the number of each row's value; -1 for a new one if known.
func (d *dimension) ids(b *trace.Batch, f *dataset.Input, out []int32, known bool) {
	switch {
	case d.count:
		c := b.Ints(d.col)
		for i := range out {
			out[i] = 0
			if v, ok := c.At(i); ok && v >= 0 {
				out[i] = int32(bits.Len64(uint64(v))) + 1
			}
		}
	case d.name == "file":
		d.fill(out, f.Source.Name(), known)
	case d.name == "run":
		d.fill(out, f.Records[b.Run.Key].Name, known)
	default:
		c := b.Dicts(d.col)
		d.fill(out, b.Run.Default(d.col), known)
		codes := make([]int32, len(c.Values))
		for i, v := range c.Values {
			codes[i] = d.id(v, known)
		}
		for i := range out {
			if code, ok := c.At(i); ok {
				out[i] = codes[code]
			}
		}
	}
}

func (d *dimension) fill(out []int32, value string, known bool) {
	id := int32(0)
	if value != "" {
		id = d.id(value, known)
	}
	for i := range out {
		out[i] = id
	}
}

func (d *dimension) id(value string, known bool) int32 {
	n, ok := d.index[value]
	if !ok && known {
		return -1
	}
	if !ok {
		n = int32(len(d.values))
		d.index[value] = n
		d.values = append(d.values, value)
	}
	return n
}

// text is the value as the report shows it.
func (d *dimension) text(id int32) string {
	switch {
	case !d.count:
		return d.values[id]
	case id == 0:
		return ""
	case id <= 2:
		return fmt.Sprint(id - 1)
	}
	return fmt.Sprintf("%d-%d", uint64(1)<<(id-2), uint64(1)<<(id-1)-1)
}

// compare orders values: buckets by size, texts by text, null last.
func (d *dimension) compare(a, b int32) int {
	switch {
	case a == 0 || b == 0:
		return cmp.Compare(b, a)
	case d.count:
		return cmp.Compare(a, b)
	}
	return cmp.Compare(d.values[a], d.values[b])
}

// finish numbers the groups of rows in the order of the report and puts these
// numbers into rows. Of more than maxGroups the smallest become one, the last;
// counts tells whether a request is counted with row k of batch i.
func (g *Groups) finish(rows [][]int32, counts func(i, k int) bool) {
	g.Names = []map[string]string{}
	if len(g.dims) == 0 {
		return
	}
	tuples := g.tuples[len(g.dims)-1]
	count, there := make([]int64, len(tuples)), make([]bool, len(tuples))
	for i, batch := range rows {
		for k, n := range batch {
			if n < 0 {
				continue
			}
			if there[n] = true; counts(i, k) {
				count[n]++
			}
		}
	}
	var order []int32
	for n := range tuples {
		if there[n] {
			order = append(order, int32(n))
		}
	}
	byTuple := func(a, b int32) int { return g.compare(tuples[a], tuples[b]) }
	kept := order
	if len(order) > MaxGroups {
		slices.SortFunc(order, func(a, b int32) int { return cmp.Or(cmp.Compare(count[b], count[a]), byTuple(a, b)) })
		kept = order[:MaxGroups-1]
		g.unite(order[MaxGroups-1:], count)
	}
	slices.SortFunc(kept, byTuple)
	g.final = make([]int32, len(tuples))
	for i := range g.final {
		g.final[i] = int32(len(kept)) // the group of others, if there is one
	}
	for i, n := range kept {
		g.final[n] = int32(i)
		name := make(map[string]string)
		for j, d := range g.dims {
			name[d.name] = d.text(tuples[n][j])
		}
		g.Names = append(g.Names, name)
	}
	if g.United > 0 {
		name := make(map[string]string)
		for _, d := range g.dims {
			name[d.name] = OtherGroup
		}
		g.Names = append(g.Names, name)
	}
	for _, batch := range rows {
		g.renumber(batch)
	}
}

// compare orders combinations of values.
func (g *Groups) compare(a, b []int32) int {
	for i, d := range g.dims {
		if c := d.compare(a[i], b[i]); c != 0 {
			return c
		}
	}
	return 0
}

// unite counts the groups that become one, and their requests.
func (g *Groups) unite(rest []int32, count []int64) {
	g.United = len(rest)
	for _, n := range rest {
		g.Rest += count[n]
	}
}

// renumber turns the group numbers that of gave, after finish, into the group numbers of
// the report.
func (g *Groups) renumber(rows []int32) {
	if len(g.dims) == 0 {
		return
	}
	for i, n := range rows {
		if n >= 0 {
			rows[i] = g.final[n]
		}
	}
}

// idOf returns the number of the value of row i, 0 for null.
func (d *dimension) idOf(b *trace.Batch, i int) int32 {
	if d.count {
		if v, ok := b.Ints(d.col).At(i); ok && v >= 0 {
			return int32(bits.Len64(uint64(v))) + 1
		}
		return 0
	}
	c := b.Dicts(d.col)
	if code, ok := c.At(i); ok {
		return d.id(c.Values[code], false)
	}
	if name := b.Run.Default(d.col); name != "" {
		return d.id(name, false)
	}
	return 0
}
