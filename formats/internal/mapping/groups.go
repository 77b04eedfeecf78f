package mapping

import (
	"bytes"
	"fmt"
)

// separators part the thousands of a number, and can be nothing else in one: ', ’,
// spaces that break no line, and the space.
var separators = [...]string{"'", "\u2019", " ", "\u00a0", "\u202f", "\u2009"}

// ungroup appends a number whose thousands are parted, 1'340.5 or 1 340, to dst without
// what parts them.
func ungroup(dst, raw []byte) ([]byte, bool) {
	raw = bytes.TrimSpace(raw)
	k := 0
	for k < len(raw) && (raw[k]-'0' <= 9 || k == 0 && (raw[k] == '-' || raw[k] == '+')) {
		k++
	}
	whole := raw[:k]
	if digits := len(bytes.TrimLeft(whole, "+-")); digits < 1 || digits > 3 || k == len(raw) {
		return dst, false
	}
	for _, sep := range separators {
		rest := raw[k:]
		if !bytes.HasPrefix(rest, []byte(sep)) {
			continue
		}
		for dst = append(dst, whole...); bytes.HasPrefix(rest, []byte(sep)); rest = rest[len(sep)+3:] {
			if _, ok := digitsAt(rest, len(sep), 3); !ok {
				return dst, false
			}
			dst = append(dst, rest[len(sep):len(sep)+3]...)
		}
		if len(rest) > 0 && rest[0] != '.' && rest[0] != ',' {
			return dst, false
		}
		return append(dst, rest...), true
	}
	return dst, false
}

// grouped notes columns of numbers whose thousands are parted.
func (s *sample) grouped(m *mapping) {
	for i := range m.entries {
		if e := &m.entries[i]; s.profiles[e.field].grouped > 0 && about[e.role].class != text {
			m.notes = append(m.notes, fmt.Sprintf("column %s has numbers whose thousands are parted by spaces or apostrophes: they are read without", label(e.name)))
		}
	}
}
