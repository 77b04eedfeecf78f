package parquet

import (
	"encoding/binary"
	"math"

	"servescope/analyzer/trace"

	"github.com/parquet-go/parquet-go/format"
)

// A page ends when it has so many rows, values or bytes of text. A list of more
// values is a page of its own.
const (
	pageRows   = 1 << 16
	pageValues = 1 << 17
	pageBytes  = 1 << 20
)

// chunk is one column of the row group at hand.
type chunk struct {
	field *trace.Field
	work  *work

	// The page at hand: levels, and the values that are not null.
	defined  bits    // flat columns: which rows are not null
	rep, def runs    // lists
	levels   int     // lists: number of levels
	ints     []int64 // Int64, Time, List
	plain    []byte  // Float64, Text: encoded values
	bools    bits    // Bool
	codes    []int32 // Dict: of the whole row group

	choice *choice
	pages  []*page
	held   int // bytes of the values of pages, not encoded
	dicts  []dictPage
	dict   map[string]int32
	words  []byte // encoded dictionary

	parts              [][]byte // finished pages
	meta               format.ColumnMetaData
	minInt, maxInt     int64
	minFloat, maxFloat float64
	values             int64 // not null
	nulls              int64
}

// dictPage is a finished page of a Dict column but for its codes, whose width is
// not known before the dictionary is complete.
type dictPage struct {
	levels []byte
	rows   int
	codes  int // number of codes
}

func (c *chunk) init(f *trace.Field, w *work) {
	c.field, c.work = f, w
	c.reset()
}

// reset forgets the row group but keeps the buffers.
func (c *chunk) reset() {
	c.codes, c.pages, c.dicts, c.words, c.parts = c.codes[:0], c.pages[:0], c.dicts[:0], c.words[:0], c.parts[:0]
	clear(c.dict)
	c.choice, c.held = newChoice(), 0
	c.values, c.nulls = 0, 0
	c.meta = format.ColumnMetaData{Type: physical(c.field), PathInSchema: path(c.field)}
	c.minInt, c.maxInt = math.MaxInt64, math.MinInt64
	c.minFloat, c.maxFloat = math.Inf(1), math.Inf(-1)
}

// size returns the bytes of the row group's values in this column, before they are
// encoded: a row group must not end where a worker happens to be.
func (c *chunk) size() int {
	return c.held + 8*len(c.ints) + len(c.plain) + 4*len(c.codes) + len(c.words)
}

// add appends rows [from, to) of column col of b.
func (c *chunk) add(b *trace.Batch, col trace.Col, from, to int) {
	if c.field.Type == trace.List {
		c.addLists(b.Lists(col), from, to)
		return
	}
	for from < to {
		n := min(to-from, pageRows-c.defined.n)
		if !b.Has(col) {
			c.defined.addZeros(n)
		} else {
			c.addRows(b, col, from, from+n)
		}
		from += n
		if c.defined.n >= pageRows || len(c.plain) >= pageBytes {
			c.endPage()
		}
	}
}

// addRows appends rows of a column that has values.
func (c *chunk) addRows(b *trace.Batch, col trace.Col, from, to int) {
	switch c.field.Type {
	case trace.Float64:
		c.addFloats(b.Floats(col), from, to)
	case trace.Bool:
		v := b.Bools(col)
		c.define(v.Valid, from, to)
		for i := from; i < to; i++ {
			if v.Valid.Valid(i) {
				c.bools.add(v.Values.Valid(i))
			}
		}
	case trace.Text:
		v := b.Texts(col)
		c.define(v.Valid, from, to)
		for i := from; i < to; i++ {
			if s, ok := v.At(i); ok {
				c.plain = binary.LittleEndian.AppendUint32(c.plain, uint32(len(s)))
				c.plain = append(c.plain, s...)
			}
		}
	case trace.Dict:
		c.addDicts(b.Dicts(col), from, to)
	default:
		c.addInts(b.Ints(col), from, to)
	}
}

// define appends which rows are not null.
func (c *chunk) define(valid trace.Bitmap, from, to int) {
	if valid == nil {
		c.defined.addOnes(to - from)
		return
	}
	for ; from < to && (from&7 != 0 || c.defined.n&7 != 0); from++ {
		c.defined.add(valid.Valid(from))
	}
	if whole := (to - from) >> 3; whole > 0 { // both are at a byte boundary
		part := valid[from>>3:][:whole]
		c.defined.data = append(c.defined.data, part...)
		c.defined.n += 8 * whole
		c.defined.ones += part.Count(8 * whole)
		from += 8 * whole
	}
	for ; from < to; from++ {
		c.defined.add(valid.Valid(from))
	}
}

func (c *chunk) addInts(v trace.Ints, from, to int) {
	c.define(v.Valid, from, to)
	if v.Valid == nil {
		c.ints = append(c.ints, v.Values[from:to]...)
		return
	}
	for i, x := range v.Values[from:to] {
		if v.Valid.Valid(from + i) {
			c.ints = append(c.ints, x)
		}
	}
}

func (c *chunk) addFloats(v trace.Floats, from, to int) {
	c.define(v.Valid, from, to)
	for i, x := range v.Values[from:to] {
		if v.Valid.Valid(from + i) {
			c.plain = binary.LittleEndian.AppendUint64(c.plain, math.Float64bits(x))
			if x < c.minFloat {
				c.minFloat = x
			}
			if x > c.maxFloat {
				c.maxFloat = x
			}
		}
	}
}

// addDicts appends codes of the row group's own dictionary.
func (c *chunk) addDicts(v trace.Dicts, from, to int) {
	c.define(v.Valid, from, to)
	if c.dict == nil {
		c.dict = make(map[string]int32)
	}
	own := make([]int32, len(v.Values)) // 1 + code in the row group, 0: not yet looked up
	for i, code := range v.Codes[from:to] {
		if !v.Valid.Valid(from + i) {
			continue
		}
		if own[code] == 0 {
			own[code] = 1 + c.word(v.Values[code])
		}
		c.codes = append(c.codes, own[code]-1)
	}
}

// word returns the code of s in the row group's dictionary.
func (c *chunk) word(s string) int32 {
	code, ok := c.dict[s]
	if !ok {
		code = int32(len(c.dict))
		c.dict[s] = code
		c.words = binary.LittleEndian.AppendUint32(c.words, uint32(len(s)))
		c.words = append(c.words, s...)
	}
	return code
}

// addLists appends lists: repetition level 0 begins a row, definition level 0 is
// null, 1 an empty list, 2 an element.
func (c *chunk) addLists(v trace.Lists, from, to int) {
	if len(v.Offsets) == 0 {
		c.rep.add(0, to-from)
		c.def.add(0, to-from)
		c.levels += to - from
		return
	}
	for i := from; i < to; i++ {
		n := 0
		c.rep.add(0, 1)
		if !v.Valid.Valid(i) {
			c.def.add(0, 1)
		} else if n = int(v.Offsets[i+1] - v.Offsets[i]); n == 0 {
			c.def.add(1, 1)
		} else {
			c.rep.add(1, n-1)
			c.def.add(2, n)
			c.ints = append(c.ints, v.Values[v.Offsets[i]:v.Offsets[i+1]]...)
		}
		c.levels += max(n, 1)
		if len(c.ints) >= pageValues {
			c.endPage()
		}
	}
}
