package latency

import (
	"servescope/analyzer/kernel/cell"
	"servescope/analyzer/kernel/request"
	"servescope/analyzer/metric"
	"servescope/analyzer/stat"
)

// samples holds the values of a place by slot of measures.
type samples struct {
	rows     int64
	values   [len(request.Measures)]stat.Sample
	fetch    *fetch // in the second pass: what values are for then, instead
	excluded [len(request.Measures)]cell.Tally
	tpots    weighted // TPOTs, where a definition weighs them, instead of values

	eventOnly, streamEnd int64 // TTFTs from the first event alone; E2Es that end with the response
	served, retokenized  int64 // tokens by the server's and the client's count, of requests with both
	both                 int64 // how many these are
	resolution           int64 // the coarsest step of stamps
	censored             int64 // requests aborted or left open before their first token
	tailRows, tail       int64 // requests with a last token and a later end, and the time between

	unjoined [request.NumSides]int64 // requests that each side has no row of, where rows were joined
}

func (s *samples) sums() []*int64 {
	list := []*int64{&s.rows, &s.eventOnly, &s.streamEnd, &s.served, &s.retokenized, &s.both, &s.tailRows, &s.tail, &s.censored}
	for i := range s.unjoined {
		list = append(list, &s.unjoined[i])
	}
	return list
}

func (s *samples) Merge(o *samples) {
	for i := range s.values {
		s.values[i].Merge(&o.values[i], request.Measures[i].Quotient)
	}
	if s.fetch != nil {
		s.fetch.Merge(o.fetch)
	}
	s.mergeRest(o)
}

// unite is merge for what is printed next.
func (s *samples) unite(o *samples) {
	for i := range s.values {
		s.values[i].MergeUncounted(&o.values[i])
	}
	s.mergeRest(o)
}

func (s *samples) mergeRest(o *samples) {
	for i := range s.excluded {
		s.excluded[i].Merge(o.excluded[i])
	}
	s.tpots = append(s.tpots, o.tpots...)
	mine := s.sums()
	for i, n := range o.sums() {
		*mine[i] += *n
	}
	s.resolution = max(s.resolution, o.resolution)
}

func (s *samples) Weight() int64 { return s.rows }

func (s *samples) Size() int64 {
	n := int64(48*len(request.Measures)) + 16*int64(cap(s.tpots))
	for i := range s.values {
		n += s.values[i].Size() + 16*int64(cap(s.excluded[i]))
	}
	if s.fetch != nil {
		n += s.fetch.Size()
	}
	return n
}

func (s *samples) AppendTo(dst []byte) []byte {
	for i := range s.values {
		dst = s.excluded[i].AppendTo(s.values[i].AppendTo(dst))
	}
	if s.fetch != nil {
		dst = s.fetch.AppendTo(dst)
	}
	dst = s.tpots.AppendTo(dst)
	for _, n := range s.sums() {
		dst = cell.AppendInts(dst, *n)
	}
	return cell.AppendInts(dst, s.resolution)
}

func (s *samples) Load(src *cell.Reader) {
	for i := range s.values {
		src.Part(s.values[i].Load)
		s.excluded[i].Load(src)
	}
	if s.fetch != nil {
		s.fetch.Load(src)
	}
	s.tpots.Load(src)
	src.Ints(s.sums()...)
	src.Ints(&s.resolution)
}

// put folds the value of a measure.
func (s *samples) put(slot int, w *request.Row, def *metric.Definition) {
	if slot == request.MeasureTPOT && def.TPOT != nil && def.TPOT.Weighted {
		d, n, why := w.TpotOf(def)
		key, why := request.Quotient(d, n, why, def)
		if why == metric.None {
			s.tpots = append(s.tpots, weightedValue{key, n})
		} else {
			s.excluded[slot].Add(why, 1)
		}
		return
	}
	if value, why := request.Measures[slot].Of(w, def); why == metric.None {
		if s.fetch != nil {
			s.fetch.add(slot, value)
			return
		}
		s.values[slot].Add(value, request.Measures[slot].Quotient)
	} else {
		s.excluded[slot].Add(why, 1)
	}
}

// note counts what the notes of a cell are about.
func (s *samples) note(w *request.Row, def *metric.Definition) {
	if w.Cohort(def) != metric.None {
		return
	}
	if w.EventOnly() && def.First != metric.FirstEvent {
		s.eventOnly++
	}
	if w.LastToken == request.None && w.Finished != request.None && !def.ToFinish {
		s.streamEnd++
	}
	if w.N != request.None && w.ClientTokens != request.None && !w.Requested {
		s.served += w.N
		s.retokenized += w.ClientTokens
		s.both++
	}
	if d, why := request.Between(w.LastToken, w.Finished); why == metric.None {
		s.tailRows++
		s.tail += d
	}
}
