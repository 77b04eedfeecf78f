package promtext

import (
	"bytes"
	"math"

	"servescope/formats/internal/numx"
)

// sample is one line of the text format, version 0.0.4 or OpenMetrics. Slices
// are parts of the line.
type sample struct {
	key    []byte // name and labels as written
	name   []byte
	labels []byte // between the braces
	value  float64
	finite bool  // value is neither NaN nor infinite
	t      int64 // ns since the epoch
	timed  bool  // the line has a stamp
	start  int64 // of what is counted, where that is told: from another start it is another series
}

// parse splits a line, which has no end. It reports false for comments and for
// whatever is not a sample.
func parse(line []byte) (s sample, ok bool) {
	i := 0
	for i < len(line) && nameByte(line[i], i > 0) {
		i++
	}
	if i == 0 {
		return s, false
	}
	s.name, s.key = line[:i], line[:i]
	rest := line[i:]
	if body := bytes.TrimLeft(rest, " \t"); len(body) > 0 && body[0] == '{' {
		n := closing(body)
		if n < 0 {
			return s, false
		}
		s.labels = body[1:n]
		rest = body[n+1:]
		s.key = line[:len(line)-len(rest)]
	} else if len(body) == len(rest) {
		return s, false // nothing parts the name from the value
	}
	if i := bytes.Index(rest, []byte(" # ")); i >= 0 {
		rest = rest[:i] // an exemplar
	}
	value, rest := word(rest)
	if s.value, s.finite, ok = number(value); !ok {
		return s, false
	}
	stamp, rest := word(rest)
	if len(stamp) > 0 {
		s.t, s.timed = instant(stamp)
	}
	more, _ := word(rest)
	return s, len(more) == 0 && (s.timed || len(stamp) == 0)
}

func nameByte(c byte, digit bool) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c == ':' || digit && c >= '0' && c <= '9'
}

// closing returns the index of the brace that ends the labels, or -1.
func closing(b []byte) int {
	quoted := false
	for i := 1; i < len(b); i++ {
		switch {
		case quoted && b[i] == '\\':
			i++
		case b[i] == '"':
			quoted = !quoted
		case b[i] == '}' && !quoted:
			return i
		}
	}
	return -1
}

// word returns the first word of b and what follows it.
func word(b []byte) (first, rest []byte) {
	b = bytes.TrimLeft(b, " \t")
	if i := bytes.IndexAny(b, " \t"); i >= 0 {
		return b[:i], b[i:]
	}
	return b, nil
}

// number reads a value.
func number(b []byte) (v float64, finite, ok bool) {
	switch string(b) {
	case "NaN", "+Inf", "-Inf", "Inf":
		return 0, false, true
	}
	b = bytes.TrimPrefix(b, []byte("+"))
	v, n, ok := numx.ParseFloat(b)
	return v, ok, ok && n == len(b)
}

// instant reads a stamp. The text format counts milliseconds, OpenMetrics
// seconds: 10^11 is the year 1973 in the one and 5138 in the other.
func instant(b []byte) (ns int64, ok bool) {
	v, n, ok := numx.ParseFloat(b)
	if !ok || n != len(b) || math.Abs(v) > 4e12 {
		return 0, false
	}
	scale := numx.Second
	if math.Abs(v) >= 1e11 {
		scale = numx.Millisecond
	}
	ns, _, ok = numx.Scaled(b, scale)
	return ns, ok
}

// label is one pair of a sample's labels; value is unescaped.
type label struct{ name, value string }

// split returns the labels in the order of the text, and whether that is well
// formed.
func split(b []byte) (list []label, ok bool) {
	for {
		b = bytes.TrimLeft(b, " \t,")
		if len(b) == 0 {
			return list, true
		}
		eq := bytes.IndexByte(b, '=')
		if eq <= 0 {
			return list, false
		}
		name := string(bytes.TrimSpace(b[:eq]))
		b = bytes.TrimLeft(b[eq+1:], " \t")
		if len(b) == 0 || b[0] != '"' {
			return list, false
		}
		var value []byte
		i := 1
		for ; i < len(b) && b[i] != '"'; i++ {
			if b[i] != '\\' || i+1 == len(b) {
				value = append(value, b[i])
				continue
			}
			if i++; b[i] == 'n' {
				value = append(value, '\n')
			} else {
				value = append(value, b[i])
			}
		}
		if i >= len(b) {
			return list, false
		}
		list = append(list, label{name, string(value)})
		b = b[i+1:]
	}
}
