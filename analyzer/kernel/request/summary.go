package request

import (
	"servescope/analyzer/join"
	"servescope/analyzer/metric"
)

// Summary holds what the rows of a view tell of the sides of their run, under a
// definition. It is made once for all kernels.
type Summary struct {
	def   *metric.Definition
	Sides [NumSlots]SideInfo
}

// add learns of all rows of v.
func (s *Summary) add(v *View) {
	var clock [NumSlots]int32 // code of the clock last noted
	for i := range clock {
		clock[i] = -2
	}
	var one Row
	for i := range v.Rows {
		w := &one
		if v.read != nil {
			w = &v.read[i]
		} else {
			one = v.rows.At(i)
		}
		if w.Role == join.Repeats { // another row says it all
			continue
		}
		slot := w.Slot()
		side := &s.Sides[slot]
		code, own := v.rows.Clock.At(i)
		if !own {
			code = -1
		}
		if clock[slot] != code {
			clock[slot] = code
			side.note(v.rows.ClockAt(i))
		}
		side.add(w, s.def, v.Group[i] >= 0)
	}
}
