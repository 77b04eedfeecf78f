package cell

import (
	"cmp"
	"slices"

	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/request"
	"servescope/analyzer/trace"
)

// Elsewhere is the window of everything outside of the query's interval. Its contents
// are only counted: no cell of the report holds them.
const Elsewhere = kernel.NoWindow + 1

// Place is where a value belongs: a run, a side of it, a group and a window of time
// (its start; NoWindow: no window).
type Place struct {
	Window     int64
	Run, Group int32
	Side       int32
}

func (p Place) compare(o Place) int {
	return cmp.Or(cmp.Compare(p.Window, o.Window), cmp.Compare(p.Run, o.Run), cmp.Compare(p.Group, o.Group), cmp.Compare(p.Side, o.Side))
}

func (p Place) AppendTo(dst []byte) []byte {
	return AppendInts(dst, p.Window, int64(p.Run), int64(p.Group), int64(p.Side))
}

func (p *Place) Load(src *Reader) {
	p.Window = src.Int()
	p.Run, p.Group, p.Side = int32(src.Int()), int32(src.Int()), int32(src.Int())
	if p.Side < 0 || int(p.Side) >= request.NumSlots || p.Run < 0 || p.Group < -1 {
		src.Fail()
	}
}

// OfRequests returns the places of rows that belong to requests of their run.
func OfRequests(places []Place) []Place {
	return slices.DeleteFunc(slices.Clone(places), func(p Place) bool { return int(p.Side) >= request.NumSides })
}

// Within returns the places of a side.
func Within(places []Place, side trace.Side) []Place {
	return slices.DeleteFunc(slices.Clone(places), func(p Place) bool { return p.Side != int32(side) })
}
