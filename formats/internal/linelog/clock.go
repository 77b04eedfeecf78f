package linelog

import (
	"fmt"
	"time"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
)

// clock turns stamps, in file order, into times on the clock of the run. It
// knows what no line says by itself: the year, the zone, which of two equal
// hours it is. What a line before has said decides, so it belongs to the fold.
type clock struct {
	log  *Log
	zone *time.Location // of stamps without one; nil: not given
	year int            // of the first stamp without one; 0: not given
	mod  time.Time

	begun    bool  // a stamp without a year has been seen
	relative bool  // the year is unknown: times count from the first stamp
	origin   int64 // local time that counts as 0, where relative
	last     int64 // local time of the stamp before
	any      bool  // last is set
	lastT    int64 // time of the record before
	timed    bool  // lastT is set
	inferred bool  // offset is what outer stamps showed
	offset   int64 // ns east of UTC
	assumed  bool  // a zone had to be assumed
	day      civil // of the last stamp without a year
	dated    civil // of the last one with a year
	late     bool  // in the hour that comes twice: it is the second
	span     zoneSpan
	at       int64 // offset of the record
}

// zoneSpan is a stretch of time with one offset from UTC.
type zoneSpan struct {
	from, to int64 // s since 1970; empty: not known yet
	offset   int64 // s east of UTC
}

// time gives the time of a record. ok is false where its stamp is no time; then
// the log has been told why.
func (c *clock) time(r *Record) (t, resolution int64, ok bool) {
	inner, outer := &r.Stamp, &r.Outer
	c.at = r.Offset
	switch {
	case outer.Zoned && outer.Year != 0 && !c.relative:
		t := outer.local(int64(outer.Year)) - int64(outer.Offset)*second
		if !exists(int64(outer.Year), outer.Month, outer.Day) {
			return c.bad(r, noSuchDay)
		}
		if inner.Known() && *inner != *outer && !inner.Zoned {
			c.infer(inner, t)
		}
		return c.passed(t), outer.resolution(), true
	case !inner.Known():
		return 0, 0, false
	}
	local, problem := c.local(inner)
	if problem != nil {
		return c.bad(r, problem)
	}
	if inner.Zoned && !c.relative {
		return c.passed(local - int64(inner.Offset)*second), inner.resolution(), true
	}
	if t, problem = c.utc(local); problem != nil {
		return c.bad(r, problem)
	}
	return c.passed(t), inner.resolution(), true
}

// add takes a head.
func (s *seen) add(h *found) {
	st := &h.stamp
	if st.Month == 0 {
		return
	}
	if st.Year == 0 && !s.bare.Known() {
		s.bare = *st
	}
	if !s.outer.Known() && h.outer.Zoned && h.outer.Year != 0 && h.outer != *st && !st.Zoned {
		s.outer, s.inner = h.outer, *st
	}
	if !s.dated.Known() {
		if st.Year != 0 {
			s.dated = *st
		} else if h.outer.Year != 0 {
			s.dated = h.outer
		}
	}
}

// prepare tells the clock what the beginning of the text has shown.
func (c *clock) prepare(s *seen) {
	if s.outer.Known() && exists(int64(s.outer.Year), s.outer.Month, s.outer.Day) {
		c.infer(&s.inner, s.outer.local(int64(s.outer.Year))-int64(s.outer.Offset)*second)
	}
	if c.year != 0 || c.any || !s.bare.Known() || !s.dated.Known() || !exists(int64(s.dated.Year), s.dated.Month, s.dated.Day) {
		return
	}
	// A line with a year tells that of the others if it is close to them.
	at := s.dated.local(int64(s.dated.Year))
	c.last, c.any = at, true
	t, problem := c.nearest(&s.bare)
	if far := t - at; problem != nil || max(far, -far) > 3*daySpan {
		c.last, c.any = 0, false
		return
	}
	year, _, _ := date(floorDay(t))
	c.log.remark("year of the first stamp: %d, as another line of the log shows", year)
}

// passed remembers the time of a record.
func (c *clock) passed(t int64) int64 {
	c.lastT, c.timed = t, true
	return t
}

func (c *clock) bad(r *Record, p *Problem) (int64, int64, bool) {
	c.log.Note(p, r.Offset)
	return 0, 0, false
}

// The problems of stamps.
var (
	noSuchDay  = &Problem{"no_such_day", diag.Error, "a stamp is on a day that its year does not have: its time is unknown", "give the right year with --year"}
	noSuchHour = &Problem{"no_such_time", diag.Notice, "a stamp is in the hour that a change to summer time leaves out: its time is unknown", "give the zone of the server with --tz"}
	twoTimes   = &Problem{"ambiguous_time", diag.Notice, "a stamp is in the hour that comes twice when summer time ends, and no line before it tells which: the first is assumed", "give a log that begins earlier"}
	backwards  = &Problem{"clock_back", diag.Notice, "stamps go back by more than ten minutes: the clock was set, or several logs follow each other", "give the zone with --tz if the step is an hour"}
	noYear     = &Problem{"no_year", diag.Notice, "stamps have no year and nothing tells it: times count from the first stamp", "give the year with --year"}
	noDate     = &Problem{"no_date", diag.Notice, "stamps have no date: times count from the first stamp, a new day begins where they go back by half a day", ""}
	yearByFile = &Problem{"year_assumed", diag.Info, "stamps have no year: that of the file's modification time is assumed", "give the year with --year"}
	noZone     = &Problem{"zone_assumed", diag.Info, "stamps do not state their zone: UTC is assumed", "give the zone of the server with --tz"}
)

