package parquet

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"servescope/formats"
)

const (
	magic     = "PAR1"
	maxFooter = 256 << 20 // bytes
)

// footer is the metadata of a file, as far as they are used; see
// https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift
type footer struct {
	size    int64 // of the file
	leaves  []leaf
	objects []object
	groups  []group // that start in the wanted range
	rows    int64   // of all
	keys    map[string]string
	first   bool // the range begins the file
}

// group is a row group.
type group struct {
	first  int64 // number of its first row
	rows   int64
	start  int64 // offset of its first page
	chunks []chunk
}

// chunk is one column of a row group.
type chunk struct {
	codec, physical int64
	values          int64 // levels, nulls included
	size            int64 // bytes of all pages
	start           int64 // offset of the first page
	other           bool  // it is in another file
	locked          bool  // it is encrypted
}

var errNoFooter = errors.New("the file does not end as a Parquet file does: it is truncated, or still being written")

// readFooter reads the metadata of the file. An error that is not one of reading
// is damage.
func readFooter(at io.ReaderAt, size int64, rng formats.Range) (*footer, error) {
	var tail [8]byte
	if size < int64(len(magic)+len(tail)) {
		return nil, damaged{errNoFooter}
	}
	if err := readFull(at, tail[:], size-8); err != nil {
		return nil, err
	}
	n := int64(binary.LittleEndian.Uint32(tail[:]))
	switch {
	case string(tail[4:]) == "PARE":
		return nil, damaged{errors.New("the file is encrypted")}
	case string(tail[4:]) != magic:
		return nil, damaged{errNoFooter}
	case n > size-12 || n > maxFooter:
		return nil, damaged{fmt.Errorf("the footer claims to have %d bytes", n)}
	}
	text := make([]byte, n)
	if err := readFull(at, text, size-8-n); err != nil {
		return nil, err
	}
	f := &footer{size: size, keys: make(map[string]string), first: rng.From == 0}
	return f, f.parse(text, rng)
}

// readFull reads len(b) bytes at off; that there are fewer is damage.
func readFull(at io.ReaderAt, b []byte, off int64) error {
	n, err := at.ReadAt(b, off)
	switch {
	case n == len(b):
		return nil
	case err == nil || errors.Is(err, io.EOF):
		return damaged{errors.New("the file is shorter than when it was opened")}
	}
	return err
}

// damaged is an error of the content.
type damaged struct{ error }

func (f *footer) parse(text []byte, rng formats.Range) error {
	t := &thrift{b: text}
	var nodes []node
	t.fields(thriftStruct, func(id int64, typ byte) {
		switch id {
		case 2:
			t.list(typ, func(typ byte) { nodes = append(nodes, readNode(t, typ)) })
		case 4:
			t.list(typ, func(typ byte) { f.groups = append(f.groups, readGroup(t, typ)) })
		case 5:
			t.list(typ, func(typ byte) { f.pair(t, typ) })
		default:
			t.skip(typ)
		}
	})
	if t.bad {
		return damaged{errors.New("the footer is damaged")}
	}
	var err error
	if f.leaves, f.objects, err = leavesOf(nodes); err != nil {
		return damaged{err}
	}
	durations(f.leaves, f.keys[arrowSchema])
	slices.SortStableFunc(f.groups, func(a, b group) int { return cmp.Compare(a.start, b.start) })
	for i := range f.groups {
		f.groups[i].first = f.rows
		if err := f.check(&f.groups[i]); err != nil {
			return damaged{err}
		}
	}
	f.groups = slices.DeleteFunc(f.groups, func(g group) bool { return g.start < rng.From || rng.To >= 0 && g.start >= rng.To })
	return nil
}

// maxRowsPerByte bounds the rows and values that a file may claim for each of its
// bytes: a file of nothing but runs of levels would be read for ever.
const maxRowsPerByte = 1 << 14

func (f *footer) check(g *group) error {
	if len(g.chunks) != len(f.leaves) {
		return fmt.Errorf("a row group has %d columns, the schema has %d", len(g.chunks), len(f.leaves))
	}
	if f.rows += g.rows; g.rows < 0 || f.rows < 0 || f.rows/maxRowsPerByte > f.size {
		return fmt.Errorf("the footer claims row groups of %d rows in %d bytes", f.rows, f.size)
	}
	for i := range g.chunks {
		c := &g.chunks[i]
		switch {
		case c.other:
			return errors.New("columns are in another file")
		case g.rows == 0 && c.values == 0 || c.locked: // of no page that is read
		case c.start < 4 || c.size < 0 || c.start > f.size || c.size > f.size-c.start:
			return fmt.Errorf("column %s is said to lie outside of the file", f.leaves[i].Name)
		case c.values < 0 || c.values/maxRowsPerByte > f.size || f.leaves[i].repeated == 0 && c.values != g.rows:
			return fmt.Errorf("column %s is said to have %d values in %d rows", f.leaves[i].Name, c.values, g.rows)
		}
	}
	return nil
}

// pair reads a key of the metadata with its value.
func (f *footer) pair(t *thrift, typ byte) {
	var key, value string
	t.fields(typ, func(id int64, typ byte) {
		switch id {
		case 1:
			key = t.text(typ)
		case 2:
			value = t.text(typ)
		default:
			t.skip(typ)
		}
	})
	f.keys[key] = value
}

func readGroup(t *thrift, typ byte) (g group) {
	t.fields(typ, func(id int64, typ byte) {
		switch id {
		case 1:
			t.list(typ, func(typ byte) { g.chunks = append(g.chunks, readChunk(t, typ)) })
		case 3:
			g.rows = t.int(typ)
		default:
			t.skip(typ)
		}
	})
	if len(g.chunks) > 0 {
		g.start = max(0, g.chunks[0].start)
	}
	return g
}

func readChunk(t *thrift, typ byte) (c chunk) {
	t.fields(typ, func(id int64, typ byte) {
		switch id {
		case 1:
			c.other = t.text(typ) != ""
		case 3:
			readColumn(t, typ, &c)
		case 8:
			c.locked = true
			t.skip(typ)
		default:
			t.skip(typ)
		}
	})
	return c
}

func readColumn(t *thrift, typ byte, c *chunk) {
	var dict int64
	t.fields(typ, func(id int64, typ byte) {
		switch id {
		case 1:
			c.physical = t.int(typ)
		case 4:
			c.codec = t.int(typ)
		case 5:
			c.values = t.int(typ)
		case 7:
			c.size = t.int(typ)
		case 9:
			c.start = t.int(typ)
		case 11:
			dict = t.int(typ)
		default:
			t.skip(typ)
		}
	})
	if dict > 0 && dict < c.start {
		c.start = dict
	}
}
