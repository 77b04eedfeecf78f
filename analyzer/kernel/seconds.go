package kernel

// seconds counts tokens per second of a clock. Second k is (k, k+1] s: a token
// is the work of the time before it.
type seconds struct {
	pages map[int64]*[64]int64
	full  bool // there were more than maxPages: nothing is known
}

// maxPages bounds the pages: 24 days without a pause.
const maxPages = 1 << 15

const second = int64(1e9)

func (s *seconds) add(k, n int64) {
	if s.full {
		return
	}
	p := s.pages[k>>6]
	if p == nil {
		if s.pages == nil {
			s.pages = make(map[int64]*[64]int64)
		}
		if len(s.pages) == maxPages {
			s.pages, s.full = nil, true
			return
		}
		p = new([64]int64)
		s.pages[k>>6] = p
	}
	p[k&63] += n
}

func (s *seconds) merge(o *seconds) {
	if s.full = s.full || o.full; s.full {
		s.pages = nil
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

func (s *seconds) size() int64   { return 600 * int64(len(s.pages)) }
func (s *seconds) weight() int64 { return 0 } // is never in a window

func (s *seconds) appendTo(dst []byte) []byte {
	full := byte(0)
	if s.full {
		full = 1
	}
	dst = appendInts(append(dst, full), int64(len(s.pages)))
	for _, page := range sortedKeys(s.pages) {
		dst = appendInts(appendInts(dst, page), s.pages[page][:]...)
	}
	return dst
}

func (s *seconds) load(src *reader) {
	s.full, s.pages = src.flag(), make(map[int64]*[64]int64)
	for n := src.count(); n > 0 && src.err == nil; n-- {
		p := new([64]int64)
		s.pages[src.int()] = p
		for i := range p {
			p[i] = src.int()
		}
	}
}

// peak returns the greatest rate, in tokens per second, of a bucket of [from, to],
// which lasts a second at least. The buckets are the seconds; what is left at
// either end joins its neighbour, so that the buckets divide the interval and
// none is shorter than a second: the greatest rate cannot be below the mean.
func (s *seconds) peak(from, to int64) float64 {
	floor := func(t int64) int64 { return (t - floorMod(t, second)) / second }
	first, last := floor(from), floor(to-1)
	low, high := first, last // seconds that are buckets of their own
	if (first+1)*second-from < second || to < (first+1)*second {
		low += 2
	}
	if to-last*second < second || from > last*second {
		high -= 2
	}
	if high < low-1 {
		low, high = last+1, last // everything joins
	}
	var head, tail, atFirst, atLast, most int64
	for page, counts := range s.pages {
		for i, n := range counts {
			switch k := min(max(page<<6+int64(i), first), last); {
			case k < low:
				head += n
			case k > high:
				tail += n
			case k == first:
				atFirst += n
			case k == last:
				atLast += n
			default:
				most = max(most, n)
			}
		}
	}
	best := float64(max(most, atFirst, atLast))
	if low > last {
		return float64(head) * 1e9 / float64(to-from)
	}
	if low > first {
		best = max(best, float64(head)*1e9/float64(low*second-from))
	}
	if high < last {
		best = max(best, float64(tail)*1e9/float64(to-(high+1)*second))
	}
	return best
}
