package mapping

import (
	"bytes"
	"time"

	"servescope/formats/internal/numx"
)

// unit is how a column writes times.
type unit uint8

const (
	noUnit unit = iota
	seconds
	millis
	micros
	nanos
	written // with its unit or as a date, in the value
)

var unitNames = [...]string{"", "s", "ms", "us", "ns", "iso"}

// scale returns the power of ten of the unit in ns.
func (u unit) scale() int {
	return [...]int{0, numx.Second, numx.Millisecond, numx.Microsecond, 0, 0}[u]
}

// unitOf returns the unit that a word means.
func unitOf(word string) unit {
	switch word {
	case "s", "sec", "secs", "second", "seconds":
		return seconds
	case "ms", "msec", "msecs", "milli", "millis", "millisecond", "milliseconds":
		return millis
	case "us", "µs", "μs", "usec", "usecs", "micro", "micros", "microsecond", "microseconds":
		return micros
	case "ns", "nsec", "nano", "nanos", "nanosecond", "nanoseconds":
		return nanos
	case "iso", "date":
		return written
	}
	return noUnit
}

// number reads all of raw as a number times 10^scale.
func number(raw []byte, scale int) (int64, bool) {
	raw = bytes.TrimPrefix(bytes.TrimSpace(raw), []byte("+"))
	v, n, ok := numx.Scaled(raw, scale)
	return v, ok && n == len(raw)
}

// float reads all of raw as a number.
func float(raw []byte) (float64, bool) {
	raw = bytes.TrimPrefix(bytes.TrimSpace(raw), []byte("+"))
	v, n, ok := numx.ParseFloat(raw)
	return v, ok && n == len(raw)
}

// duration reads a duration with its units: 1.5s, 2m3s, "120 ms", or in the forms of
// ISO 8601 and of a clock.
func duration(raw []byte) (ns int64, ok bool) {
	raw = bytes.TrimSpace(raw)
	if len(raw) > 0 && raw[0] == 'P' {
		return isoDuration(raw[1:])
	}
	if bytes.IndexByte(raw, ':') > 0 {
		return clockDuration(raw)
	}
	for len(raw) > 0 {
		_, n, fits := numx.Scaled(raw, 0)
		if !fits {
			return 0, false
		}
		num := raw[:n]
		raw = bytes.TrimLeft(raw[n:], " ")
		k := 0
		for k < len(raw) && raw[k]-'0' > 9 && raw[k] != ' ' {
			k++
		}
		var v int64
		switch name := string(raw[:k]); name {
		case "h", "m", "min":
			if v, fits = number(num, numx.Second); v > 1e15 {
				return 0, false
			}
			if v *= 60; name == "h" {
				v *= 60
			}
		default:
			u := unitOf(name)
			if u == noUnit || u == written {
				return 0, false
			}
			v, fits = number(num, u.scale())
		}
		if !fits || v < 0 || v > 1e18 {
			return 0, false
		}
		raw = bytes.TrimLeft(raw[k:], " ")
		ns, ok = min(ns+v, 1e18), true
	}
	return ns, ok
}

// date is a point in time as it is written.
type date struct {
	local  int64 // ns since 1970, as if the clock showed UTC
	offset int64 // of the zone, s east of UTC
	zoned  bool
	digits int // of the fraction
}

// digitsAt reads n digits at b[i:].
func digitsAt(b []byte, i, n int) (int, bool) {
	if i < 0 || i+n > len(b) {
		return 0, false
	}
	v := 0
	for _, c := range b[i : i+n] {
		if c-'0' > 9 {
			return 0, false
		}
		v = v*10 + int(c-'0')
	}
	return v, true
}

const months = "JanFebMarAprMayJunJulAugSepOctNovDec"

