package decompose

// take adds an entry less those that it contains. One that overlaps another
// contradicts it and is left out.
func (p *Parts) take(e Entry) {
	for _, o := range p.Entries() {
		switch {
		case o.Leaves&e.Leaves == 0:
		case o.Leaves&^e.Leaves == 0:
			e.NS -= o.NS
		default:
			return
		}
	}
	if e.Leaves &^= p.Covered(); e.Leaves != 0 {
		p.insert(e)
	}
}

// split subtracts the spans that lie inside of a merged entry from it: they are
// its finer parts.
func (p *Parts) split(spans *spans, step int64) {
	for _, s := range spans.list[:spans.n] {
		for i, e := range p.Entries() {
			if s.leaves&^e.Leaves != 0 || s.leaves == e.Leaves {
				continue
			}
			p.remove(i)
			e.Leaves, e.NS, e.Step = e.Leaves&^s.leaves, e.NS-(s.to-s.from), max(e.Step, step)
			p.insert(e)
			break
		}
	}
}

// join drops the boundaries that lie inside of an entry of the row: the stages on
// their two sides cannot be told apart.
func (p *Parts) join(s *spans) {
	kept := min(s.n, 1)
	for i := 1; i < s.n; i++ {
		var before, behind Set
		for _, x := range s.list[:kept] {
			before |= x.leaves
		}
		for _, x := range s.list[i:s.n] {
			behind |= x.leaves
		}
		if p.straddles(before, behind) {
			s.list[kept-1].leaves |= s.list[i].leaves
			s.list[kept-1].to = s.list[i].to
			continue
		}
		s.list[kept] = s.list[i]
		kept++
	}
	s.n = kept
}

func (p *Parts) straddles(before, behind Set) bool {
	for i := range p.Entries() {
		if e := p.Sets[i]; e&before != 0 && e&behind != 0 {
			return true
		}
	}
	return false
}

// fill adds an entry for the part of a span that the row's own entries leave. If
// the row's entries (merged entries included) take up the whole span without naming
// some stage, the row measures from the end of that stage: the stage lies outside.
func (p *Parts) fill(s span, w *path, step int64) {
	rest, left, merged, same, coarsest := s.leaves, s.to-s.from, false, -1, step
	for i := range p.Entries() {
		e := &p.Values[i]
		if e.Leaves&s.leaves == 0 {
			continue
		}
		rest &^= e.Leaves
		left -= e.NS
		coarsest = max(coarsest, e.Step)
		merged = merged || e.Leaves.Len() > 1
		if e.Leaves == s.leaves {
			same = i
		}
	}
	switch {
	case rest == 0:
		if same >= 0 && left == 0 {
			e := &p.Values[same]
			e.From, e.To = s.from, s.to
		}
	case rest&w.blurred != 0:
	case left == 0 && (merged || w == carriedPath && rest == Of(Egress)): // there the total ends at the engine
		p.Outside |= rest
	case rest == s.leaves:
		p.insert(Entry{Leaves: rest, NS: left, From: s.from, To: s.to, Step: step})
	default:
		p.insert(Entry{Leaves: rest, NS: left, From: Unknown, To: Unknown, Step: coarsest})
	}
}

// measure adds up what the entries leave uncovered of the time between two
// stamps, where they are intervals in order.
func (p *Parts) measure(from, to int64) {
	at := from
	for i := range p.Entries() {
		e := &p.Values[i]
		if !e.placed() || e.From < at || e.To < e.From {
			return
		}
		p.Open += e.From - at
		at = e.To
	}
	if at > to {
		return
	}
	p.Open += to - at
	p.Measured = true
}
