package kernel

import (
	"servescope/analyzer/metric"
	"servescope/analyzer/query"
	"servescope/analyzer/stat"
	"servescope/analyzer/trace"
)

// Fraction is what a quotient per request is made of, on average over the
// requests that have it: (To - From) / By, the times in ns since the start.
type Fraction struct {
	N        int64 // requests, or their sequences
	From, To float64
	By       float64
}

// Fractions are those of a run under a definition set: of TPOT, of the pace that
// a tool calls ITL, and of E2E by N.
type Fractions struct{ TPOT, ITL, E2E Fraction }

// FractionsOf returns a kernel that computes the fractions of every run under
// def. Its results go to out, by run, in Finish: a report has no place for them.
func FractionsOf(def *metric.Definition, out map[int32]Fractions) Kernel { return fractions{def, out} }

type fractions struct {
	def *metric.Definition
	out map[int32]Fractions
}

func (fractions) Name() string  { return "fractions" }
func (k fractions) Lists() bool { return k.def.ITL != nil && k.def.ITL.Chunks }

func (k fractions) New(q *query.Query, facts *Facts) State {
	s := &fractionsState{out: k.out}
	s.base = newBase(k.def, q, facts)
	return s
}

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

func (o *operands) merge(other *operands) {
	mine := o.all()
	for i, m := range other.all() {
		mine[i].Merge(m)
	}
}

func (o *operands) weight() int64 { return 0 } // is never in a window
func (o *operands) size() int64   { return 9 * 80 }

func (o *operands) appendTo(dst []byte) []byte {
	for _, m := range o.all() {
		dst = m.AppendTo(dst)
	}
	return dst
}

func (o *operands) load(src *reader) {
	for _, m := range o.all() {
		rest, err := m.Load(src.src)
		if err != nil {
			src.fail()
			return
		}
		src.src = rest
	}
}

// add adds the quotient of a request that starts at start.
func (o *operands) add(which int, start, from, to, by int64) {
	if start == none || from == none || to == none {
		return
	}
	o[which].from.AddN(from-start, 1)
	o[which].to.AddN(to-start, 1)
	o[which].by.AddN(by, 1)
}

func (o *operands) fraction(which int) Fraction {
	f := &o[which]
	return Fraction{f.by.N, f.from.Mean(), f.to.Mean(), f.by.Mean()}
}

type fractionsState struct {
	celled[operands, *operands]
	out map[int32]Fractions
}

func (s *fractionsState) Update(v *View) {
	x := s.begin(v)
	l := listsOf(v)
	for i := range v.Rows {
		w, selected := x.next(i)
		if !selected || s.late {
			continue
		}
		o := s.cells.at(place{NoWindow, x.index, x.group[i], int32(w.side)}, 0)
		if p := s.def.TPOT; p != nil {
			if d, n, why := w.tpotOf(s.def); why == metric.None {
				s.pace(o, ofTPOT, w, p, d, n)
			}
		}
		if p := s.def.ITL; p != nil {
			received := int64(none)
			if c, why := l.at(i, w); why == metric.None && p.Chunks {
				received = c.received(w)
			}
			if d, n, why := w.paceOf(p, received, s.def); why == metric.None {
				s.pace(o, ofITL, w, p, d, n)
			}
		}
		if q := w.request(); !w.sibling {
			if _, why := e2e(q, s.def); why == metric.None {
				if n := q.tokens(s.def); n != none {
					o.add(ofE2E, q.start, q.start, q.end(s.def), n)
				}
			}
		}
	}
}

// pace adds a quotient of d ns by n. Its end may be measured and not stamped.
func (s *fractionsState) pace(o *operands, which int, w *row, p *metric.Pace, d, n int64) {
	if from, why := w.mark(p.From, s.def); why == metric.None {
		o.add(which, w.start, from, from+d, n)
	}
}

func (s *fractionsState) Merge(other State) error {
	o, ok := other.(*fractionsState)
	if !ok {
		return errMerge(s, other)
	}
	return s.merge(&o.celled)
}

func (s *fractionsState) Finish(Output) {
	s.finishing(func(run int32, info *runInfo) {
		var sum operands
		for p, o := range s.cells.byPlace {
			if p.run == run && trace.Side(p.side) == info.latency(s.def) {
				sum.merge(o)
			}
		}
		s.out[run] = Fractions{sum.fraction(ofTPOT), sum.fraction(ofITL), sum.fraction(ofE2E)}
	})
}
