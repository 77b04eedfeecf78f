package sse

import (
	"bytes"

	"servescope/formats/internal/mapping"
	"servescope/formats/internal/numx"
)

// clock is the origin of a stamp.
type clock uint8

const (
	noClock  clock = iota
	relative       // an unknown beginning, in the unit of the survey
	epoch          // 1970
	daytime        // midnight
)

// stamp is the time of arrival of a line.
type stamp struct {
	clock  clock
	at     int64 // in ns; if relative, the number times 10^9
	digits int   // number of digits behind the point
}

// takeStamp cuts the stamp off the beginning of a line.
func takeStamp(line []byte) (s stamp, rest []byte) {
	b := bytes.TrimLeft(line, " \t")
	closing := byte(0)
	if len(b) > 0 && (b[0] == '[' || b[0] == '(') {
		closing = b[0] + 2 // ]
		if b[0] == '(' {
			closing = ')'
		}
		b = b[1:]
	}
	n := 0
	for n < len(b) && n < 40 && (b[n]-'0' <= 9 || bytes.IndexByte([]byte(".,:-+TZ"), b[n]) >= 0) {
		n++
	}
	if n >= 10 && n+9 < len(b) && b[n] == ' ' && b[n+3] == ':' { // a date with a space in it
		for n++; n < len(b) && n < 40 && (b[n]-'0' <= 9 || bytes.IndexByte([]byte(".,:-+Z"), b[n]) >= 0); {
			n++
		}
	}
	if closing != 0 {
		n = bytes.IndexByte(b[:min(len(b), 40)], closing)
	}
	if n <= 0 || n < len(b) && bytes.IndexByte([]byte(" \t])"), b[n]) < 0 {
		return s, line
	}
	text := bytes.TrimSuffix(b[:n], []byte(":"))
	rest = b[n:]
	if closing != 0 {
		if len(rest) == 0 || rest[0] != closing {
			return s, line
		}
		rest = rest[1:]
	}
	if s = stampOf(text); s.clock == noClock {
		return s, line
	}
	return s, bytes.TrimLeft(rest, " \t")
}

// stampOf reads a stamp.
func stampOf(b []byte) (s stamp) {
	if k := bytes.LastIndexByte(b, '.'); k >= 0 {
		for _, c := range b[k+1:] {
			if c-'0' > 9 {
				break
			}
			s.digits++
		}
	}
	if v, n, ok := numx.Scaled(b, numx.Second); ok && n == len(b) && v >= 0 {
		s.clock, s.at = relative, v
		if v >= 1e18 {
			s.clock = epoch
		}
		return s
	}
	for _, e := range [...]struct {
		scale int
		from  int64
	}{{numx.Millisecond, 1e18}, {numx.Microsecond, 1e18}, {0, 1e18}} { // too large for seconds
		if v, n, ok := numx.Scaled(b, e.scale); ok && n == len(b) && v >= e.from {
			s.clock, s.at = epoch, v
			s.digits += (9 - e.scale)
			return s
		}
	}
	if len(b) >= 8 && b[2] == ':' && b[5] == ':' {
		b = append([]byte("1970-01-01T"), b...)
		if t, _, ok := mapping.Date(b); ok {
			s.clock, s.at = daytime, t
		}
		return s
	}
	if t, _, ok := mapping.Date(b); ok {
		s.clock, s.at = epoch, t
	}
	return s
}
