package kernel

import (
	"servescope/analyzer/stat"
	"servescope/analyzer/trace"
)

// fetch holds, in a second pass, the values that order statistics need.
type fetch struct {
	wanted *[len(measures)]stat.Wanted
	got    [len(measures)]stat.Fetch
}

func (f *fetch) add(slot int, v int64) { f.got[slot].Add(&f.wanted[slot], v) }

func (f *fetch) merge(o *fetch) {
	for i := range f.got {
		f.got[i].Merge(&o.got[i])
	}
}

func (f *fetch) size() int64 {
	n := int64(0)
	for i := range f.got {
		n += f.got[i].Size()
	}
	return n
}

func (f *fetch) appendTo(dst []byte) []byte {
	for i := range f.got {
		dst = f.got[i].AppendTo(dst)
	}
	return dst
}

func (f *fetch) load(src *reader) {
	for i := range f.got {
		src.part(f.got[i].Load)
	}
}

// mayBeCensored reports whether a measure is a TTFT, which some requests ended
// before.
func mayBeCensored(slot int) bool { return slot == slotTTFT || slot == slotEngine }

// Next asks for another pass where windows could not be placed yet, or where an
// order statistic is not known.
func (s *latencyState) Next(facts *Facts) bool {
	if s.learn(facts) {
		return true
	}
	if s.wanted != nil {
		return false
	}
	w, some := s.missing()
	if !some {
		return false
	}
	code := []byte{}
	for i := range w {
		code = w[i].AppendTo(code)
	}
	if facts.Private == nil {
		facts.Private = make(map[string][]byte)
	}
	facts.Private[latency{}.Name()] = s.AppendState(code)
	return true
}

// counted reports whether the values of any place are counted.
func (s *latencyState) counted() bool {
	for _, c := range s.cells.byPlace {
		for i := range c.values {
			if c.values[i].Counted() {
				return true
			}
		}
	}
	return false
}

// missing returns what the report needs and is not known.
func (s *latencyState) missing() (w [len(measures)]stat.Wanted, some bool) {
	if !s.counted() {
		return w, false
	}
	add := func(of *samples, wide bool) {
		for slot := range w {
			censored := int64(0)
			if mayBeCensored(slot) {
				censored = of.censored
			}
			if of.values[slot].Counted() {
				s.want(&w[slot], &of.values[slot], censored, wide)
				some = some || !w[slot].Empty()
			}
			of.values[slot].Rest()
		}
	}
	s.cells.prune()
	s.finishingOf(s.cells.places(), func(run int32, info *runInfo, places []place) {
		if info.multiple() {
			s.ofSides(run, places, func(_ trace.Side, all *samples) { add(all, false) })
		}
		for _, t := range s.targets(run, ofRequests(places)) {
			for _, of := range s.unite(t.from) {
				if of != nil {
					add(of, t.window == NoWindow)
				}
			}
		}
	})
	return w, some
}

// refine prepares s to fetch what an earlier pass has found missing.
func (s *latencyState) refine(code []byte) {
	src := &reader{src: code}
	s.wanted = new([len(measures)]stat.Wanted)
	for i := range s.wanted {
		src.part(s.wanted[i].Load)
	}
	s.found = src.src
	s.cells.fresh = func() *samples { return &samples{fetch: &fetch{wanted: s.wanted}} }
}

// completed returns what the first pass has found, with what the second has
// fetched.
func (s *latencyState) completed() *latencyState {
	found := new(latencyState)
	found.base = newBase(s.def, s.q, s.facts)
	if found.LoadState(s.found) != nil {
		return found // what is not a state was not encoded by Next
	}
	for p, c := range s.cells.byPlace {
		of := found.cells.byPlace[p]
		if of == nil {
			continue
		}
		for i := range of.values {
			of.values[i].Fetched(&c.fetch.got[i])
		}
	}
	return found
}