// local gives the local time of a stamp, and remembers it.
func (c *clock) local(s *Stamp) (int64, *Problem) {
	switch {
	case s.Month == 0:
		return c.dateless(s), nil
	case s.Year != 0 && s.Year == c.dated.year && s.Month == c.dated.month && s.Day == c.dated.day && !c.relative: // as the one before
		return c.after(c.dated.start+s.ofDay(), nil)
	case s.Year != 0:
		if !exists(int64(s.Year), s.Month, s.Day) {
			return 0, noSuchDay
		}
		t := s.local(int64(s.Year))
		if c.relative { // the years have been given up before
			return c.after(c.nearest(s))
		}
		c.dated = civil{s.Year, s.Month, s.Day, t - s.ofDay()}
		return c.after(t, nil)
	}
	if c.begun && s.Month == c.day.month && s.Day == c.day.day { // as the one before
		c.last = c.day.start + s.ofDay()
		return c.last, nil
	}
	if !c.begun {
		c.begun = true
		if t, problem, done := c.first(s); done {
			if problem != nil {
				c.begun = false
				return 0, problem
			}
			return c.after(t, nil)
		}
	}
	t, problem := c.after(c.nearest(s))
	if c.day = (civil{}); problem == nil {
		c.day = civil{0, s.Month, s.Day, t - s.ofDay()}
	}
	return t, problem
}

// civil is a day and when it begins.
type civil struct {
	year       int32 // 0: as it was told
	month, day int8
	start      int64
}

// after remembers a local time.
func (c *clock) after(t int64, problem *Problem) (int64, *Problem) {
	if problem == nil {
		c.last, c.any = t, true
	}
	return t, problem
}

// forget gives up on dates: the clock of the run begins with its first stamp.
func (c *clock) forget() {
	c.relative = true
	c.log.meta.Clock.Kind = trace.RunClock
}

// first decides on the year of the first stamp without one.
func (c *clock) first(s *Stamp) (t int64, problem *Problem, done bool) {
	switch {
	case c.year != 0:
		c.log.remark("year of the first stamp: %d, as given", c.year)
		if !exists(int64(c.year), s.Month, s.Day) {
			return 0, noSuchDay, true
		}
		return s.local(int64(c.year)), nil, true
	case c.any: // a line with a year came before
		return 0, nil, false
	case !c.mod.IsZero():
		// The first line was written before the last change of the file. Its
		// zone may be ahead of UTC by up to 14 hours.
		y := int64(c.mod.UTC().Year()) + 1
		limit := c.mod.UnixNano() + 14*3600*second
		for tries := 0; tries < 9 && (!exists(y, s.Month, s.Day) || s.local(y) > limit); tries++ {
			y--
		}
		if !exists(y, s.Month, s.Day) {
			return 0, noSuchDay, true
		}
		c.log.Note(yearByFile, c.at)
		c.log.remark("year of the first stamp: %d, from the file's modification time", y)
		return s.local(y), nil, true
	}
	c.forget()
	c.log.Note(noYear, c.at)
	c.origin = s.local(unknownYear)
	if s.Month == 2 && s.Day == 29 {
		c.origin = s.local(leapYear)
	}
	return c.origin, nil, true
}

// The years that stand for an unknown one: the second where it has a 29th of
// February.
const unknownYear, leapYear = 2001, 2000

// nearest gives the local time of a stamp in the year in which it is nearest to
// the one before: 01-01 after 12-31 is a year later, and a writer that lags
// behind is not.
func (c *clock) nearest(s *Stamp) (int64, *Problem) {
	year, _, _ := date(floorDay(c.last))
	if c.relative && s.Month == 2 && s.Day == 29 && year == unknownYear { // it had such a day after all
		shift := days(unknownYear, 1, 1)*daySpan - days(leapYear, 1, 1)*daySpan
		c.origin -= shift
		c.last -= shift
		c.day = civil{}
		year = leapYear
	}
	best, least := year, int64(-1)
	for y := year - 1; y <= year+1; y++ {
		d := s.local(y) - c.last
		if d = max(d, -d); least < 0 || d <= least {
			best, least = y, d
		}
	}
	if !exists(best, s.Month, s.Day) {
		return 0, noSuchDay
	}
	return s.local(best), nil
}

