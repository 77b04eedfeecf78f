package mapping

import (
	"bytes"
	"strconv"
	"time"

	"servescope/formats"
	"servescope/formats/internal/column"
	"servescope/formats/internal/numx"
)

// profile counts the forms of the sampled values of a column.
type profile struct {
	joined   string
	levels   []int
	nameUnit unit // the unit at the end of the name

	n, numbers, whole, dates, durations, lists, commas int

	decimals, groups int // commas that can only be decimal; commas that cannot be
	points           int // numbers with a point
	numbered, dotted int // dates of three numbers; those with points between
	days, months     int // of these, those whose first or second number can only be a day
	rounded          int // numbers without their last digits: 1.767E+09

	digits    int // the largest number of digits behind the point
	empty     int // empty lists
	thirds    int // numbers with exactly three digits behind the point
	low, high float64
	values    []float64     // by record; -1 where there is no number
	isName    bool          // the column may hold ids or names of events
	isStatus  bool          // the column may hold statuses
	statuses  int           // values that are a status
	flags     int           // values that are true or false
	texts     []string      // by record, if isName
	typed     *column.Field // the column of a columnar file, or nil
}

// add counts the value of record k.
func (p *profile) add(k int, c cell) {
	for len(p.values) < k {
		p.values = append(p.values, -1)
	}
	v := -1.0
	if c.set && !isNull(c.raw) {
		v = p.addValue(c)
	}
	p.values = append(p.values, v)
	if p.isName {
		for len(p.texts) < k {
			p.texts = append(p.texts, "")
		}
		p.texts = append(p.texts, string(c.raw[:min(len(c.raw), 100)]))
	}
}

// addValue counts a value. It returns the number that stands for it in values, or -1.
func (p *profile) addValue(c cell) float64 {
	p.n++
	raw := bytes.TrimSpace(c.raw)
	if p.isStatus && isStatus(raw) {
		p.statuses++
	}
	if isFlag(raw) {
		p.flags++
	}
	if d, ok := parseDate(raw); ok && len(raw) > 4 && raw[0] == '[' && raw[3] == '/' { // as in access logs
		p.dates++
		p.digits = max(p.digits, d.digits)
		return -1
	}
	if c.kind == formats.Array || len(raw) > 0 && raw[0] == '[' && c.kind == formats.String {
		dates := 0
		if datesOf(raw, parseDate, func(d date, known bool) { dates++; p.digits = max(p.digits, d.digits) }) && dates > 0 {
			p.lists++
			p.dates++
			return -1
		}
		if list, ok := floatsOf(raw); ok {
			p.lists++
			if len(list) == 0 {
				p.empty++
			} else { // the middle element stands for the list
				return list[len(list)/2]
			}
			return -1
		}
	}
	if v, ok := float(raw); ok {
		p.addNumber(raw, v)
		return v
	}
	if d, ok := parseDate(raw); ok {
		p.dates++
		p.digits = max(p.digits, d.digits)
	} else if p.addOtherDate(raw) {
		p.dates++
	} else if _, ok := duration(raw); ok {
		p.durations++
	} else if decimalComma(raw) {
		p.addComma(raw)
	}
	return -1
}

// addNumber counts a number.
func (p *profile) addNumber(raw []byte, v float64) {
	if p.numbers++; p.numbers == 1 {
		p.low, p.high = v, v
	}
	p.low, p.high = min(p.low, v), max(p.high, v)
	d := 0
	if k := bytes.IndexByte(raw, '.'); k >= 0 {
		d = len(raw) - k - 1
		p.points++
	} else if p.typed != nil && p.typed.Step > 0 {
		d = digitsOf(raw)
	}
	if d == 3 {
		p.thirds++
	}
	if isRounded(raw) {
		p.rounded++
	}
	if _, n, whole := numx.ParseInt(raw); whole && n == len(raw) {
		p.whole++
	}
	p.digits = max(p.digits, d)
}

// addComma counts a number with a comma.
func (p *profile) addComma(raw []byte) {
	p.commas++
	head, tail, _ := bytes.Cut(raw, []byte(","))
	if bytes.ContainsAny(tail, ",.") || bytes.IndexByte(head, '.') >= 0 {
		p.groups++
	} else if len(tail) != 3 {
		p.decimals++
	}
}

// decimalComma reports whether raw is a number with a comma: 1,5 or 1,500.
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

// addOtherDate counts a date in a form that parseDate does not read.
func (p *profile) addOtherDate(raw []byte) bool {
	if d, ok := named(raw); ok {
		p.digits = max(p.digits, d.digits)
		return true
	}
	return p.addNumberedDate(raw)
}

