package assemble

import (
	"math"
	"slices"
)

// Lists of small integers, of which very many are open at the same time. The
// last values stand in the list itself, those before in a chain of nodes of one
// cache line each, so that appending mostly touches the list alone. Freeing gives
// the nodes back.

// nodeLen is the number of values in a node.
const (
	nodeLen   = 15
	nodeBytes = 4*nodeLen + 4
)

type node struct {
	v    [nodeLen]int32
	next uint32
}

// pageLen is the number of nodes, and of open requests, allocated together.
const pageLen = 1024

// nodes is the pool of all lists' nodes. Node 0 is not used: index 0 is none.
type nodes struct {
	pages [][]node
	used  uint32 // nodes ever taken
	live  uint32 // of these, those in lists
	free  uint32 // chain of nodes given back
	limit uint32 // nodes that may be taken, 0: no limit
}

// list is a list of int64, most of which fit into an int32.
type list struct {
	v          [nodeLen]int32
	n          uint8 // values in v
	wide       bool  // the list has, or had, values that need more than one
	head, tail uint32
}

// wide marks a value that needs the two values behind it.
const wide = math.MinInt32

func (p *nodes) at(i uint32) *node { return &p.pages[i/pageLen][i%pageLen] }

// take returns a node, or 0 when the limit is reached.
func (p *nodes) take() uint32 {
	i := p.free
	if i != 0 {
		p.live++
		p.free = p.at(i).next
		p.at(i).next = 0
		return i
	}
	if p.limit > 0 && p.used >= p.limit {
		return 0
	}
	if p.used++; int(p.used/pageLen) >= len(p.pages) {
		p.pages = append(p.pages, make([]node, pageLen))
	}
	p.live++
	return p.used
}

// push appends a value to l. It reports false when there is no memory for it; l
// is not usable then.
func (p *nodes) push(l *list, v int64) bool {
	if v > math.MinInt32 && v <= math.MaxInt32 {
		return p.put(l, int32(v))
	}
	l.wide = true
	return p.put(l, wide) && p.put(l, int32(v>>32)) && p.put(l, int32(v))
}

func (p *nodes) put(l *list, v int32) bool {
	if l.n == nodeLen && !p.spill(l) {
		return false
	}
	l.v[l.n] = v
	l.n++
	return true
}

// spill moves the values of a full list into a node.
func (p *nodes) spill(l *list) bool {
	i := p.take()
	if i == 0 {
		return false
	}
	p.at(i).v = l.v
	if l.tail == 0 {
		l.head = i
	} else {
		p.at(l.tail).next = i
	}
	l.tail, l.n = i, 0
	return true
}

// appendTo appends the values of l to dst.
func (p *nodes) appendTo(dst []int64, l *list) []int64 {
	if !l.wide {
		for i := l.head; i != 0; {
			n := p.at(i)
			dst = widen(dst, n.v[:])
			i = n.next
		}
		return widen(dst, l.v[:l.n])
	}
	d := decoder{dst: dst}
	for i := l.head; i != 0; i = p.at(i).next {
		d.add(p.at(i).v[:])
	}
	d.add(l.v[:l.n])
	return d.dst
}

// widen appends values to dst.
func widen(dst []int64, values []int32) []int64 {
	n := len(dst)
	dst = slices.Grow(dst, len(values))[:n+len(values)]
	to := dst[n:]
	for i, x := range values[:len(to)] {
		to[i] = int64(x)
	}
	return dst
}

// decoder puts wide values together again.
type decoder struct {
	dst  []int64
	part int // of a wide value that is still to come
	high int64
}

func (d *decoder) add(values []int32) {
	for _, x := range values {
		switch {
		case d.part == 2:
			d.high, d.part = int64(x)<<32, 1
		case d.part == 1:
			d.dst, d.part = append(d.dst, d.high|int64(uint32(x))), 0
		case x == wide:
			d.part = 2
		default:
			d.dst = append(d.dst, int64(x))
		}
	}
}

// drop gives the nodes of l back and empties it.
func (p *nodes) drop(l *list) {
	for i := l.head; i != 0; i = p.at(i).next {
		p.live--
	}
	if l.tail != 0 {
		p.at(l.tail).next = p.free
		p.free = l.head
	}
	l.n, l.head, l.tail, l.wide = 0, 0, 0, false
}
