package linelog

import (
	"bytes"

	"servescope/formats/internal/numx"
)

// days returns the number of days from 1970-01-01 to a date of the Gregorian
// calendar (H. Hinnant, "chrono-compatible low-level date algorithms").
func days(year int64, month, day int8) int64 {
	m := int64(month)
	if m <= 2 {
		year--
	}
	era := year / 400
	if year < 0 {
		era = (year - 399) / 400
	}
	yoe := year - era*400
	doy := (153*((m+9)%12)+2)/5 + int64(day) - 1
	doe := yoe*365 + yoe/4 - yoe/100 + doy
	return era*146097 + doe - 719468
}

// date is the inverse of days.
func date(z int64) (year int64, month, day int8) {
	z += 719468
	era := z / 146097
	if z < 0 {
		era = (z - 146096) / 146097
	}
	doe := z - era*146097
	yoe := (doe - doe/1460 + doe/36524 - doe/146096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	day = int8(doy - (153*mp+2)/5 + 1)
	month = int8((mp+2)%12 + 1)
	year = yoe + era*400
	if month <= 2 {
		year++
	}
	return year, month, day
}

// exists reports whether there is such a day in the year.
func exists(year int64, month, day int8) bool {
	y, m, d := date(days(year, month, day))
	return y == year && m == month && d == day
}

const (
	second   = int64(1e9)
	daySpan  = 86400 * second
	yearSpan = 366 * daySpan
)

// ofDay returns the stamp's time since midnight in ns.
func (s *Stamp) ofDay() int64 {
	return (int64(s.Hour)*3600+int64(s.Min)*60+int64(s.Sec))*second + int64(s.Nano)
}

// local returns the stamp in the given year as if its clock showed UTC, in ns
// since 1970.
func (s *Stamp) local(year int64) int64 {
	return days(year, s.Month, s.Day)*daySpan + s.ofDay()
}

// epochStamp reads seconds or milliseconds since 1970.
func epochStamp(b []byte, st *Stamp) bool {
	ns, n, ok := numx.Scaled(b, numx.Second)
	if n != len(b) || n == 0 {
		return false
	}
	digits := int8(0)
	if k := bytes.IndexByte(b, '.'); k >= 0 {
		digits = int8(min(len(b)-1-k, 9))
	}
	for scale := numx.Millisecond; !ok; scale -= 3 { // too many seconds: they are smaller units
		if scale < numx.Nanosecond {
			return false
		}
		ns, _, ok = numx.Scaled(b, scale)
		digits = int8(9 - scale)
	}
	if ns < 1e18 { // before 2001: no time since 1970
		return false
	}
	day := ns / daySpan
	y, m, d := date(day)
	rest := ns - day*daySpan
	s := rest / second
	*st = Stamp{Year: int32(y), Month: m, Day: d, Hour: int8(s / 3600), Min: int8(s / 60 % 60), Sec: int8(s % 60),
		Nano: int32(rest - s*second), Digits: digits, Zoned: true, till: len(b)}
	return true
}
