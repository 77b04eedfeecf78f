package assemble

import (
	"math"
	"slices"
)

// Lists of small integers, of which very many are open at the same time. The
// last values stand in the list itself, those before in a chain of nodes of a few
// cache lines each, so that appending mostly touches the list alone, and reading
// waits once per node for what is far away. Freeing gives the nodes back.

// lineLen is the number of values in a line of 64 bytes, nodeLen that in a node.
const (
	lineLen   = 15
	nodeLines = 4
	nodeLen   = nodeLines * lineLen
	nodeBytes = nodeLines * (4*lineLen + 4)
)

// node is some lines; next of the first is the next node, that of the second the
// number of nodes up to this one.
type node [nodeLines]struct {
	v    [lineLen]int32
	next uint32
}

// nodePage is the number of nodes that are allocated together.
const nodePage = 256

// nodes is the pool of all lists' nodes. Node 0 is not used: index 0 is none.
type nodes struct {
	pages [][]node
	used  uint32 // nodes ever taken
	live  uint32 // of these, those in lists
	free  uint32 // chain of nodes given back
	limit uint32 // nodes that may live, 0: no limit
}

// list is a list of int64, most of which fit into an int32.
type list struct {
	v          [lineLen]int32
	n          uint8 // values in v
	lines      uint8 // in use of the last node
	wide       bool  // the list has, or had, values that need more than one
	head, tail uint32
}

// wide marks a value that needs the two values behind it.
const wide = math.MinInt32

func (p *nodes) at(i uint32) *node { return &p.pages[i/nodePage][i%nodePage] }

// take returns a node, or 0 when the limit is reached.
func (p *nodes) take() uint32 {
	if p.limit > 0 && p.live >= p.limit {
		return 0
	}
	i := p.free
	if i != 0 {
		p.live++
		first := &p.at(i)[0]
		p.free, first.next = first.next, 0
		return i
	}
	if p.used++; int(p.used/nodePage) >= len(p.pages) {
		p.pages = append(p.pages, make([]node, nodePage))
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
	if l.n == lineLen && !p.spill(l) {
		return false
	}
	l.v[l.n] = v
	l.n++
	return true
}

// spill moves the values of a full list into its last node, or a new one.
func (p *nodes) spill(l *list) bool {
	if l.tail == 0 || l.lines == nodeLines {
		i := p.take()
		if i == 0 {
			return false
		}
		n := &p.at(i)[1].next // of the second line: the number of nodes up to this one
		if l.tail == 0 {
			l.head, *n = i, 1
		} else {
			last := p.at(l.tail)
			last[0].next, *n = i, last[1].next+1
		}
		l.tail, l.lines = i, 0
	}
	p.at(l.tail)[l.lines].v = l.v
	l.n, l.lines = 0, l.lines+1
	return true
}

// appendTo appends the values of l to dst.
func (p *nodes) appendTo(dst []int64, l *list) []int64 {
	d := decoder{dst: dst, wide: l.wide}
	for i := l.head; i != 0; {
		n, lines := p.at(i), nodeLines
		if i == l.tail {
			lines = int(l.lines)
		}
		for k := range n[:lines] {
			d.add(n[k].v[:])
		}
		i = n[0].next
	}
	d.add(l.v[:l.n])
	return d.dst
}

// decoder turns what is in the lines back into the values.
type decoder struct {
	dst  []int64
	wide bool // some values need more than one
	part int  // of such a value that is still to come
	high int64
}

func (d *decoder) add(line []int32) {
	if d.wide {
		d.join(line)
		return
	}
	n := len(d.dst)
	d.dst = slices.Grow(d.dst, len(line))[:n+len(line)]
	to := d.dst[n:]
	for i, x := range line[:len(to)] {
		to[i] = int64(x)
	}
}

// join puts wide values together again.
func (d *decoder) join(line []int32) {
	for _, x := range line {
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

// size is the number of nodes of l.
func (p *nodes) size(l *list) uint32 {
	if l.tail == 0 {
		return 0
	}
	return p.at(l.tail)[1].next
}

// drop gives the nodes of l back and empties it.
func (p *nodes) drop(l *list) {
	p.live -= p.size(l)
	p.giveBack(l)
}

// giveBack is drop of a list whose nodes count no more as live.
func (p *nodes) giveBack(l *list) {
	if l.tail != 0 {
		p.at(l.tail)[0].next = p.free
		p.free = l.head
	}
	l.n, l.head, l.tail, l.wide = 0, 0, 0, false
}
