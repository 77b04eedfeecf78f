package kernel

import (
	"servescope/analyzer/join"
	"servescope/analyzer/metric"
)

// summary is what the rows of a view tell of the sides of their run, under a
// definition: every kernel needs to know it, and learns it from one of them.
type summary struct {
	def   *metric.Definition
	sides [slots]sideInfo
}

// summary returns that of v under def.
func (v *View) summary(def *metric.Definition) *summary {
	for i := range v.summaries {
		if v.summaries[i].def == def {
			return &v.summaries[i]
		}
	}
	n := len(v.summaries)
	v.summaries = append(v.summaries, summary{def: def})
	s := &v.summaries[n]
	for i := range s.sides {
		s.sides[i].reset()
	}
	s.add(v)
	return s
}

// add learns of all rows of v.
func (s *summary) add(v *View) {
	var clock [slots]int32 // code of the clock last noted
	for i := range clock {
		clock[i] = -2
	}
	var one row
	for i := range v.Rows {
		w := &one
		if v.read != nil {
			w = &v.read[i]
		} else {
			one = v.rows.at(i)
		}
		if w.role == join.Repeats { // another row says it all
			continue
		}
		slot := w.slot()
		side := &s.sides[slot]
		code, own := v.rows.clock.At(i)
		if !own {
			code = -1
		}
		if clock[slot] != code {
			clock[slot] = code
			side.note(v.rows.clockAt(i))
		}
		side.add(w, s.def, v.Group[i] >= 0)
	}
}

// add learns of a row of the side.
func (s *sideInfo) add(w *row, def *metric.Definition, selected bool) {
	if w.placed {
		s.all.add(w)
	}
	s.seen++
	if !selected {
		return
	}
	s.count(w, def)
	if w.sibling { // counted with another row
		if w.placed {
			s.selected.add(w)
		}
		return
	}
	s.rows++
	if _, why := ttft(w, def); why == metric.None {
		s.timed++
	}
	if w.placed {
		s.selected.add(w)
	} else {
		s.unplaced++
	}
}

// learn adds what rows tell.
func (r *runInfo) learn(s *summary) {
	for i := range s.sides {
		if s.sides[i].seen > 0 {
			r.of(i).merge(&s.sides[i])
		}
	}
}
