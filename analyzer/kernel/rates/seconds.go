package rates

import (
	"maps"
	"servescope/analyzer/kernel/cell"
	"slices"
)

// seconds counts tokens per second of a clock. Second k is (k, k+1] s: a token
// is the work of the time before it.
type seconds struct {
	pages map[int64]*[64]int64
	full  bool // there were more than maxPages: nothing is known

	last *[64]int64 // memo of the latest page, number at
	at   int64
}

// maxPages bounds the pages: 24 days without a pause.
const maxPages = 1 << 15

func (s *seconds) add(k, n int64) {
	if s.last != nil && k>>6 == s.at {
		s.last[k&63] += n
		return
	}
	if s.full {
		return
	}
	p := s.pages[k>>6]
	if p == nil {
		if s.pages == nil {
			s.pages = make(map[int64]*[64]int64)
		}
		if len(s.pages) == maxPages {
			s.pages, s.last, s.full = nil, nil, true
			return
		}
		p = new([64]int64)
		s.pages[k>>6] = p
	}
	p[k&63] += n
	s.last, s.at = p, k>>6
}

func (s *seconds) Merge(o *seconds) {
	if s.full = s.full || o.full; s.full {
		s.pages, s.last = nil, nil
		return
	}
	for page, counts := range o.pages {
		for i, n := range counts {
			if n != 0 {
				s.add(page<<6+int64(i), n)
			}
		}
	}
}

func (s *seconds) Size() int64 { return 600 * int64(len(s.pages)) }

func (s *seconds) Weight() int64 { return 0 } // is never in a window

func (s *seconds) AppendTo(dst []byte) []byte {
	dst = cell.AppendInts(cell.AppendFlag(dst, s.full), int64(len(s.pages)))
	for _, page := range slices.Sorted(maps.Keys(s.pages)) {
		dst = cell.AppendInts(cell.AppendInts(dst, page), s.pages[page][:]...)
	}
	return dst
}

func (s *seconds) Load(src *cell.Reader) {
	s.last = nil
	s.full, s.pages = src.Flag(), make(map[int64]*[64]int64)
	for n := src.Count(); n > 0 && src.Err == nil; n-- {
		p := new([64]int64)
		s.pages[src.Int()] = p
		for i := range p {
			p[i] = src.Int()
		}
	}
}

// peak returns the greatest number of tokens in a second.
func (s *seconds) peak() int64 {
	most := int64(0)
	for _, counts := range s.pages {
		most = max(most, slices.Max(counts[:]))
	}
	return most
}
