package mapping

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"
)

// order is which of day and month a date of three numbers has first.
type order uint8

const (
	noOrder order = iota
	dayFirst
	monthFirst
)

var orderNames = [...]string{"", "dmy", "mdy"}

// dateOf reads a date in any form: those of parseDate, with the name of a month (RFC
// 1123 and 2822, the C library, Kibana, browsers), and of three numbers, of which the
// last is the year, where it is known which is the month.
func dateOf(raw []byte, o order) (d date, ok bool) {
	if d, ok = parseDate(raw); ok {
		return d, true
	}
	if n, is := numbersOf(raw); is {
		day, month := n.first, n.second
		switch o {
		case noOrder:
			return d, false
		case monthFirst:
			day, month = month, day
		}
		return n.year.at(month, day, n.clock)
	}
	return named(raw)
}

// numbered is a date of three numbers.
type numbered struct {
	first, second int
	dots          bool // part them
	year          year
	clock         []byte
}

// numbersOf reads the numbers of 11/30/2026 2:05:01 PM and 30.11.2026 14:05:01,123.
func numbersOf(raw []byte) (n numbered, ok bool) {
	b := bytes.Trim(raw, " []\"")
	var y, k int
	if n.first, k = leading(b, 2); k == 0 || len(b) < k+1 || bytes.IndexByte([]byte("/.-"), b[k]) < 0 {
		return n, false
	}
	sep := b[k]
	b = b[k+1:]
	if n.second, k = leading(b, 2); k == 0 || len(b) < k+1 || b[k] != sep {
		return n, false
	}
	b = b[k+1:]
	if y, k = leading(b, 5); k != 4 || len(b) == k || bytes.IndexByte([]byte(" ,T"), b[k]) < 0 {
		return n, false
	}
	n.dots, n.year, n.clock = sep == '.', year(y), bytes.TrimLeft(b[k:], " ,T")
	return n, max(n.first, n.second) <= 31 && min(n.first, n.second) >= 1 && min(n.first, n.second) <= 12 && len(n.clock) > 0
}

// leading reads the digits that b begins with, at most so many.
func leading(b []byte, most int) (v, n int) {
	for n < len(b) && n < most && b[n]-'0' <= 9 {
		v = v*10 + int(b[n]-'0')
		n++
	}
	return v, n
}

// named reads a date with the name of its month, and perhaps of its day:
// Mon, 30 Nov 2026 14:05:01 +0000, Mon Nov 30 14:05:01 2026, Nov 30, 2026 @ 14:05:01.123.
func named(raw []byte) (d date, ok bool) {
	var words [8][]byte
	n := 0
	rest := bytes.Trim(raw, " []\"")
	for len(rest) > 0 && n < len(words) {
		k := bytes.IndexAny(rest, " ,@")
		if k < 0 {
			k = len(rest)
		}
		if k > 0 {
			words[n] = rest[:k]
			n++
		}
		rest = rest[min(k+1, len(rest)):]
	}
	w := words[:n]
	if n > 1 && weekday(w[0]) {
		w = w[1:]
	}
	if len(w) > 0 && bytes.Count(w[0], []byte("-")) == 2 { // 30-Nov-2026
		w = append(bytes.Split(w[0], []byte("-")), w[1:]...)
	}
	if len(w) < 4 || len(rest) > 0 {
		return d, false
	}
	at, on := 0, 1 // of the month, of the day
	if month(w[0]) == 0 {
		at, on = 1, 0
	}
	y, clock := w[2], w[3:]
	if bytes.IndexByte(w[2], ':') > 0 { // the year comes last, perhaps behind a zone
		y, clock = w[len(w)-1], w[2:len(w)-1]
	}
	day, k := leading(w[on], 3)
	number, size := leading(y, 5)
	if k == 0 || k != len(w[on]) || size != 4 || len(y) != 4 {
		return d, false
	}
	return year(number).at(month(w[at]), day, bytes.Join(clock, []byte(" ")))
}

func weekday(word []byte) bool {
	return len(word) >= 3 && strings.Contains(" mon tue wed thu fri sat sun ", " "+strings.ToLower(string(word[:3]))+" ") && word[len(word)-1] > '9'
}

// month returns the number of a month by its English name or the beginning of it, or 0.
func month(word []byte) int {
	if len(word) < 3 || len(word) > 9 {
		return 0
	}
	k := strings.Index(strings.ToLower(months), strings.ToLower(string(word[:3])))
	name := ""
	if k >= 0 && k%3 == 0 {
		name = time.Month(k/3 + 1).String()
	}
	if len(word) > len(name) || !strings.EqualFold(name[:len(word)], string(word)) && !strings.EqualFold(string(word), "sept") {
		return 0
	}
	return k/3 + 1
}

