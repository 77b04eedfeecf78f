package otlp

import "servescope/formats/internal/json"

import "encoding/binary"

// span is one span as far as it is used. Texts lie in the part's memory, as they
// stand in the source, escapes included.
type span struct {
	offset     int64
	trace      uint64 // hash of the trace's id; 0: none
	id, parent uint64 // hashes too
	start, end int64  // ns since the epoch; 0: not given
	place      int32  // index of the part's places
	seen, has  uint32 // of the numbers: the attribute is there; it has a value
	flags      flag
	name       piece
	num        [numbers]int64
	text       [texts]piece

	retracts  int32 // events
	scheduled piece // the part's schedules of the span
	chunks    piece // the part's chunks of the span
}

// flag is a property of a span.
type flag uint8

const (
	failed   flag = 1 << iota // its status is an error
	inexact                   // a time is written with fewer digits than it has
	coarse                    // its times are in microseconds
	serves                    // its kind says server
	streamed                  // the response comes in chunks
)

// piece is a part of a part's text.
type piece struct{ from, to int32 }

// number returns a number, and whether it is known.
func (s *span) number(k slot) (int64, bool) { return s.num[k], s.has>>k&1 != 0 }

// attribute reports whether an attribute is there, whatever its value.
func (s *span) attribute(k slot) bool { return s.seen>>k&1 != 0 }

const (
	maxText = 4096     // longest text that is kept, in bytes
	maxSpan = 16 << 20 // longest span that is read
)

// scanner reads spans from text, one at a time.
type scanner struct {
	text
	out     *part
	span    *span
	process piece // of a span of Jaeger: names its process
}

// keep copies a text, as far as it is not too long.
func (s *scanner) keep(from, to int) piece {
	at := int32(len(s.out.text))
	s.out.text = append(s.out.text, s.text[from:min(to, from+maxText)]...)
	return piece{at, int32(len(s.out.text))}
}

// string returns the bounds of the string in [at, end), or nothing if the value is
// not a string.
func (s *scanner) string(at, end int) (from, to int) {
	if s.text[at] != '"' {
		return 0, 0
	}
	return at + 1, end - 1
}

// object calls f for each member of the object at i and returns the index
// behind it. f returns the index behind the value at its last argument.
func (s *scanner) object(i int, f func(s *scanner, key []byte, at int) int) int {
	if i >= len(s.text) {
		return short
	}
	if s.text[i] != '{' {
		return s.value(i)
	}
	for i++; ; {
		from, to, at, done := s.member(i)
		if done || at < 0 {
			return at
		}
		if i = f(s, s.text[from:to], at); i < 0 {
			return i
		}
	}
}

// array calls f for each element of the array at i and returns the index behind
// it. f returns the index behind the element at its last argument.
func (s *scanner) array(i int, f func(*scanner, int) int) int {
	if s.text[i] != '[' {
		return s.value(i)
	}
	for i++; ; {
		at, done := s.element(i)
		if done || at < 0 {
			return at
		}
		if i = f(s, at); i < 0 {
			return i
		}
	}
}

// otlp reads a member of a span of OTLP.
func (s *scanner) otlp(key []byte, at int) int {
	switch string(key) {
	case "attributes":
		return s.array(at, (*scanner).attribute)
	case "events":
		return s.array(at, (*scanner).event)
	case "status":
		return s.object(at, (*scanner).status)
	}
	end := s.value(at)
	if end < 0 {
		return end
	}
	sp := s.span
	switch string(key) {
	case "traceId", "trace_id":
		sp.trace = identity(s.plain(at, end))
	case "spanId", "span_id":
		sp.id = identity(s.plain(at, end))
	case "parentSpanId", "parent_span_id":
		sp.parent = identity(s.plain(at, end))
	case "name":
		sp.name = s.keep(s.string(at, end))
	case "kind":
		s.kind(s.plain(at, end))
	case "startTimeUnixNano", "start_time_unix_nano":
		sp.start = s.nanoseconds(at, end)
	case "endTimeUnixNano", "end_time_unix_nano":
		sp.end = s.nanoseconds(at, end)
	}
	return end
}

// kind takes the kind of a span.
func (s *scanner) kind(raw []byte) {
	switch string(raw) {
	case "2", "SPAN_KIND_SERVER", "server":
		s.span.flags |= serves
	}
}

// attribute reads the attribute at i.
func (s *scanner) attribute(i int) int {
	key, at, end, next := s.pair(i)
	if next > 0 && end > 0 {
		s.set(key, at, end)
	}
	return next
}

// pair returns the key and the value [at, end) of the attribute at i. Nearly all
// are written in the same order and without white space.
func (s *scanner) pair(i int) (key []byte, at, end, next int) {
	const head, middle = `{"key":"`, `","value":{"`
	b := s.text
	if len(b)-i <= len(head) || string(b[i:i+len(head)]) != head {
		return s.oddPair(i)
	}
	from := i + len(head)
	to := b.quote(from)
	if to < 0 {
		return nil, 0, 0, to
	}
	if len(b)-to <= len(middle) || string(b[to:to+len(middle)]) != middle {
		return s.oddPair(i)
	}
	if at = b.quote(to + len(middle)); at < 0 {
		return nil, 0, 0, at
	}
	if at = b.colon(at + 1); at < 0 {
		return nil, 0, 0, at
	}
	if end = b.value(at); end < 0 {
		return nil, 0, 0, end
	}
	if len(b)-end < 2 || string(b[end:end+2]) != "}}" {
		return s.oddPair(i)
	}
	return b[from:to], at, end, end + 2
}

// oddPair is pair for any order and spacing. The value may be wrapped in an object
// that names its type. end is 0 where there is no value.
func (s *scanner) oddPair(i int) (key []byte, at, end, next int) {
	next = s.object(i, func(s *scanner, name []byte, v int) int {
		after := s.value(v)
		switch {
		case after < 0:
		case string(name) == "key":
			key = s.plain(v, after)
		case string(name) == "value":
			if at, end = v, after; s.text[v] == '{' {
				if _, _, inner, done := s.member(v + 1); inner > 0 && !done {
					at, end = inner, s.value(inner)
				}
			}
		}
		return after
	})
	if key == nil {
		end = 0
	}
	return key, at, end, next
}

// status reads a member of a span's status.
func (s *scanner) status(key []byte, at int) int {
	end := s.value(at)
	if end > 0 && string(key) == "code" {
		if code := string(s.plain(at, end)); code == "2" || code == "STATUS_CODE_ERROR" {
			s.span.flags |= failed
		}
	}
	return end
}

// identity returns a hash of an id, 0 for none: an id may be written in
// hexadecimal digits, as it should, or in base 64.
func identity(b []byte) uint64 {
	h, any := uint64(len(b)), false
	for ; len(b) >= 8; b = b[8:] {
		w := binary.LittleEndian.Uint64(b)
		any = any || w != json.Ones*'0'
		h = (h ^ w) * 0x9e3779b97f4a7c15
		h ^= h >> 29
	}
	for _, c := range b {
		any = any || c != '0'
		h = (h ^ uint64(c)) * 0x9e3779b97f4a7c15
		h ^= h >> 29
	}
	if !any {
		return 0
	}
	return max(h, 1)
}
