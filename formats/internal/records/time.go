package records

import (
	"bytes"
	"time"
	"unicode"

	"servescope/formats"
	"servescope/formats/internal/numx"
)

// Stamp is a point in time.
type Stamp struct {
	T     int64 // ns since the epoch; as if in UTC where it states no zone
	Step  int64 // ns that the last digit written stands for
	Zoned bool
}

// floatStep is the step in ns of a float64 that holds seconds since the epoch.
const floatStep = 238

// Time is a value that is a point in time: a number since the epoch, in the unit
// that its size tells, or a date.
func (f *Fields) Time(slot int) (Stamp, bool) {
	b := f.Text(slot)
	if s, ok := Date(b); ok {
		return s, true
	}
	v, n, ok := numx.Scaled(b, 0) // whole units
	if !ok || n != len(b) || len(b) == 0 || f.values[slot].kind == formats.Bool {
		return Stamp{}, false
	}
	for _, u := range [...]struct {
		least, step int64
		scale       int
	}{{1e17, 1, numx.Nanosecond}, {1e14, 1e3, numx.Microsecond}, {1e11, 1e6, numx.Millisecond}, {1e8, floatStep, numx.Second}} {
		if v >= u.least {
			v, _, ok = numx.Scaled(b, u.scale)
			return Stamp{v, u.step, true}, ok
		}
	}
	return Stamp{}, false
}

// Date reads a date and a time of day as ISO 8601 and RFC 3339 write them, with T
// or a space between them, or " - " as Gin does.
func Date(b []byte) (s Stamp, ok bool) {
	b = bytes.TrimSpace(b)
	if len(b) < 19 || b[4] != b[7] || b[4] != '-' && b[4] != '/' {
		return s, false
	}
	y, ok1 := digits(b[:4])
	mo, ok2 := digits(b[5:7])
	d, ok3 := digits(b[8:10])
	rest := bytes.TrimLeft(bytes.TrimPrefix(bytes.TrimPrefix(b[10:], []byte(" -")), []byte("T")), " ")
	if !ok1 || !ok2 || !ok3 || y < 1970 || y > 2261 || len(rest) == len(b)-10 || len(rest) < 8 || rest[2] != ':' || rest[5] != ':' {
		return s, false
	}
	h, ok1 := digits(rest[:2])
	m, ok2 := digits(rest[3:5])
	sec, ok3 := digits(rest[6:8])
	t := time.Date(y, time.Month(mo), d, h, m, sec, 0, time.UTC)
	if !ok1 || !ok2 || !ok3 || h > 23 || m > 59 || sec > 60 || t.Day() != d || int(t.Month()) != mo && h < 24 {
		return s, false
	}
	s = Stamp{T: t.UnixNano(), Step: 1e9}
	rest = rest[8:]
	if len(rest) > 1 && (rest[0] == '.' || rest[0] == ',') {
		rest = rest[1:]
		for len(rest) > 0 && rest[0]-'0' <= 9 {
			s.T += int64(rest[0]-'0') * s.Step / 10
			s.Step = max(s.Step/10, 1)
			rest = rest[1:]
		}
	}
	return s, s.zone(bytes.TrimSpace(rest))
}

// zone reads Z, UTC, +00:00, +0000, +00 or nothing.
func (s *Stamp) zone(b []byte) bool {
	switch {
	case len(b) == 0:
		return true
	case string(b) == "Z", string(b) == "UTC":
		s.Zoned = true
		return true
	case b[0] != '+' && b[0] != '-':
		return false
	}
	d := bytes.ReplaceAll(b[1:], []byte(":"), nil)
	if len(d) != 2 && len(d) != 4 {
		return false
	}
	h, ok := digits(d[:2])
	m, ok2 := digits(d[2:])
	offset := (int64(h)*3600 + int64(m)*60) * 1e9
	if b[0] == '+' {
		offset = -offset
	}
	s.T += offset
	s.Zoned = true
	return ok && (ok2 || len(d) == 2) && h < 16 && m < 60
}

// digits reads up to four of them.
func digits(b []byte) (n int, ok bool) {
	for _, c := range b {
		if c-'0' > 9 {
			return 0, false
		}
		n = 10*n + int(c-'0')
	}
	return n, len(b) > 0
}

// In puts a stamp without a zone into one; nil leaves it as it is.
func (s Stamp) In(zone *time.Location) Stamp {
	if !s.Zoned && zone != nil {
		t := time.Unix(0, s.T).UTC()
		s.T = time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), zone).UnixNano()
	}
	return s
}

// units of durations as Go and Rust print them, the longer names first.
var units = [...]struct {
	name  string
	scale int
	times int64
}{{"ns", numx.Nanosecond, 1}, {"µs", numx.Microsecond, 1}, {"μs", numx.Microsecond, 1}, {"us", numx.Microsecond, 1}, {"ms", numx.Millisecond, 1}, {"s", numx.Second, 1}, {"m", numx.Second, 60}, {"h", numx.Second, 3600}}

// Duration reads a duration as Go and Rust print it: 1.5s, 345µs, 1m2.5s. In ns.
func Duration(b []byte) (ns int64, ok bool) {
	for b = bytes.TrimSpace(b); len(b) > 0; ok = true {
		n := bytes.IndexFunc(b, func(r rune) bool { return !unicode.IsDigit(r) && r != '.' })
		if n <= 0 || n > 20 {
			return 0, false
		}
		found := false
		for _, u := range units {
			if rest, is := bytes.CutPrefix(b[n:], []byte(u.name)); is {
				v, k, fits := numx.Scaled(b[:n], u.scale)
				if !fits || k != n || v > 1e18/u.times || ns > 1e18 {
					return 0, false
				}
				ns, b, found = ns+v*u.times, rest, true
				break
			}
		}
		if !found {
			return 0, false
		}
	}
	return ns, ok
}
