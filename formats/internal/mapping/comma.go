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
	_, tail, _ := bytes.Cut(raw, []byte(","))
	if bytes.ContainsAny(tail, ",.") {
		p.groups++
	} else if len(tail) != 3 {
		p.decimals++
	}
}

// decimals tells whether commas in numbers can only part decimals: some are in front of
// other than three digits, and none comes twice or before a point.
func (s *sample) decimals() bool {
	some := false
	for i := range s.profiles {
		if s.profiles[i].groups > 0 {
			return false
		}
		some = some || s.profiles[i].decimals > 0
	}
	return some
}

// comma asks for the numbers of a column in another form.
func (m *mapping) comma(e *entry) {
	m.ask = fmt.Sprintf("column %s has numbers with a comma (1,5), which may part decimals or thousands", label(e.name))
	m.fix = "export the numbers with a point, and without separators of thousands"
}
