package mapping

import (
	"bytes"
	"strconv"
	"time"

	"servescope/formats"
	"servescope/formats/internal/column"
	"servescope/formats/internal/numx"
)

// profile is what the sampled values of a column are.
type profile struct {
	joined string
	levels []int
	named  unit // that the name ends with

	n, numbers, whole, dates, durations, lists, commas int

	numbered, dotted int // dates of three numbers, those parted by points
	days, months     int // of these, those whose first number can only be the day, and whose second can only be
	rounded          int // numbers whose last digits are not written: 1.767E+09

	digits    int // most behind the point
	empty     int // lists without an element
	thirds    int // numbers with exactly three digits behind the point
	low, high float64
	values    []float64     // by record; -1 where there is none
	label     bool          // the column may name events or requests
	state     bool          // it may be a status
	statuses  int           // values that are one
	flags     int           // values that are true or false
	texts     []string      // by record, of such a column
	typed     *column.Field // what a columnar file says of it, or nil
}

// add takes the value of record k.
func (p *profile) add(k int, c cell) {
	for len(p.values) < k {
		p.values = append(p.values, -1)
	}
	v := -1.0
	if c.set && !isNull(c.raw) {
		v = p.value(c)
	}
	p.values = append(p.values, v)
	if p.label {
		for len(p.texts) < k {
			p.texts = append(p.texts, "")
		}
		p.texts = append(p.texts, string(c.raw[:min(len(c.raw), 100)]))
	}
}

func (p *profile) value(c cell) float64 {
	p.n++
	raw := bytes.TrimSpace(c.raw)
	if p.state && isStatus(raw) {
		p.statuses++
	}
	if flag(raw) {
		p.flags++
	}
	if d, ok := parseDate(raw); ok && len(raw) > 4 && raw[0] == '[' && raw[3] == '/' { // of an access log
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
			} else { // the middle of a list stands for it
				return list[len(list)/2]
			}
			return -1
		}
	}
	if v, ok := float(raw); ok {
		p.numeral(raw, v)
		return v
	}
	if d, ok := parseDate(raw); ok {
		p.dates++
		p.digits = max(p.digits, d.digits)
	} else if p.otherDate(raw) {
		p.dates++
	} else if _, ok := duration(raw); ok {
		p.durations++
	} else if decimalComma(raw) {
		p.commas++
	}
	return -1
}

// numeral takes a number.
func (p *profile) numeral(raw []byte, v float64) {
	if p.numbers++; p.numbers == 1 {
		p.low, p.high = v, v
	}
	p.low, p.high = min(p.low, v), max(p.high, v)
	d := 0
	if k := bytes.IndexByte(raw, '.'); k >= 0 {
		d = len(raw) - k - 1
	} else if p.typed != nil && p.typed.Step > 0 {
		d = digits(raw)
	}
	if d == 3 {
		p.thirds++
	}
	if rounded(raw) {
		p.rounded++
	}
	if _, n, whole := numx.ParseInt(raw); whole && n == len(raw) {
		p.whole++
	}
	p.digits = max(p.digits, d)
}

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

// otherDate takes a date in a form beyond that of parseDate.
func (p *profile) otherDate(raw []byte) bool {
	if d, ok := named(raw); ok {
		p.digits = max(p.digits, d.digits)
		return true
	}
	return p.number(raw)
}

// number takes a date of three numbers.
func (p *profile) number(raw []byte) bool {
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

// most tells whether nearly all of the values are of a kind.
func (p *profile) most(k int) bool { return k > 0 && 10*k >= 9*p.n }

// half tells whether a kind is that of the column: others in it are mistakes.
func (p *profile) half(k int) bool { return k > 0 && 2*k >= p.n }

func (p *profile) span() string {
	return strconv.FormatFloat(p.low, 'g', 6, 64) + " … " + strconv.FormatFloat(p.high, 'g', 6, 64)
}

// epochs are the units of numbers that are times since 1970, by magnitude: 2015
// to 2039 in s, ms, µs and ns. Wider, a clock that began with the machine would
// look like them too: 2001 to 2096 in ms are 12 to 46 days in µs.
var epochs = [...]struct {
	unit unit
	from float64
}{{seconds, 1.42e9}, {millis, 1.42e12}, {micros, 1.42e15}, {nanos, 1.42e18}}

const epochSpan = 1.55 // the greatest number is that many times the least

// epoch returns the unit in which the numbers are times since 1970.
func (p *profile) epoch() unit {
	for _, e := range epochs {
		n := 0
		for _, v := range p.values {
			if v >= e.from && v < epochSpan*e.from {
				n++
			}
		}
		if p.most(n) {
			return e.unit
		}
	}
	return noUnit
}

// epochal counts the numbers that are times since 1970 in any unit.
func (p *profile) epochal() (n int) {
	for _, v := range p.values {
		for _, e := range epochs {
			if v >= e.from && v < epochSpan*e.from {
				n++
			}
		}
	}
	return n
}

// tooCoarse says why times since 1970 are not used that a 32-bit float holds (in s, in
// steps of 128) or a spreadsheet has rounded (1.76732E+09).
const tooCoarse = "times since 1970 are rounded to more than a second: 32-bit floats and spreadsheets do that"

// coarse tells whether the numbers are times since 1970 without their last digits.
func (p *profile) coarse() bool {
	return (p.typed != nil && p.typed.Narrow || p.half(p.rounded)) && p.epoch() != noUnit
}

// rounded tells whether a number is written with an exponent and fewer digits than it
// has in front of its point.
func rounded(raw []byte) bool {
	k := bytes.IndexAny(raw, "eE")
	if k < 0 {
		return false
	}
	exponent, err := strconv.Atoi(string(raw[k+1:]))
	_, fraction, _ := bytes.Cut(raw[:k], []byte("."))
	return err == nil && exponent > len(fraction)
}

// lasts tells whether a column whose name may be that of a stamp or of a latency
// (request_time, response_time) is a latency: its numbers are no times since 1970.
func (p *profile) lasts() bool {
	return p.fits(span) && (match(e2e, p.joined, p.levels) >= 0 || match(ttft, p.joined, p.levels) >= 0)
}

// kept tells whether a column whose type is that of times can have a role: what is
// a timestamp is no duration. A day is too coarse for either.
func (p *profile) kept(c class) bool {
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

// fits tells whether a column's values can be those of a role.
func (p *profile) fits(c class) bool {
	numeric := p.half(p.numbers)
	if p.typed != nil && p.typed.Step > 0 && p.n > 0 {
		return p.kept(c)
	}
	if p.coarse() && (c == stamp || c == stamps) {
		return false
	}
	switch c {
	case stamp:
		return p.half(p.dates) && p.lists == 0 || numeric && (p.epoch() != noUnit || p.named == noUnit || p.digits > 0 || p.whole > 0)
	case span:
		return p.half(p.durations) || numeric && p.epoch() == noUnit || p.commas > 0 && p.half(p.commas+p.numbers)
	case spans:
		return p.half(p.lists) && p.dates == 0
	case stamps:
		return p.half(p.lists)
	case count:
		return numeric || p.commas > 0
	}
	return p.n > 0
}
