package estimate

// Part is a part of the decode span.
type Part uint8

// The parts, in the order of reports.
const (
	Floor        Part = iota // what steps take at the least load met
	Load                     // what decoding more sequences or context takes beyond it
	Interference             // prompts of other requests
	Stall                    // steps without the request that no prompt explains
	Rest                     // the remainder
	parts
)

var partNames = [parts]string{"floor", "load", "interference", "stall", "rest"}

// String returns the name of the part.
func (p Part) String() string { return partNames[p] }

// Parts holds the time of each part in ns.
type Parts [parts]int64

// Sum returns the decode span.
func (p *Parts) Sum() (sum int64) {
	for _, v := range p {
		sum += v
	}
	return sum
}

// Add adds the parts of q.
func (p *Parts) Add(q Parts) {
	for i, v := range q {
		p[i] += v
	}
}

// split divides the decode span of request q into parts. vague is the part of its
// interference from ambiguous steps, in which prompts may or may not have been
// computed. low is f_lo in ns.
func (s *steps) split(q int, x *request, m model, low int64) (p Parts, vague int64) {
	away := s.away(q, x)
	for k := int(x.first) + 1; k <= int(x.last); k++ {
		redone := false
		if len(away) > 0 && int(away[0].from) <= k {
			if k < int(away[0].to) {
				p[s.without(k)] += s.y(k)
				continue
			}
			redone, away = away[0].redone, away[1:]
		}
		y := int64(s.expect(m, k) + 0.5)
		p[Floor] += min(low, y)
		p[Load] += max(0, y-low)
		to := s.excess(k, redone)
		p[to] += s.y(k) - y
		if to == Interference && s.vague(k) {
			vague += s.y(k) - y
		}
	}
	p[Rest] += x.span() - p.Sum()
	return p, vague
}

// away returns the absences of request q, which is x.
func (s *steps) away(q int, x *request) []absence {
	n := int(x.away)
	for n < len(s.absences) && int(s.absences[n].q) == q {
		n++
	}
	return s.absences[x.away:n]
}

// without returns the part of the time of step k of requests that got nothing.
func (s *steps) without(k int) Part {
	if s.kind[k] == prefill || s.kind[k] == ambiguous && s.admitted {
		return Interference
	}
	return Stall
}

// excess returns the part that the time of step k beyond ŷ counts for, for requests
// that got a chunk; redone says that their own context was recomputed.
func (s *steps) excess(k int, redone bool) Part {
	switch {
	case redone:
		return Stall
	case s.kind[k] == clean:
		return Rest
	}
	return Interference
}

// vague says whether the excess of step k may be no interference after all.
func (s *steps) vague(k int) bool { return s.kind[k] == ambiguous && !s.admitted }