// floorDay returns the day of a time in ns.
func floorDay(t int64) int64 {
	d := t / daySpan
	if t < 0 && d*daySpan != t {
		d--
	}
	return d
}

// dateless gives the local time of a time of day.
func (c *clock) dateless(s *Stamp) int64 {
	if !c.any {
		c.forget()
		c.begun = true
		c.log.Note(noDate, c.at)
		c.origin = days(unknownYear, 1, 1)*daySpan + s.ofDay()
		c.last, c.any = c.origin, true
		return c.origin
	}
	t := floorDay(c.last)*daySpan + s.ofDay()
	switch d := t - c.last; {
	case d < -daySpan/2:
		t += daySpan
	case d > daySpan/2:
		t -= daySpan
	}
	c.last = t
	return t
}

// utc turns a local time into one of the run's clock.
func (c *clock) utc(local int64) (int64, *Problem) {
	if c.relative {
		return local - c.origin, nil
	}
	if c.zone == nil {
		if !c.inferred && !c.assumed {
			c.assumed = true
			c.log.Note(noZone, c.at)
		}
		t := local - c.offset
		if c.timed && t < c.lastT-600*second {
			c.log.Note(backwards, c.at)
		}
		return t, nil
	}
	early, late, n := c.candidates(local)
	switch n {
	case 0:
		return 0, noSuchHour
	case 1:
		c.late = false
		return early, nil
	}
	// Twice: the first of the two, until stamps go back.
	if c.late = c.late || c.timed && early < c.lastT-600*second; c.late {
		return late, nil
	}
	if !c.timed {
		c.log.Note(twoTimes, c.at)
	}
	return early, nil
}

// candidates gives the times at which the zone's clocks show a local time: none,
// one, or the early and the late one.
func (c *clock) candidates(local int64) (early, late int64, n int) {
	s := floorSecond(local)
	frac := local - s*second
	const margin = 86400
	if sp := c.span; s-sp.offset >= sp.from+margin && s-sp.offset < sp.to-margin {
		return (s-sp.offset)*second + frac, 0, 1
	}
	var found [2]int64
	for _, guess := range [2]int64{s - margin, s + margin} {
		_, offset := time.Unix(guess, 0).In(c.zone).Zone()
		t := s - int64(offset)
		if _, there := time.Unix(t, 0).In(c.zone).Zone(); there != offset || n == 1 && found[0] == t {
			continue
		}
		found[n] = t
		n++
	}
	if n == 1 {
		c.learn(found[0])
	}
	if n == 2 && found[0] > found[1] {
		found[0], found[1] = found[1], found[0]
	}
	return found[0]*second + frac, found[1]*second + frac, n
}

// learn remembers the stretch of one offset around t.
func (c *clock) learn(t int64) {
	at := time.Unix(t, 0).In(c.zone)
	_, offset := at.Zone()
	start, end := at.ZoneBounds()
	c.span = zoneSpan{-1 << 40, 1 << 40, int64(offset)}
	if !start.IsZero() {
		c.span.from = start.Unix()
	}
	if !end.IsZero() {
		c.span.to = end.Unix()
	}
}

func floorSecond(t int64) int64 {
	s := t / second
	if t < 0 && s*second != t {
		s--
	}
	return s
}

// infer learns the zone of the log from an outer stamp of the same line, at t.
func (c *clock) infer(inner *Stamp, t int64) {
	if c.inferred || c.zone != nil || inner.Month == 0 {
		return
	}
	const quarter = 900 * second
	best, least := int64(0), int64(-1)
	year, _, _ := date(floorDay(t))
	for y := year - 1; y <= year+1; y++ {
		if inner.Year != 0 && y != int64(inner.Year) {
			continue
		}
		d := inner.local(y) - t
		if far := max(d, -d); least < 0 || far < least {
			best, least = d, far
		}
	}
	offset := (best + quarter/2) / quarter * quarter
	if best < -quarter/2 {
		offset = -((-best + quarter/2) / quarter * quarter)
	}
	if off := best - offset; least < 0 || max(offset, -offset) > 15*3600*second || max(off, -off) > 120*second {
		return // the line was buffered for long: it tells nothing
	}
	c.inferred, c.offset = true, offset
	c.last, c.any = t+offset, true
	sign, a := '+', offset/second
	if a < 0 {
		sign, a = '-', -a
	}
	c.log.remark("stamps without a zone are %c%02d:%02d of UTC, as those with one show, which are preferred", sign, a/3600, a/60%60)
}

// finish tells the run what was decided.
func (c *clock) finish() {
	switch {
	case c.relative:
	case c.zone != nil:
		c.log.remark("zone of stamps that state none: %s, as given", c.zone)
	case c.assumed:
		c.log.remark("zone of stamps that state none: UTC, assumed")
	}
}

// remark adds a note to the run, once.
func (l *Log) remark(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	for _, n := range l.meta.Notes {
		if n == text {
			return
		}
	}
	l.meta.Notes = append(l.meta.Notes, text)
}
