package kernel

import (
	"cmp"

	"servescope/analyzer/sorting"
)

// maxCells bounds the cells of time windows that a state keeps: a window of a
// millisecond over a day must not fill the memory. The earliest are kept, so
// that what is kept does not depend on the order of the rows. Tests lower it.
var maxCells = 10_000

// place is where a value belongs: a run, one of its sides, a group and a window
// of time (its start; NoWindow: no window).
type place struct {
	window     int64
	run, group int32
	side       int32
}

func (p place) compare(o place) int {
	return cmp.Or(cmp.Compare(p.window, o.window), cmp.Compare(p.run, o.run), cmp.Compare(p.group, o.group), cmp.Compare(p.side, o.side))
}

// content is what a cell holds.
type content[T any] interface {
	*T
	merge(*T)
	appendTo([]byte) []byte
	load(*reader)
	size() int64
	weight() int64 // how many values are lost with the cell
}

// cells holds contents by place. The zero value is ready. What lies in windows
// beyond maxCells is in no window: the whole run loses nothing.
type cells[T any, P content[T]] struct {
	byPlace map[place]P
	fresh   func() P // makes a content; nil: new(T)
	coarse  bool     // each content is also in a coarser cell: beyond maxCells it is dropped
	windows int      // cells with a window
	lost    int64    // values whose windows were beyond maxCells
	cut     place    // the first place beyond them, when full
	full    bool

	last     place // memo of the latest at
	lastCell P
}

// at returns the content of p, making it, for n values. Where p lies beyond the
// windows that are kept it is that of no window; nil if that is another copy.
// It is valid until the next call of room.
func (c *cells[T, P]) at(p place, n int64) P {
	if c.lastCell != nil && p == c.last {
		return c.lastCell
	}
	if c.past(p) {
		return c.outside(p, n)
	}
	cell := c.byPlace[p]
	if cell == nil {
		cell = c.add(p)
	}
	c.last, c.lastCell = p, cell
	return cell
}

// room drops the windows beyond maxCells when there are too many. It is called
// before contents are asked for, ahead of each row at least.
func (c *cells[T, P]) room() {
	if c.windows >= maxCells+maxCells/4 {
		c.prune()
	}
}

// past reports whether p lies beyond the windows that are kept.
func (c *cells[T, P]) past(p place) bool {
	return c.full && p.window > elsewhere && p.compare(c.cut) >= 0
}

// add makes the content of p.
func (c *cells[T, P]) add(p place) P {
	if c.byPlace == nil {
		c.byPlace = make(map[place]P)
	}
	cell := P(new(T))
	if c.fresh != nil {
		cell = c.fresh()
	}
	c.byPlace[p] = cell
	if p.window > elsewhere {
		c.windows++
	}
	return cell
}

// outside returns the content for n values that are in no window that is kept.
func (c *cells[T, P]) outside(p place, n int64) P {
	c.lost += n
	if c.coarse {
		return nil
	}
	p.window = NoWindow
	if cell := c.byPlace[p]; cell != nil {
		return cell
	}
	return c.add(p)
}

// remove takes the content of a window beyond those that are kept out of it.
func (c *cells[T, P]) remove(p place) {
	cell := c.byPlace[p]
	delete(c.byPlace, p)
	c.windows--
	if out := c.outside(p, cell.weight()); out != nil {
		out.merge(cell)
	}
}

// prune drops the latest windows beyond maxCells.
func (c *cells[T, P]) prune() {
	c.lastCell = nil
	if c.windows <= maxCells {
		return
	}
	var windows []place
	for p := range c.byPlace {
		if p.window > elsewhere {
			windows = append(windows, p)
		}
	}
	sorting.By(windows, place.compare)
	c.cut, c.full = windows[maxCells], true
	for _, p := range windows[maxCells:] {
		c.remove(p)
	}
}

// beyond reports whether every place of a window from the given start on is
// past what is kept.
func (c *cells[T, P]) beyond(window int64) bool { return c.full && window > c.cut.window }

func (c *cells[T, P]) merge(o *cells[T, P]) {
	c.lastCell = nil
	c.lost += o.lost
	if o.full && (!c.full || o.cut.compare(c.cut) < 0) {
		c.cut, c.full = o.cut, true
		for _, p := range c.places() {
			if c.past(p) {
				c.remove(p)
			}
		}
	}
	for p, cell := range o.byPlace {
		mine := c.byPlace[p]
		if c.past(p) {
			mine = c.outside(p, cell.weight())
		} else if mine == nil {
			mine = c.add(p)
		}
		if mine != nil {
			mine.merge(cell)
		}
	}
	c.prune()
}

// places returns all places in order.
func (c *cells[T, P]) places() []place {
	list := make([]place, 0, len(c.byPlace))
	for p := range c.byPlace {
		list = append(list, p)
	}
	sorting.By(list, place.compare)
	return list
}

func (c *cells[T, P]) size() int64 {
	n := int64(0)
	for _, cell := range c.byPlace {
		n += 64 + cell.size()
	}
	return n
}

func (c *cells[T, P]) appendTo(dst []byte) []byte {
	c.prune()
	full := int64(0)
	if c.full {
		full = 1
	}
	dst = appendInts(dst, int64(len(c.byPlace)), c.lost, full)
	dst = c.cut.appendTo(dst)
	for _, p := range c.places() {
		dst = c.byPlace[p].appendTo(p.appendTo(dst))
	}
	return dst
}

func (c *cells[T, P]) load(src *reader) {
	*c = cells[T, P]{fresh: c.fresh, coarse: c.coarse, byPlace: make(map[place]P)}
	n := src.count()
	c.lost, c.full = src.int(), src.int() != 0
	c.cut.load(src)
	for ; n > 0 && src.err == nil; n-- {
		var p place
		p.load(src)
		if c.byPlace[p] != nil {
			src.fail()
			return
		}
		c.add(p).load(src)
	}
}

func (p place) appendTo(dst []byte) []byte {
	return appendInts(dst, p.window, int64(p.run), int64(p.group), int64(p.side))
}

func (p *place) load(src *reader) {
	p.window = src.int()
	p.run, p.group, p.side = int32(src.int()), int32(src.int()), int32(src.int())
	if p.side < 0 || int(p.side) >= slots || p.run < 0 || p.group < -1 {
		src.fail()
	}
}
