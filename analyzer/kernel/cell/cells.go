// Package cell holds what kernels share to fill the cells of a report: places and their
// contents (Place, Cells), time windows (Axis, Interval), what a state knows of its
// runs (Base, Run), the state of a kernel that holds nothing but contents (State),
// the encoding of states (Reader), exclusions by reason (Tally), exact sums (Total)
// and statistics of values.
package cell

import (
	"slices"

	"servescope/analyzer/kernel"
)

// MaxCells bounds the cells of time windows that a state keeps: a window of a
// millisecond over a day must not fill the memory. The earliest are kept, so
// that what is kept does not depend on the order of the rows. Tests lower it.
var MaxCells = 10_000

// content is the content of a cell.
type content[T any] interface {
	*T
	Merge(*T)
	AppendTo([]byte) []byte
	Load(*Reader)
	Size() int64
	Weight() int64 // how many values are lost with the cell
}

// Cells holds contents by place. The zero value is ready. What lies in windows
// beyond maxCells is in no window: the whole run loses nothing.
type Cells[T any, P content[T]] struct {
	ByPlace map[Place]P
	Fresh   func() P // makes a content; nil: new(T)
	Coarse  bool     // each content is also in a coarser cell: beyond maxCells it is dropped
	windows int      // cells with a window
	Lost    int64    // values whose windows were beyond maxCells
	cut     Place    // the first place beyond them, when full
	full    bool

	last     Place // memo of the latest at
	lastCell P
}

// At returns the content of p, making it, for n values. Where p lies beyond the
// windows that are kept it is the content of no window; nil if cells are coarse.
// It is valid until the next call of room.
func (c *Cells[T, P]) At(p Place, n int64) P {
	if c.lastCell != nil && p == c.last {
		return c.lastCell
	}
	if c.past(p) {
		return c.outside(p, n)
	}
	cell := c.ByPlace[p]
	if cell == nil {
		cell = c.add(p)
	}
	c.last, c.lastCell = p, cell
	return cell
}

// MakeRoom drops the windows beyond maxCells when there are too many. It is called
// before contents are asked for, ahead of each row at least.
func (c *Cells[T, P]) MakeRoom() {
	if c.windows >= MaxCells+MaxCells/4 {
		c.Prune()
	}
}

// past reports whether p lies beyond the windows that are kept.
func (c *Cells[T, P]) past(p Place) bool {
	return c.full && p.Window > Elsewhere && p.compare(c.cut) >= 0
}

// add makes the content of p.
func (c *Cells[T, P]) add(p Place) P {
	if c.ByPlace == nil {
		c.ByPlace = make(map[Place]P)
	}
	cell := P(new(T))
	if c.Fresh != nil {
		cell = c.Fresh()
	}
	c.ByPlace[p] = cell
	if p.Window > Elsewhere {
		c.windows++
	}
	return cell
}

// outside returns the content for n values that are in no window that is kept.
func (c *Cells[T, P]) outside(p Place, n int64) P {
	c.Lost += n
	if c.Coarse {
		return nil
	}
	p.Window = kernel.NoWindow
	if cell := c.ByPlace[p]; cell != nil {
		return cell
	}
	return c.add(p)
}

// remove moves the content of a window that is not kept to the place of no window.
func (c *Cells[T, P]) remove(p Place) {
	cell := c.ByPlace[p]
	delete(c.ByPlace, p)
	c.windows--
	if out := c.outside(p, cell.Weight()); out != nil {
		out.Merge(cell)
	}
}

// Prune drops the latest windows beyond maxCells.
func (c *Cells[T, P]) Prune() {
	c.lastCell = nil
	if c.windows <= MaxCells {
		return
	}
	var windows []Place
	for p := range c.ByPlace {
		if p.Window > Elsewhere {
			windows = append(windows, p)
		}
	}
	slices.SortFunc(windows, Place.compare)
	c.cut, c.full = windows[MaxCells], true
	for _, p := range windows[MaxCells:] {
		c.remove(p)
	}
}

// Beyond reports whether every place of a window from the given start on is
// past what is kept.
func (c *Cells[T, P]) Beyond(window int64) bool { return c.full && window > c.cut.Window }

func (c *Cells[T, P]) Merge(o *Cells[T, P]) {
	c.lastCell = nil
	c.Lost += o.Lost
	if o.full && (!c.full || o.cut.compare(c.cut) < 0) {
		c.cut, c.full = o.cut, true
		for _, p := range c.Places() {
			if c.past(p) {
				c.remove(p)
			}
		}
	}
	for p, cell := range o.ByPlace {
		mine := c.ByPlace[p]
		if c.past(p) {
			mine = c.outside(p, cell.Weight())
		} else if mine == nil {
			mine = c.add(p)
		}
		if mine != nil {
			mine.Merge(cell)
		}
	}
	c.Prune()
}

// Places returns all places in order.
func (c *Cells[T, P]) Places() []Place {
	list := make([]Place, 0, len(c.ByPlace))
	for p := range c.ByPlace {
		list = append(list, p)
	}
	slices.SortFunc(list, Place.compare)
	return list
}

func (c *Cells[T, P]) Size() int64 {
	n := int64(0)
	for _, cell := range c.ByPlace {
		n += 64 + cell.Size()
	}
	return n
}

func (c *Cells[T, P]) AppendTo(dst []byte) []byte {
	c.Prune()
	dst = AppendInts(dst, int64(len(c.ByPlace)), c.Lost, Flag(c.full))
	dst = c.cut.AppendTo(dst)
	for _, p := range c.Places() {
		dst = c.ByPlace[p].AppendTo(p.AppendTo(dst))
	}
	return dst
}

func (c *Cells[T, P]) Load(src *Reader) {
	*c = Cells[T, P]{Fresh: c.Fresh, Coarse: c.Coarse, ByPlace: make(map[Place]P)}
	n := src.Count()
	c.Lost, c.full = src.Int(), src.Int() != 0
	c.cut.Load(src)
	for ; n > 0 && src.Err == nil; n-- {
		var p Place
		p.Load(src)
		if c.ByPlace[p] != nil {
			src.Fail()
			return
		}
		c.add(p).Load(src)
	}
}
