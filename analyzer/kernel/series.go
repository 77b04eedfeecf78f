package kernel

import (
	"math/bits"

	"servescope/analyzer/report"
	"servescope/analyzer/unit"
)

// series is what is known of the rows of one series of steps.
type series struct {
	n, idle    int64 // rows; those behind a pause
	resolution int64 // ns; the coarsest
	clock      string
	mixed      bool // there are stamps of several clocks

	t, duration            tally128
	running, waiting       tally128
	kv, prompt, generation tally128 // in millionths
	classes                [len(stepClasses)]tally128
}

// micro is the scale of figures with a fraction: logs print a few decimals, and
// whole numbers add up to the same in any order.
const micro = 1_000_000

// maxLogged bounds figures with a fraction: what lies beyond is no rate.
const maxLogged = 1e12

// add adds row i.
func (s *series) add(c *stepColumns, i int) {
	s.n++
	if v, ok := c.resolution.At(i); ok {
		s.resolution = max(s.resolution, v)
	}
	if v, ok := c.t.At(i); ok {
		clock := c.runClock
		if code, own := c.clock.At(i); own {
			clock = c.clock.Values[code]
		}
		if s.t.n == 0 {
			s.clock = clock
		}
		s.mixed = s.mixed || s.clock != clock
		s.t.add(v)
	}
	for _, x := range [...]struct {
		to   *tally128
		from interface{ At(int) (int64, bool) }
	}{{&s.duration, c.duration}, {&s.running, c.running}, {&s.waiting, c.waiting}} {
		if v, ok := x.from.At(i); ok {
			x.to.add(v)
		}
	}
	for j := range c.classes {
		if v, ok := c.classes[j].At(i); ok {
			s.classes[j].add(v)
		}
	}
	if v, ok := c.kv.At(i); ok {
		s.kv.addMicro(v)
	}
	if idle, ok := c.idle.At(i); ok && idle {
		s.idle++ // the rates on this row count a pause
		return
	}
	if v, ok := c.prompt.At(i); ok {
		s.prompt.addMicro(v)
	}
	if v, ok := c.generation.At(i); ok {
		s.generation.addMicro(v)
	}
}

func (s *series) tallies() []*tally128 {
	list := []*tally128{&s.t, &s.duration, &s.running, &s.waiting, &s.kv, &s.prompt, &s.generation}
	for i := range s.classes {
		list = append(list, &s.classes[i])
	}
	return list
}

func (s *series) merge(o *series) {
	if s.t.n == 0 {
		s.clock = o.clock
	}
	s.mixed = s.mixed || o.mixed || s.t.n > 0 && o.t.n > 0 && s.clock != o.clock
	s.n += o.n
	s.idle += o.idle
	s.resolution = max(s.resolution, o.resolution)
	theirs := o.tallies()
	for i, t := range s.tallies() {
		t.merge(theirs[i])
	}
}

func (s *series) appendTo(dst []byte) []byte {
	mixed := int64(0)
	if s.mixed {
		mixed = 1
	}
	clock := s.clock
	if s.mixed {
		clock = "" // whichever came first
	}
	dst = appendText(appendInts(dst, s.n, s.idle, s.resolution, mixed), clock)
	for _, t := range s.tallies() {
		dst = appendInts(dst, t.n, t.hi, int64(t.lo), t.least, t.most)
	}
	return dst
}

func (s *series) load(src *reader) {
	var mixed int64
	src.ints(&s.n, &s.idle, &s.resolution, &mixed)
	s.mixed, s.clock = mixed != 0, src.text()
	for _, t := range s.tallies() {
		var lo int64
		src.ints(&t.n, &t.hi, &lo, &t.least, &t.most)
		t.lo = uint64(lo)
	}
}

// tally128 counts values and adds them up exactly.
type tally128 struct {
	n           int64
	hi          int64
	lo          uint64
	least, most int64
}

func (t *tally128) add(v int64) {
	if t.n == 0 || v < t.least {
		t.least = v
	}
	if t.n == 0 || v > t.most {
		t.most = v
	}
	t.n++
	t.plus(v>>63, uint64(v))
}

func (t *tally128) plus(hi int64, lo uint64) {
	var carry uint64
	t.lo, carry = bits.Add64(t.lo, lo, 0)
	t.hi += hi + int64(carry)
}

// addMicro adds a figure in millionths, rounded.
func (t *tally128) addMicro(v float64) {
	switch x := float64(v * micro); {
	case v > maxLogged || v < -maxLogged:
	case x < 0:
		t.add(int64(x - 0.5))
	default:
		t.add(int64(x + 0.5))
	}
}

func (t *tally128) merge(o *tally128) {
	switch {
	case o.n == 0:
		return
	case t.n == 0:
		t.least, t.most = o.least, o.most
	}
	t.least, t.most = min(t.least, o.least), max(t.most, o.most)
	t.n += o.n
	t.plus(o.hi, o.lo)
}

// whole returns the sum and whether it fits.
func (t *tally128) whole() (int64, bool) { return int64(t.lo), t.hi == int64(t.lo)>>63 }

// sum returns the sum in ns.
func (t *tally128) sum() report.Value {
	switch v, ok := t.whole(); {
	case t.n == 0:
		return report.Null("not_recorded")
	case !ok:
		return report.Null("out_of_range")
	default:
		return report.KnownInt(v, unit.Nanosecond)
	}
}

// gauge returns the mean and the greatest of values that were multiplied by
// scale.
func (t *tally128) gauge(scale float64, u unit.Unit) report.Gauge {
	if t.n == 0 {
		return report.Gauge{Mean: report.Null("not_recorded"), Max: report.Null("not_recorded")}
	}
	total := float64(float64(t.hi)*0x1p64) + float64(t.lo)
	if v, ok := t.whole(); ok {
		total = float64(v)
	}
	g := report.Gauge{N: t.n, Mean: report.Known(total/float64(t.n)/scale, u), Max: report.KnownInt(t.most, u)}
	if scale != 1 {
		g.Max = report.Known(float64(t.most)/scale, u)
	}
	return g
}
