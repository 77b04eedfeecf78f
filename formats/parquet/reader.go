package parquet

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"servescope/analyzer/trace"
	"servescope/formats/internal/column"
)

// maxBatch bounds the rows of a batch. Lists end it sooner, with their pages.
const maxBatch = 1 << 16

// pages reads a column chunk, page by page.
type pages struct {
	leaf     *leaf
	in       stream
	room     *room
	dict     dictionary
	val      values
	rep, def []uint8
	left     int64 // levels not yet read
	locked   bool

	// The page at hand: rows, of which pos have been handed out.
	rows, pos int
	null      bool         // all of them
	valid     trace.Bitmap // nil: all are there
	offsets   []int32      // lists, and texts that are no codes
	carry     int          // lists: elements behind the last offset, of a row that may go on
	open      bool         // lists: there is such a row
	holey     bool         // … with a null among its elements
	openNull  bool         // … and it is null, if nothing follows
	there     []bool       // lists of an object: which elements are not null

	bits    trace.Bitmap // of the batch
	spans   []int32
	words   []int32
	boolean trace.Bitmap
}

// begin begins a chunk.
func (p *pages) begin(at io.ReaderAt, l *leaf, c *chunk) {
	p.leaf, p.left, p.locked = l, c.values, c.locked
	p.in.reset(at, c)
	p.dict = dictionary{}
	p.rows, p.pos, p.carry, p.open = 0, 0, 0, false
}

// load reads pages until there are rows. Without any left it returns false.
func (p *pages) load() (bool, error) {
	if p.locked {
		return false, damaged{fmt.Errorf("column %s is encrypted", p.leaf.Name)}
	}
	for p.pos == p.rows {
		p.pos, p.rows = 0, 0
		if p.in.done() || p.left == 0 {
			return p.leaf.repeated > 0 && p.close(), nil
		}
		if err := p.page(); err != nil {
			return false, err
		}
	}
	return true, nil
}

// page reads a page. Its values are copies: its bytes are given up.
func (p *pages) page() error {
	p.in.borrow(p.room)
	defer p.in.giveBack(p.room)
	h, body, err := p.in.next()
	switch {
	case err != nil:
		return err
	case h.kind == dictionaryPage:
		return p.dict.read(p.leaf, &p.val, &h, body)
	case h.kind == dataPage || h.kind == dataPage2:
		return p.data(&h, body)
	}
	return nil
}

// data reads a data page.
func (p *pages) data(h *header, body []byte) error {
	if p.left -= h.values; p.left < 0 {
		return damaged{errors.New("a column has more values than it claims")}
	}
	rep, def, src, err := h.levels(body, p.leaf)
	if err != nil {
		return err
	}
	n := int(h.values)
	if p.leaf.defined > 0 {
		if p.def, err = hybrid(p.def, def, widthOf(p.leaf.defined), n); err != nil {
			return err
		}
	}
	if p.leaf.repeated == 0 {
		return p.flat(h, src, n)
	}
	if p.rep, err = hybrid(p.rep, rep, widthOf(p.leaf.repeated), n); err != nil {
		return err
	}
	return p.lists(h, src)
}

// flat reads the values of a page without lists, one per row.
func (p *pages) flat(h *header, src []byte, n int) error {
	some := n
	p.valid = nil
	if p.leaf.defined > 0 {
		some = 0
		for _, d := range p.def {
			if int(d) == p.leaf.defined {
				some++
			}
		}
	}
	p.rows, p.null = n, some == 0
	if p.null {
		return nil
	}
	if err := p.val.decode(p.leaf, &p.dict, h.encoding, src, some, 0); err != nil {
		return err
	}
	if some < n {
		p.valid = make(trace.Bitmap, (n+7)/8)
		for i, d := range p.def {
			if int(d) == p.leaf.defined {
				p.valid[i>>3] |= 1 << (i & 7)
			}
		}
		p.spread(n, some)
	}
	return nil
}