// parseDate reads ISO 8601 and RFC 3339 as they are written in the wild (T or a
// space, a point or a comma, Z, UTC, +00:00, +0000, +00 or nothing, separators or
// none) and the form of access logs: 02/Jan/2026:15:04:05 +0000.
func parseDate(raw []byte) (d date, ok bool) {
	b := bytes.Trim(raw, " []\"")
	var y, mo, day, i int
	var ok1, ok2, ok3 bool
	switch {
	case len(b) > 11 && b[2] == '/' && b[6] == '/' && b[11] == ':':
		day, ok1 = digitsAt(b, 0, 2)
		k := bytes.Index([]byte(months), b[3:6])
		mo, ok2 = k/3+1, k >= 0 && k%3 == 0
		y, ok3 = digitsAt(b, 7, 4)
		i = 11
	case len(b) > 10 && (b[4] == '-' || b[4] == '/') && b[7] == b[4]:
		y, ok1 = digitsAt(b, 0, 4)
		mo, ok2 = digitsAt(b, 5, 2)
		day, ok3 = digitsAt(b, 8, 2)
		i = 10
	case len(b) > 8 && b[8] == 'T':
		y, ok1 = digitsAt(b, 0, 4)
		mo, ok2 = digitsAt(b, 4, 2)
		day, ok3 = digitsAt(b, 6, 2)
		i = 8
	}
	if !ok1 || !ok2 || !ok3 || y < 1970 || y > 2261 || bytes.IndexByte([]byte("T t_:"), b[i]) < 0 {
		return d, false
	}
	h, m, s, i, ok := clockAt(b, i+1)
	if !ok {
		return d, false
	}
	t := time.Date(y, time.Month(mo), day, h, m, s, 0, time.UTC)
	if ty, tm, td := t.Date(); ty != y || int(tm) != mo || td != day {
		return d, false
	}
	d.local = t.UnixNano()
	i += d.fraction(b[i:])
	return d, d.zone(bytes.TrimSpace(b[i:]))
}

// clockAt reads a time of day with or without colons and seconds.
func clockAt(b []byte, i int) (h, m, s, next int, ok bool) {
	step := 2
	if i+2 < len(b) && b[i+2] == ':' {
		step = 3
	}
	h, ok = digitsAt(b, i, 2)
	m, ok2 := digitsAt(b, i+step, 2)
	next = i + step + 2
	if sec, there := digitsAt(b, i+2*step, 2); there && (step == 2 || b[next] == ':') {
		s, next = min(sec, 59), i+2*step+2
		ok = ok && sec <= 60
	}
	return h, m, s, next, ok && ok2 && h <= 23 && m <= 59
}

// zone reads what stands behind a time of day.
func (d *date) zone(b []byte) bool {
	switch string(b) {
	case "":
		return true
	case "Z", "z", "UTC", "GMT", "Etc/UTC":
		d.zoned = true
		return true
	}
	h, ok := digitsAt(b, 1, 2)
	if !ok || b[0] != '+' && b[0] != '-' || h > 15 {
		return false
	}
	rest := bytes.TrimPrefix(b[3:], []byte(":"))
	m := 0
	if len(rest) > 0 {
		if m, ok = digitsAt(rest, 0, 2); !ok || len(rest) != 2 || m > 59 {
			return false
		}
	}
	d.zoned = true
	if d.offset = int64(h*3600 + m*60); b[0] == '-' {
		d.offset = -d.offset
	}
	return true
}

// zone is that of dates that state none.
type zone struct {
	loc  *time.Location
	last int64 // the date before
	any  bool
	late bool // in the hour that comes twice, its second turn
}

// utc returns the time of a date, in ns since 1970; problem says why there is
// none, or what was assumed.
func (z *zone) utc(d *date) (t int64, known bool, p *problem) {
	if d.zoned {
		return d.local - d.offset*1e9, true, nil
	}
	if z.loc == nil {
		return d.local, true, zoneAssumed
	}
	var at [2]int64
	n := 0
	for _, guess := range [2]int64{d.local - 86400e9, d.local + 86400e9} {
		_, offset := time.Unix(0, guess).In(z.loc).Zone()
		t := d.local - int64(offset)*1e9
		if _, there := time.Unix(0, t).In(z.loc).Zone(); there == offset && (n == 0 || at[0] != t) {
			at[n] = t
			n++
		}
	}
	switch n {
	case 0:
		return 0, false, noSuchTime
	case 1:
		t, z.late = at[0], false
	default:
		early, late := min(at[0], at[1]), max(at[0], at[1])
		if !z.any {
			p = ambiguousTime
		}
		if z.late = z.late || z.any && early < z.last-600e9; z.late {
			early = late
		}
		t = early
	}
	z.last, z.any = t, true
	return t, true, p
}

// Date reads a date, as parseDate does: t is in ns since 1970 where the zone is
// known, else as if it were UTC.
func Date(raw []byte) (t int64, zoned, ok bool) {
	d, ok := parseDate(raw)
	return d.local - d.offset*1e9, d.zoned, ok
}