// addNumberedDate counts a date of three numbers.
func (p *profile) addNumberedDate(raw []byte) bool {
	n, ok := numbersOf(raw)
	if !ok {
		return false
	}
	d, ok := dateOf(raw, dayFirst)
	if !ok {
		d, ok = dateOf(raw, monthFirst)
	}
	if !ok {
		return false
	}
	p.digits = max(p.digits, d.digits)
	p.numbered++
	if n.dots {
		p.dotted++
	}
	if n.first > 12 {
		p.days++
	} else if n.second > 12 {
		p.months++
	}
	return true
}

// nearlyAll reports whether k is at least nine tenths of the values.
func (p *profile) nearlyAll(k int) bool { return k > 0 && 10*k >= 9*p.n }

// mostly reports whether k is at least half of the values. The others count as mistakes.
func (p *profile) mostly(k int) bool { return k > 0 && 2*k >= p.n }

// valueRange returns the lowest and the highest number for a message.
func (p *profile) valueRange() string {
	return strconv.FormatFloat(p.low, 'g', 6, 64) + " … " + strconv.FormatFloat(p.high, 'g', 6, 64)
}

// epochs are the units of numbers that are times since 1970, by magnitude: 2015 to 2039
// in s, ms, µs and ns. A wider range would take in clocks that began when the machine
// did: 2001 to 2096 in ms is 12 to 46 days in µs.
var epochs = [...]struct {
	unit unit
	from float64
}{{seconds, 1.42e9}, {millis, 1.42e12}, {micros, 1.42e15}, {nanos, 1.42e18}}

const epochSpan = 1.55 // upper bound over lower bound of a unit

// epoch returns the unit in which the numbers are times since 1970, or noUnit.
func (p *profile) epoch() unit {
	for _, e := range epochs {
		n := 0
		for _, v := range p.values {
			if v >= e.from && v < epochSpan*e.from {
				n++
			}
		}
		if p.nearlyAll(n) {
			return e.unit
		}
	}
	return noUnit
}

// epochCount returns how many of the numbers are times since 1970 in any unit.
func (p *profile) epochCount() (n int) {
	for _, v := range p.values {
		for _, e := range epochs {
			if v >= e.from && v < epochSpan*e.from {
				n++
			}
		}
	}
	return n
}

// tooCoarse is the reason to reject times since 1970 that a 32-bit float (in s, in steps
// of 128) or a spreadsheet (1.76732E+09) has rounded.
const tooCoarse = "times since 1970 are rounded to more than a second: 32-bit floats and spreadsheets do that"

// coarse reports whether the numbers are times since 1970 without their last digits.
func (p *profile) coarse() bool {
	return (p.typed != nil && p.typed.Narrow || p.mostly(p.rounded)) && p.epoch() != noUnit
}

// isRounded reports whether a number has an exponent and fewer digits than it has places
// in front of its point.
func isRounded(raw []byte) bool {
	k := bytes.IndexAny(raw, "eE")
	if k < 0 {
		return false
	}
	exponent, err := strconv.Atoi(string(raw[k+1:]))
	_, fraction, _ := bytes.Cut(raw[:k], []byte("."))
	return err == nil && exponent > len(fraction)
}

// isLatency reports whether a column whose name may be that of a stamp or of a latency
// (request_time, response_time) holds latencies: its numbers are not times since 1970.
func (p *profile) isLatency() bool {
	return p.fits(span) && (matchName(e2e, p.joined, p.levels) >= 0 || matchName(ttft, p.joined, p.levels) >= 0)
}

// fitsType reports whether a column of a time type fits a class of roles. A timestamp is
// not a duration, and a day is too coarse for either.
func (p *profile) fitsType(c class) bool {
	f := p.typed
	list := f.Kind == column.IntList
	if f.Step >= int64(24*time.Hour) {
		return false
	}
	switch c {
	case stamp:
		return f.Instant && !list
	case stamps:
		return f.Instant && list
	case span:
		return !f.Instant && !list
	case spans:
		return !f.Instant && list
	}
	return c == text && !list
}

// fits reports whether the values of a column can be those of a class of roles.
func (p *profile) fits(c class) bool {
	numeric := p.mostly(p.numbers)
	if p.typed != nil && p.typed.Step > 0 && p.n > 0 {
		return p.fitsType(c)
	}
	if p.coarse() && (c == stamp || c == stamps) {
		return false
	}
	switch c {
	case stamp:
		return p.mostly(p.dates) && p.lists == 0 || numeric && (p.epoch() != noUnit || p.nameUnit == noUnit || p.digits > 0 || p.whole > 0)
	case span:
		return p.mostly(p.durations) || numeric && p.epoch() == noUnit || p.commas > 0 && p.mostly(p.commas+p.numbers)
	case spans:
		return p.mostly(p.lists) && p.dates == 0
	case stamps:
		return p.mostly(p.lists)
	case count:
		return numeric || p.commas > 0
	}
	return p.n > 0
}