// spread moves the values to their rows, the last first.
func (p *pages) spread(n, some int) {
	v := &p.val
	switch {
	case p.leaf.Kind == column.Int:
		v.ints = spread(v.ints, p.valid, n, some)
	case p.leaf.Kind == column.Float:
		v.floats = spread(v.floats, p.valid, n, some)
	case p.leaf.Kind == column.Bool:
		out := make([]byte, (n+7)/8)
		k := 0
		for i := range n {
			if p.valid.Valid(i) {
				out[i>>3] |= v.bits[k>>3] >> (k & 7) & 1 << (i & 7)
				k++
			}
		}
		v.bits = out
	case len(v.codes) > 0:
		v.codes = spread(v.codes, p.valid, n, some)
	default:
		v.ends = grown(v.ends, some+1, n-some)
		k := some
		for i := n - 1; i >= 0; i-- {
			v.ends[i+1] = v.ends[k]
			if p.valid.Valid(i) {
				k--
			}
		}
	}
}

func spread[T any](s []T, valid trace.Bitmap, n, some int) []T {
	s = grown(s, some, n-some)
	k := some - 1
	for i := n - 1; i >= 0; i-- {
		if valid.Valid(i) {
			s[i] = s[k]
			k--
		} else {
			clear(s[i : i+1])
		}
	}
	return s
}

// give appends the next n rows to the batch's column.
func (p *pages) give(c *column.Column, n int) {
	from, to := p.pos, p.pos+n
	p.pos = to
	*c = column.Column{Null: p.null}
	if p.null {
		return
	}
	if p.valid != nil {
		p.bits = cut(p.bits, p.valid, from, to)
		c.Valid = p.bits
	}
	v := &p.val
	switch p.leaf.Kind {
	case column.Int:
		c.Ints = v.ints[from:to]
	case column.Float:
		c.Floats = v.floats[from:to]
	case column.Bool:
		p.boolean = cut(p.boolean, v.bits, from, to)
		c.Bits = p.boolean
	case column.Text:
		if len(v.codes) > 0 {
			c.Codes, c.Values = v.codes[from:to], p.dict.texts
			return
		}
		c.Data = v.data[v.ends[from]:v.ends[to]]
		c.Offsets = p.rebase(v.ends, from, to)
	case column.IntList:
		c.Ints = v.ints[p.offsets[from]:p.offsets[to]]
		c.Offsets = p.rebase(p.offsets, from, to)
	case column.FloatList:
		c.Floats = v.floats[p.offsets[from]:p.offsets[to]]
		c.Offsets = p.rebase(p.offsets, from, to)
	case column.TextList:
		first, last := int(p.offsets[from]), int(p.offsets[to])
		c.Data = v.words.data[v.words.ends[first]:v.words.ends[last]]
		p.words = rebased(p.words, v.words.ends[first:last+1])
		c.Spans, c.Offsets = p.words, p.rebase(p.offsets, from, to)
	}
	if p.leaf.member {
		c.Elements = elements(p.there[p.offsets[from]:p.offsets[to]])
	}
}

// rebase returns the offsets of rows [from, to) counted from the first.
func (p *pages) rebase(offsets []int32, from, to int) []int32 {
	p.spans = rebased(p.spans, offsets[from:to+1])
	return p.spans
}

// rebased copies offsets, counted from the first, into dst, which it returns.
func rebased(dst, offsets []int32) []int32 {
	dst = grown(dst, 0, len(offsets))
	for i, off := range offsets {
		dst[i] = off - offsets[0]
	}
	return dst
}

// cut copies bits [from, to) into dst, which it returns.
func cut(dst, src trace.Bitmap, from, to int) trace.Bitmap {
	n := to - from
	dst = grown(dst, 0, (n+7)/8)
	shift := from & 7
	src = src[from>>3:]
	for i := range dst {
		b := src[i] >> shift
		if shift > 0 && i+1 < len(src) {
			b |= src[i+1] << (8 - shift)
		}
		dst[i] = b
	}
	if n&7 != 0 {
		dst[len(dst)-1] &= 1<<(n&7) - 1
	}
	return dst
}

