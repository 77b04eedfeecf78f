package parquet

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"servescope/formats/internal/column"
)

// Physical types.
const (
	boolean = iota
	int32s
	int64s
	int96s
	floats
	doubles
	byteArrays
	fixedArrays
)

// node is an element of the schema, which lists a tree depth first.
type node struct {
	name       string
	physical   int64 // -1: a group
	repetition int64 // 0 required, 1 optional, 2 repeated
	length     int64 // of fixedArrays
	children   int64
	scale      int64 // of a decimal
	converted  int64 // deprecated annotation, -1 for none
	logical    int64 // number of the annotation in its union, 0 for none
	unsigned   bool  // of an integer
	utc        bool  // of a time
	step       int64 // of a time, in ns
}

func readNode(t *thrift, typ byte) node {
	n := node{physical: -1, converted: -1}
	t.fields(typ, func(id int64, typ byte) {
		switch id {
		case 1:
			n.physical = t.int(typ)
		case 2:
			n.length = t.int(typ)
		case 3:
			n.repetition = t.int(typ)
		case 4:
			n.name = t.text(typ)
		case 5:
			n.children = t.int(typ)
		case 6:
			n.converted = t.int(typ)
		case 7:
			n.scale = t.int(typ)
		case 10:
			t.fields(typ, func(id int64, typ byte) {
				n.logical = id
				switch id {
				case 7, 8: // time, timestamp
					n.readTime(t, typ)
				case 10: // integer
					n.readInteger(t, typ)
				default:
					t.skip(typ)
				}
			})
		default:
			t.skip(typ)
		}
	})
	return n
}

// readTime reads the parameters of a time or timestamp.
func (n *node) readTime(t *thrift, typ byte) {
	t.fields(typ, func(id int64, typ byte) {
		switch id {
		case 1:
			n.utc = typ == thriftTrue
			t.skip(typ)
		case 2:
			t.fields(typ, func(id int64, typ byte) {
				switch id {
				case 1:
					n.step = int64(time.Millisecond)
				case 2:
					n.step = int64(time.Microsecond)
				case 3:
					n.step = 1
				}
				t.skip(typ)
			})
		default:
			t.skip(typ)
		}
	})
}

// readInteger reads the parameters of an integer.
func (n *node) readInteger(t *thrift, typ byte) {
	t.fields(typ, func(id int64, typ byte) {
		if id == 2 {
			n.unsigned = typ == thriftFalse
		}
		t.skip(typ)
	})
}

// leaf is a column of the file.
type leaf struct {
	column.Field
	physical int64
	defined  int  // definition level of a value
	repeated int  // greatest repetition level
	entry    int  // lists: definition level from which a list has an entry
	form     form // of bytes
	length   int  // of bytes: how many these are, 0 where they differ
	scale    int  // of a decimal: digits behind the point
	unsigned bool // of 32 bits
	member   bool // of the keys or values of an object: nulls among the elements keep their places
}

// tree makes the leaves of a list of nodes.
type tree struct {
	nodes   []node
	leaves  []leaf
	objects []object
}

func leavesOf(nodes []node) ([]leaf, []object, error) {
	if len(nodes) == 0 || nodes[0].physical >= 0 {
		return nil, nil, errors.New("the schema is empty")
	}
	t := &tree{nodes: nodes[1:]}
	for range nodes[0].children {
		if err := t.add(nil, leaf{}, 0); err != nil {
			return nil, nil, err
		}
	}
	if len(t.nodes) > 0 {
		return nil, nil, errors.New("the schema has elements of no group")
	}
	return t.leaves, t.objects, nil
}

