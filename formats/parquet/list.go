package parquet

import (
	"bytes"
	"errors"

	"servescope/analyzer/trace"
	"servescope/formats/internal/column"
)

var errLong = damaged{errors.New("a list has more elements than are read")}

// lists reads a page of a column of lists. A row may go on in the next page, so
// that the last row of a page stays open until that is read: its elements are
// carried over to it. p.def and p.rep hold the page's levels.
func (p *pages) lists(h *header, src []byte) error {
	if len(p.rep) == 0 {
		return nil
	}
	if p.rep[0] != 0 && !p.open {
		return errLevels // it goes on with a row that was never begun
	}
	if p.carry > maxPageValues {
		return errLong
	}
	p.takeCarry()
	some := bytes.Count(p.def, []byte{byte(p.leaf.defined)})
	if some > 0 {
		if err := p.val.decode(p.leaf, &p.dict, h.encoding, src, some, p.carry); err != nil {
			return err
		}
	}
	if p.leaf.member {
		p.spreadElements(some)
	}
	p.offsets = append(p.offsets[:0], 0)
	p.valid, p.null = p.valid[:0], true
	elements := p.carry
	whole := some == len(p.def) // every level is an element
	for at := 0; at < len(p.rep); {
		if p.rep[at] == 0 {
			if p.open {
				p.end(elements)
			}
			p.open, p.holey, p.openNull = true, false, int(p.def[at]) < p.leaf.entry-1
		}
		n := bytes.IndexByte(p.rep[at+1:], 0) + 1 // levels of the row
		if n == 0 {
			n = len(p.rep) - at
		}
		if whole {
			elements += n
		} else {
			elements += p.count(p.def[at : at+n])
		}
		at += n
	}
	p.carry = elements - int(p.offsets[len(p.offsets)-1])
	return nil
}

// count returns how many of the levels of a row are elements, and notes whether
// an element is null.
func (p *pages) count(def []uint8) int {
	n := 0
	for _, d := range def {
		switch {
		case int(d) == p.leaf.defined || p.leaf.member && int(d) >= p.leaf.entry:
			n++
		case int(d) >= p.leaf.entry:
			p.holey = true
		}
	}
	return n
}

// end ends the open row, whose elements end at the given one.
func (p *pages) end(elements int) {
	if p.rows&7 == 0 {
		p.valid = append(p.valid, 0)
	}
	if !p.openNull && !p.holey {
		p.valid[p.rows>>3] |= 1 << (p.rows & 7)
		p.null = false
	}
	p.offsets = append(p.offsets, int32(elements))
	p.rows++
	p.open = false
}

// takeCarry moves the elements of the open row to the front.
func (p *pages) takeCarry() {
	from := 0
	if p.carry > 0 {
		from = int(p.offsets[len(p.offsets)-1])
	}
	if p.leaf.member {
		copy(p.there, p.there[from:from+p.carry])
		p.there = p.there[:p.carry]
	}
	switch p.leaf.Kind {
	case column.TextList:
		p.val.words.keep(from, p.carry)
	case column.FloatList:
		copy(p.val.floats, p.val.floats[from:from+p.carry])
	default:
		copy(p.val.ints, p.val.ints[from:from+p.carry])
	}
}

// close ends the last row of a chunk, behind its last page. It returns false
// where there is none.
func (p *pages) close() bool {
	if !p.open {
		return false
	}
	p.takeCarry()
	p.offsets = append(p.offsets[:0], 0)
	p.valid, p.null = trace.Bitmap{}, true
	p.end(p.carry)
	p.carry = 0
	return true
}