// cursor reads the row groups of a footer; it is a column.Table.
type cursor struct {
	*footer
	at          io.ReaderAt
	want        []bool // of the leaves
	wantObjects []bool
	cols        []*pages // of the columns that are wanted
	group       int      // number of the next
	next        int64    // number of the next row
	left        int64    // rows of the one at hand
	batch       column.Batch
	err         error
	damage      []column.Damage
}

// Fields implements column.Table.
func (c *cursor) Fields() []column.Field {
	out := make([]column.Field, len(c.leaves), len(c.leaves)+len(c.objects))
	for i := range out {
		if out[i] = c.leaves[i].Field; c.leaves[i].member {
			out[i].Kind = column.None
		}
	}
	for _, o := range c.objects {
		out = append(out, column.Field{Name: o.name, Kind: column.Text, Object: true})
	}
	return out
}

// Meta implements column.Table.
func (c *cursor) Meta(key string) (string, bool) {
	v, ok := c.keys[key]
	return v, ok
}

// Select implements column.Table.
func (c *cursor) Select(want []bool) {
	c.want, c.wantObjects = slices.Clone(want[:len(c.leaves)]), want[len(c.leaves):]
	for i, o := range c.objects {
		if c.wantObjects[i] {
			for _, k := range append(o.values, o.key) {
				c.want[k] = true
			}
		}
	}
	c.cols = make([]*pages, len(c.leaves))
	c.batch.Columns = make([]column.Column, len(want))
	room := new(room)
	for i := range c.batch.Columns {
		c.batch.Columns[i].Null = true
		if i < len(c.cols) && c.want[i] {
			c.cols[i] = &pages{room: room}
		}
	}
}

// Batch implements column.Table.
func (c *cursor) Batch() *column.Batch { return &c.batch }

// Err implements column.Table.
func (c *cursor) Err() error { return c.err }

// Damage implements column.Table.
func (c *cursor) Damage() []column.Damage { return c.damage }

// Next implements column.Table.
func (c *cursor) Next() bool {
	for c.err == nil {
		if c.left == 0 {
			if c.group == len(c.groups) {
				return false
			}
			c.begin(&c.groups[c.group])
			c.group++
			continue
		}
		n, err := c.step()
		if err == nil {
			c.left -= int64(n)
			c.batch.First, c.next = c.next, c.next+int64(n)
			return true
		}
		var bad damaged
		if !errors.As(err, &bad) {
			c.err = err
			return false
		}
		c.damage = append(c.damage, column.Damage{Code: "damaged_rows", Offset: c.groups[c.group-1].start, Rows: c.left,
			Msg: "rows of the Parquet file cannot be read: " + bad.Error()})
		c.left = 0
	}
	return false
}

func (c *cursor) begin(g *group) {
	c.left, c.next = g.rows, g.first
	for i := range c.cols {
		if c.want[i] {
			c.cols[i].begin(c.at, &c.leaves[i], &g.chunks[i])
		}
	}
}

// step reads a batch of the row group at hand: as many rows as every column has
// in its page. A panic of a decoder is damage too.
func (c *cursor) step() (n int, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = damaged{fmt.Errorf("a decoder fails: %v", r)}
		}
	}()
	n = int(min(c.left, maxBatch))
	for i := range c.cols {
		if !c.want[i] {
			continue
		}
		p := c.cols[i]
		some, err := p.load()
		if err != nil {
			return 0, err
		}
		if !some {
			return 0, damaged{fmt.Errorf("column %s ends too early", p.leaf.Name)}
		}
		n = min(n, p.rows-p.pos)
	}
	c.batch.Rows = n
	for i := range c.cols {
		if c.want[i] {
			c.cols[i].give(&c.batch.Columns[i], n)
		}
	}
	return n, c.makeObjects(n)
}