// add takes the next node and all below it. path names the groups it is in, and
// unnamed says how many levels of a list, which have no name, it is in.
func (t *tree) add(path []string, at leaf, unnamed int) error {
	if len(t.nodes) == 0 || len(path) > maxDepth || len(t.leaves) >= column.Most() {
		return errors.New("the schema is not a tree, or larger than what is read")
	}
	n := t.nodes[0]
	t.nodes = t.nodes[1:]
	switch n.repetition {
	case 1:
		at.defined++
	case 2:
		at.defined++
		at.repeated++
		at.entry = at.defined
	}
	if unnamed == 0 {
		path = append(path[:len(path):len(path)], n.name)
	} else {
		path = append(path[:len(path):len(path)], "")
	}
	if n.physical >= 0 {
		at.physical = n.physical
		n.field(&at)
		at.Name = joined(path)
		at.list()
		t.leaves = append(t.leaves, at)
		return nil
	}
	if n.children < 0 || n.children > int64(len(t.nodes)) {
		return fmt.Errorf("group %s of the schema claims %d members", n.name, n.children)
	}
	unnamed = max(0, unnamed-1)
	switch {
	case n.logical == 3 || n.converted == 3: // a list: the repeated group and its element
		unnamed = 2
	case n.logical == 2 || n.converted == 1: // a map: the repeated group
		unnamed = 1
	}
	if unnamed > 0 && n.children > 1 { // a list of groups
		unnamed = 0
	}
	isEntry, from := isEntry(n, t.nodes, at.repeated), len(t.leaves)
	for range n.children {
		if err := t.add(path, at, unnamed); err != nil {
			return err
		}
	}
	if isEntry {
		t.addObject(path, from)
	}
	return nil
}

func joined(path []string) string {
	var named []string
	for _, p := range path {
		if p != "" {
			named = append(named, p)
		}
	}
	return strings.Join(named, ".")
}

// field sets the field of a leaf that is no list.
func (n *node) field(l *leaf) {
	f := &l.Field
	switch n.physical {
	case boolean:
		f.Kind = column.Bool
	case int32s, int64s:
		f.Kind = column.Int
		n.time(f)
		f.Unsigned = n.physical == int64s && (n.converted == 14 || n.logical == 10 && n.unsigned)
		l.unsigned = n.physical == int32s && (n.converted == 13 || n.logical == 10 && n.unsigned)
		if n.decimal() {
			f.Scale = int(n.scale)
		}
	case int96s: // timestamps of old writers; read as ns
		f.Kind, f.Step, f.Instant = column.Int, 1, true
	case floats, doubles:
		f.Kind, f.Narrow = column.Float, n.physical == floats
	case byteArrays:
		if f.Kind = column.Text; n.decimal() {
			n.digits(l)
		}
	case fixedArrays:
		n.fixed(l)
	}
	if n.decimal() {
		if l.scale = int(n.scale); n.scale < 0 || n.scale > 76 {
			f.Kind = column.None
		}
	}
}

// time sets the unit of a date, time or timestamp.
func (n *node) time(f *column.Field) {
	switch {
	case n.logical == 6 || n.logical == 0 && n.converted == 6:
		f.Step, f.Instant = int64(24*time.Hour), true
	case n.logical == 7 || n.logical == 8:
		f.Step, f.Instant, f.UTC = n.step, n.logical == 8, n.utc && n.logical == 8
	case n.logical == 0 && n.converted >= 7 && n.converted <= 10:
		f.Step = int64(time.Millisecond)
		if n.converted == 8 || n.converted == 10 {
			f.Step = int64(time.Microsecond)
		}
		f.Instant, f.UTC = n.converted >= 9, n.converted >= 9
	}
}

// list turns the kind of a repeated leaf into that of its list.
func (l *leaf) list() {
	switch {
	case l.repeated == 0:
	case l.repeated > 1:
		l.Kind = column.None
	case l.Kind == column.Int:
		l.Kind = column.IntList
	case l.Kind == column.Float:
		l.Kind = column.FloatList
	case l.Kind == column.Text:
		l.Kind = column.TextList
	default:
		l.Kind = column.None
	}
}
