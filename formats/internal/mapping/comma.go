package mapping

import (
	"bytes"
	"fmt"
)

// decimalComma tells whether raw is a number with a comma: 1,5 or 1,500.
func decimalComma(raw []byte) bool {
	raw = bytes.TrimSpace(raw)
	head, tail, ok := bytes.Cut(raw, []byte(","))
	if !ok || len(tail) == 0 {
		return false
	}
	if _, ok = number(head, 0); !ok {
		return false
	}
	for _, c := range tail {
		if c-'0' > 9 && c != ',' && c != '.' {
			return false
		}
	}
	return true
}

// comma takes a number with a comma.
func (p *profile) comma(raw []byte) {
	p.commas++
	head, tail, _ := bytes.Cut(raw, []byte(","))
	if bytes.ContainsAny(tail, ",.") || bytes.IndexByte(head, '.') >= 0 {
		p.groups++
	} else if len(tail) != 3 {
		p.decimals++
	}
}

// decimals tells whether commas in numbers can only part decimals: those of some
// column of times are in front of other than three digits, and nothing in columns that
// are used says otherwise: a comma that comes twice or in a number of tokens, or a
// point. Other columns may hold anything with a comma: the numbers of two GPUs, a place.
func (s *sample) decimals(given []assignment) bool {
	some := false
	for i := range s.profiles {
		p := &s.profiles[i]
		times, counts := s.numeric(i, given)
		if (times || counts) && (p.groups > 0 || p.points > 0) || counts && p.commas > 0 {
			return false
		}
		some = some || times && p.decimals > 0
	}
	return some
}

// numeric tells whether a column may be one of times, or of counts.
func (s *sample) numeric(i int, given []assignment) (times, counts bool) {
	for _, a := range given {
		if s.index(a.column) == i {
			return timed(a.role), about[a.role].class == count
		}
	}
	p := &s.profiles[i]
	for r := noRole + 1; r < roles; r++ {
		if match(r, p.joined, p.levels) >= 0 {
			times = times || timed(r)
			counts = counts || about[r].class == count
		}
	}
	return times, counts
}

// point returns a cell of a table whose decimals a comma parts with a point for it. A
// point that it has would part thousands, or is a mistake: with a comma it is no number.
func (t *table) point(raw []byte) []byte {
	from, to := byte(','), byte('.')
	if !decimalComma(raw) || bytes.Count(raw, []byte(",")) != 1 {
		if _, ok := float(raw); !ok || bytes.IndexByte(raw, '.') < 0 {
			return raw
		}
		from, to = to, from
	}
	k := len(t.spare)
	t.spare = append(t.spare, raw...)
	raw = t.spare[k:len(t.spare):len(t.spare)]
	raw[bytes.IndexByte(raw, from)] = to
	return raw
}

// comma asks for the numbers of a column in another form.
func (m *mapping) comma(e *entry) {
	m.ask = fmt.Sprintf("column %s has numbers with a comma (1,5), which may part decimals or thousands", label(e.name))
	m.fix = "export the numbers with a point, and without separators of thousands"
}
