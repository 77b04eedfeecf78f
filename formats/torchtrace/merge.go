package torchtrace

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// cursor decodes a run.
type cursor struct {
	r    *run
	seq  int    // number of the run: place in the file
	buf  []byte // encoded bytes that are at hand, from pos on
	pos  int
	off  int // offset in the run behind buf
	done int // items decoded
	it   item
	err  error
}

const cursorBuffer = 32 << 10

// open begins to decode r.
func open(r *run, seq int) *cursor {
	c := &cursor{r: r, seq: seq}
	if r.mem != nil {
		c.buf, c.off = r.mem, r.size
	}
	return c
}

// next decodes one item and reports whether there was one.
func (c *cursor) next() bool {
	if c.done == c.r.items || c.err != nil {
		return false
	}
	if c.off < c.r.size && len(c.buf)-c.pos < maxItem {
		if c.err = c.refill(); c.err != nil {
			return false
		}
	}
	c.pos = decode(&c.it, c.buf, c.pos, c.done%blockSize == 0)
	c.done++
	return true
}

func (c *cursor) refill() error {
	rest := copy(c.buf, c.buf[c.pos:])
	if cap(c.buf) == 0 {
		c.buf = make([]byte, 0, cursorBuffer)
	}
	n := min(cap(c.buf)-rest, c.r.size-c.off)
	c.buf = c.buf[:rest+n]
	c.pos = 0
	err := c.r.read(c.buf[rest:], c.off)
	c.off += n
	return err
}

// decode decodes the item at b[i:], which follows it unless it begins a block.
func decode(it *item, b []byte, i int, fresh bool) int {
	if fresh {
		it.at, it.key = 0, 0
	}
	v, n := varint(b, i)
	it.at += v
	u, n := uvarint(b, n)
	it.dur = int64(u)
	v, n = varint(b, n)
	it.key += uint64(v)
	u, n = uvarint(b, n)
	it.tag = uint32(u)
	it.aux = 0
	if it.tag&auxBit != 0 {
		u, n = uvarint(b, n)
		it.aux = uint32(u)
	}
	return n
}

func uvarint(b []byte, i int) (uint64, int) {
	if c := b[i]; c < 0x80 {
		return uint64(c), i + 1
	}
	v, n := binary.Uvarint(b[i:])
	return v, i + n
}

func varint(b []byte, i int) (int64, int) {
	u, i := uvarint(b, i)
	return int64(u>>1) ^ -int64(u&1), i
}

// merge reads a store that is sorted by at in order, with a cursor for each run
// that overlaps the current place. Items of equal at come in the order of the
// file.
type merge struct {
	runs []*run // by firstAt
	seqs []int
	next int // the next run to open
	heap []*cursor
	err  error
}

func newMerge(s *store) *merge {
	m := &merge{runs: slices.Clone(s.runs), seqs: make([]int, len(s.runs))}
	for i := range m.seqs {
		m.seqs[i] = i
	}
	slices.SortStableFunc(m.seqs, func(a, b int) int { return cmp.Compare(s.runs[a].firstAt, s.runs[b].firstAt) })
	for i, seq := range m.seqs {
		m.runs[i] = s.runs[seq]
	}
	return m
}

// pop returns the next item, valid until the next call, or nil at the end or
// after an error.
func (m *merge) pop() *item {
	if len(m.heap) > 0 { // the item at the top was the last one
		if m.heap[0].next() {
			m.down()
		} else {
			m.err = first(m.err, m.heap[0].err)
			m.remove()
		}
	}
	for m.next < len(m.runs) && (len(m.heap) == 0 || m.runs[m.next].firstAt <= m.heap[0].it.at) {
		c := open(m.runs[m.next], m.seqs[m.next])
		m.next++
		if c.next() {
			m.push(c)
		}
		m.err = first(m.err, c.err)
	}
	if len(m.heap) == 0 || m.err != nil {
		return nil
	}
	return &m.heap[0].it
}

// first returns the first of two errors.
func first(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

func (m *merge) less(i, j int) bool {
	a, b := m.heap[i], m.heap[j]
	return a.it.at < b.it.at || a.it.at == b.it.at && a.seq < b.seq
}

func (m *merge) push(c *cursor) {
	m.heap = append(m.heap, c)
	for i := len(m.heap) - 1; i > 0; {
		up := (i - 1) / 2
		if !m.less(i, up) {
			break
		}
		m.heap[i], m.heap[up] = m.heap[up], m.heap[i]
		i = up
	}
}

func (m *merge) remove() {
	last := len(m.heap) - 1
	m.heap[0] = m.heap[last]
	m.heap[last] = nil
	m.heap = m.heap[:last]
	m.down()
}

func (m *merge) down() {
	for i := 0; ; {
		least := i
		for j := 2*i + 1; j <= 2*i+2 && j < len(m.heap); j++ {
			if m.less(j, least) {
				least = j
			}
		}
		if least == i {
			return
		}
		m.heap[i], m.heap[least] = m.heap[least], m.heap[i]
		i = least
	}
}