type year int

// at reads a time of day, with AM or PM or neither and a zone or none, on a day.
func (y year) at(month, day int, clock []byte) (d date, ok bool) {
	h, n := leading(clock, 2)
	if n == 0 || n == len(clock) || clock[n] != ':' || month < 1 || month > 12 || y < 1970 || y > 2261 {
		return d, false
	}
	rest := clock[n+1:]
	m, ok := digitsAt(rest, 0, 2)
	if !ok || h > 23 || m > 59 {
		return d, false
	}
	rest = rest[2:]
	s := 0
	if len(rest) > 0 && rest[0] == ':' {
		if s, ok = digitsAt(rest, 1, 2); !ok || s > 60 {
			return d, false
		}
		rest = rest[3:]
	}
	fraction := rest
	if len(rest) > 1 && (rest[0] == '.' || rest[0] == ',') && rest[1]-'0' <= 9 {
		for rest = rest[1:]; len(rest) > 0 && rest[0]-'0' <= 9; rest = rest[1:] {
		}
	}
	fraction = fraction[:len(fraction)-len(rest)]
	rest = bytes.TrimLeft(bytes.ReplaceAll(rest, []byte("\u202f"), []byte(" ")), " ") // browsers write it before PM
	if len(rest) >= 2 && rest[1]|0x20 == 'm' && (rest[0]|0x20 == 'a' || rest[0]|0x20 == 'p') {
		if h < 1 || h > 12 {
			return d, false
		}
		if h %= 12; rest[0]|0x20 == 'p' {
			h += 12
		}
		rest = bytes.TrimLeft(rest[2:], " ")
	}
	t := time.Date(int(y), time.Month(month), day, h, m, min(s, 59), 0, time.UTC)
	if t.Day() != day {
		return d, false
	}
	d.local = t.UnixNano()
	d.fraction(fraction)
	return d, d.zone(rest)
}

// fraction adds the fraction of a second, which begins with its point, and returns how
// many bytes it has.
func (d *date) fraction(b []byte) int {
	if len(b) < 2 || b[0] != '.' && b[0] != ',' || b[1]-'0' > 9 {
		return 0
	}
	unit := int64(1e8)
	i := 1
	for ; i < len(b) && b[i]-'0' <= 9; i++ {
		d.local += int64(b[i]-'0') * unit
		unit /= 10
		d.digits++
	}
	return i
}

// dated says which of day and month the dates of a column have first, where they are
// three numbers: as the caller says, as points part them, or as numbers above 12 tell in
// any column of the table.
func (s *sample) dated(m *mapping, e *entry) {
	p := &s.profiles[e.field]
	if e.order != noOrder || p.numbered == 0 {
		return
	}
	var days, months int
	for i := range s.profiles {
		days += s.profiles[i].days
		months += s.profiles[i].months
	}
	say := mapOption(assign(e.role, e.name, noUnit)+":dmy") + " or " + mapOption(assign(e.role, e.name, noUnit)+":mdy")
	switch {
	case p.dotted == p.numbered && p.months == 0:
		e.order, e.why = dayFirst, e.why+"; points part the day, the month and the year"
	case days > 0 && months == 0:
		e.order, e.why = dayFirst, e.why+"; the day comes first: numbers above 12 stand there"
	case months > 0 && days == 0:
		e.order, e.why = monthFirst, e.why+"; the month comes first: numbers above 12 stand behind it"
	case days > 0:
		m.ask = "column " + quoteName(e.name) + " has dates with the day first and dates with the month first"
		m.fix = "write dates as 2026-11-30 14:05:01, or say " + say
	default:
		m.ask = "column " + quoteName(e.name) + " has dates such as 03/04/2026, of which the day and the month cannot be told apart: no number is above 12"
		m.fix = "say " + say
	}
}

// idleDates notes columns of dates that are not used, where no other says when requests
// begin.
func (s *sample) idleDates(m *mapping) {
	if m.has(arrival, sent) {
		return
	}
	for i := range s.profiles {
		p := &s.profiles[i]
		instant := p.typed != nil && p.typed.Instant && p.typed.Step < int64(24*time.Hour)
		if !instant && !p.nearlyAll(p.dates) || slices.ContainsFunc(m.entries, func(e entry) bool { return e.field == i }) {
			continue
		}
		what := "dates"
		if instant {
			what = "timestamps"
		}
		m.notes = append(m.notes, fmt.Sprintf("column %s has %s and is not used: its name is that of no role; where it says when requests begin or end, say %s or %s", quoteName(s.names[i]), what,
			mapOption(assign(arrival, s.names[i], noUnit)), mapOption(assign(finished, s.names[i], noUnit))))
	}
}
