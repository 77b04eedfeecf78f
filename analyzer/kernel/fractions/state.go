package fractions

import (
	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/cell"
	"servescope/analyzer/kernel/request"
	"servescope/analyzer/metric"
	"servescope/analyzer/stat"
	"servescope/analyzer/trace"
)

// Quotients of a place.
const (
	ofTPOT = iota
	ofITL
	ofE2E
	quotients
)

// operands holds the sums of what quotients are made of.
type operands [quotients]struct{ from, to, by stat.Moments }

func (o *operands) all() []*stat.Moments {
	var list []*stat.Moments
	for i := range o {
		list = append(list, &o[i].from, &o[i].to, &o[i].by)
	}
	return list
}

func (o *operands) Merge(other *operands) {
	mine := o.all()
	for i, m := range other.all() {
		mine[i].Merge(m)
	}
}

func (o *operands) Weight() int64 { return 0 } // is never in a window

func (o *operands) Size() int64 { return 9 * 80 }

func (o *operands) AppendTo(dst []byte) []byte {
	for _, m := range o.all() {
		dst = m.AppendTo(dst)
	}
	return dst
}

func (o *operands) Load(src *cell.Reader) {
	for _, m := range o.all() {
		rest, err := m.Load(src.Src)
		if err != nil {
			src.Fail()
			return
		}
		src.Src = rest
	}
}

// add adds the quotient of a request that starts at start.
func (o *operands) add(which int, start, from, to, by int64) {
	if start == request.None || from == request.None || to == request.None {
		return
	}
	o[which].from.AddN(from-start, 1)
	o[which].to.AddN(to-start, 1)
	o[which].by.AddN(by, 1)
}

func (o *operands) fraction(which int) Quotient {
	f := &o[which]
	return Quotient{f.by.N, f.from.Mean(), f.to.Mean(), f.by.Mean()}
}

type state struct {
	cell.State[operands, *operands]
	out map[int32]Run
}

func (s *state) Update(v *kernel.View) {
	x := s.Begin(v)
	l := request.ListsOf(v)
	for i := range v.Rows {
		w, selected := x.Next(i)
		if !selected || s.Pending {
			continue
		}
		o := s.Cells.At(cell.Place{Window: kernel.NoWindow, Run: x.RunIndex, Group: x.Group[i], Side: int32(w.Side)}, 0)
		if p := s.Def.TPOT; p != nil {
			if d, n, why := w.TpotOf(s.Def); why == metric.None {
				s.pace(o, ofTPOT, w, p, d, n)
			}
		}
		if p := s.Def.ITL; p != nil {
			received := int64(request.None)
			if c, why := l.At(i, w); why == metric.None && p.Chunks {
				received = c.Received(w)
			}
			if d, n, why := w.PaceOf(p, received, s.Def); why == metric.None {
				s.pace(o, ofITL, w, p, d, n)
			}
		}
		if q := w.Request(); !w.Sibling {
			if _, why := request.E2E(q, s.Def); why == metric.None {
				if n := q.Tokens(s.Def); n != request.None {
					o.add(ofE2E, q.Start, q.Start, q.End(s.Def), n)
				}
			}
		}
	}
}

// pace adds a quotient of d ns by n. Its end may be measured and not stamped.
func (s *state) pace(o *operands, which int, w *request.Row, p *metric.Pace, d, n int64) {
	if from, why := w.Mark(p.From, s.Def); why == metric.None {
		o.add(which, w.Start, from, from+d, n)
	}
}

func (s *state) Merge(other kernel.State) error {
	o, ok := other.(*state)
	if !ok {
		return cell.MergeError(s, other)
	}
	return s.MergeCells(&o.State)
}

func (s *state) Finish(kernel.Output) {
	s.Finishing(func(run int32, info *cell.Run) {
		var sum operands
		for p, o := range s.Cells.ByPlace {
			if p.Run == run && trace.Side(p.Side) == info.LatencySide(s.Def) {
				sum.Merge(o)
			}
		}
		s.out[run] = Run{sum.fraction(ofTPOT), sum.fraction(ofITL), sum.fraction(ofE2E)}
	})
}
