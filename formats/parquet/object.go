package parquet

import (
	"errors"
	"slices"

	"servescope/analyzer/trace"
	"servescope/formats/internal/column"
)

// object is a column of maps, or of lists of keys and values, whose leaves are lists:
// one of the keys and one of the values or, where these are groups, of each member. See
// https://github.com/apache/parquet-format/blob/master/LogicalTypes.md#maps
type object struct {
	name   string
	key    int // number of the leaf
	values []int
}

// isEntry tells whether a group, whose members follow in the schema, is an entry of a map.
func isEntry(n node, members []node, repeated int) bool {
	return repeated == 1 && n.children == 2 && len(members) > 1 && members[0].name == "key" && members[0].physical >= 0 && members[1].name == "value"
}

// addObject notes the leaves from the given one on as those of a map, if they can be
// read.
func (t *tree) addObject(path []string, from int) {
	if k := t.leaves[from].Kind; k != column.TextList && k != column.IntList {
		return
	}
	o := object{name: joined(path), key: from}
	for i := from + 1; i < len(t.leaves); i++ {
		if t.leaves[i].Kind != column.None {
			o.values = append(o.values, i)
		}
	}
	for i := from; i < len(t.leaves); i++ {
		t.leaves[i].member = true
	}
	t.objects = append(t.objects, o)
}

// spreadElements gives the nulls among the elements of the page's lists, which follow
// the carried ones, their places; some are not null.
func (p *pages) spreadElements(some int) {
	for _, d := range p.def {
		if int(d) >= p.leaf.entry {
			p.there = append(p.there, int(d) == p.leaf.defined)
		}
	}
	there := p.there[p.carry:]
	if len(there) == some {
		return
	}
	v, k := &p.val, p.carry+some
	switch p.leaf.Kind {
	case column.TextList:
		v.words.ends = grown(v.words.ends, k+1, len(there)-some)
		spreadInto(v.words.ends[1:], there, p.carry, k, true)
	case column.FloatList:
		v.floats = grown(v.floats, k, len(there)-some)
		spreadInto(v.floats, there, p.carry, k, false)
	default:
		v.ints = grown(v.ints, k, len(there)-some)
		spreadInto(v.ints, there, p.carry, k, false)
	}
}

// spreadInto moves the values up to the k-th to the places, counted from the given one, where
// they are, the last first. At the others there is what stands before them, or nothing.
func spreadInto[T int32 | int64 | float64](s []T, there []bool, from, k int, before bool) {
	for i := len(there) - 1; i >= 0; i-- {
		switch {
		case there[i]:
			k--
			s[from+i] = s[k]
		case before && k > 0:
			s[from+i] = s[k-1]
		default:
			s[from+i] = 0
		}
	}
}

// elements returns which of the elements of rows are not null, as bits.
func elements(there []bool) trace.Bitmap {
	out := make(trace.Bitmap, (len(there)+7)/8)
	for i, ok := range there {
		if ok {
			out[i>>3] |= 1 << (i & 7)
		}
	}
	return out
}

var errEntries = damaged{errors.New("a map has more keys than values, or fewer")}

// objects makes the columns of maps that are wanted.
func (c *cursor) makeObjects(n int) error {
	for i, o := range c.objects {
		if to := &c.batch.Columns[len(c.leaves)+i]; c.wantObjects[i] {
			if err := c.object(to, o, n); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *cursor) object(to *column.Column, o object, n int) error {
	key := &c.batch.Columns[o.key]
	if key.Null {
		*to = column.Column{Null: true}
		return nil
	}
	var values []column.Entries
	for _, i := range o.values {
		from := &c.batch.Columns[i]
		if from.Null || !slices.Equal(from.Offsets, key.Offsets) {
			return errEntries
		}
		values = append(values, entries(&c.leaves[i], from))
	}
	offsets := key.Offsets
	err := column.Objects(to, key.Valid, n, func(row int) (from, to int) { return int(offsets[row]), int(offsets[row+1]) }, entries(&c.leaves[o.key], key), values)
	if err != nil {
		return damaged{err}
	}
	return nil
}

// entries are the elements of lists as a column of their own.
func entries(l *leaf, c *column.Column) column.Entries {
	f := l.Field
	own := &column.Column{Valid: c.Elements, Ints: c.Ints, Floats: c.Floats, Data: c.Data, Offsets: c.Spans}
	switch l.Kind {
	case column.TextList:
		f.Kind = column.Text
	case column.IntList:
		f.Kind = column.Int
	default:
		f.Kind = column.Float
	}
	return column.Entries{Field: &f, Column: own}
}
