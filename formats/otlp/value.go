package otlp

import (
	"bytes"

	"servescope/formats/internal/json"
	"servescope/formats/internal/numx"
)

// set keeps the value of an attribute, which lies in [at, end), if it is wanted.
func (s *scanner) set(key []byte, at, end int) {
	i := attributeIndex.find(json.Text(key))
	if i < 0 {
		return
	}
	k := attributes[i].slot
	raw := s.plain(at, end)
	switch {
	case k == errorMark && string(raw) == "true", k == statusMark && string(raw) == "ERROR":
		s.span.flags |= failed
		return
	case k == kindMark:
		s.kind(raw)
		return
	case k == streamMark && string(raw) == "true":
		s.span.flags |= streamed
		return
	case k >= slots:
		return
	case k == finish && s.text[at] == '{': // a list, of which the first is taken
		if i := bytes.Index(s.text[at:end], []byte(`"stringValue"`)); i >= 0 {
			if at = s.colon(at + i + len(`"stringValue"`)); at > 0 {
				if end = s.value(at); end > 0 {
					s.span.text[k-textSlots] = s.keepPlain(at, end)
				}
			}
		}
		return
	case k >= textSlots:
		s.span.text[k-textSlots] = s.keepPlain(at, end)
		return
	}
	s.span.seen |= 1 << k
	var v int64
	var n int
	var ok bool
	if k.isDuration() {
		v, n, ok = numx.Seconds(raw)
	} else {
		v, n, ok = numx.ParseInt(raw)
	}
	if ok && n == len(raw) {
		s.span.has |= 1 << k
		s.span.num[k] = v
	}
}

// keepPlain keeps a scalar without its quotes.
func (s *scanner) keepPlain(at, end int) piece {
	switch s.text[at] {
	case '"':
		return s.keep(at+1, end-1)
	case '{', '[':
		return piece{}
	}
	return s.keep(at, end)
}

// nanoseconds reads a point in time, 0 for none. It may be a string, a number, a
// number with an exponent, or an object with the low and high half of an
// unsigned integer (JavaScript's Long).
func (s *scanner) nanoseconds(at, end int) int64 {
	if s.text[at] == '{' {
		return s.halves(at)
	}
	return s.time(s.plain(at, end), numx.Nanosecond)
}

// time reads a positive decimal number times 10^scale.
func (s *scanner) time(raw []byte, scale int) int64 {
	v, n, ok := numx.Scaled(raw, scale)
	if !ok || n != len(raw) || v <= 0 {
		return 0
	}
	if e := bytes.IndexAny(raw, "eE"); e >= 0 {
		// Digits that are not written are not known to be zeros.
		exp, _, _ := numx.ParseInt(bytes.TrimPrefix(raw[e+1:], []byte("+")))
		decimals := 0
		if p := bytes.IndexByte(raw[:e], '.'); p >= 0 {
			decimals = e - p - 1
		}
		if int(exp)-decimals+scale > 0 {
			s.span.flags |= inexact
		}
	}
	return v
}

// halves reads {"low":…,"high":…}.
func (s *scanner) halves(at int) int64 {
	var half [2]int64
	var known [2]bool
	s.object(at, func(s *scanner, key []byte, at int) int {
		end := s.value(at)
		if end > 0 {
			k := 0
			switch string(key) {
			case "high":
				k = 1
			case "low":
			default:
				return end
			}
			raw := s.plain(at, end)
			v, n, ok := numx.ParseInt(raw)
			half[k], known[k] = v, ok && n == len(raw)
		}
		return end
	})
	if !known[0] || !known[1] || half[1] < 0 || half[1] > 1<<31-1 {
		return 0
	}
	return half[1]<<32 | int64(uint32(half[0]))
}
