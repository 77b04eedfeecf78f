package kernel

import (
	"math"
	"math/bits"

	"servescope/analyzer/report"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
)

// series is what is known of the rows of one series of steps.
type series struct {
	n, idle    int64 // rows; those behind a pause
	resolution int64 // ns; the coarsest
	clock      string
	mixed      bool // there are stamps of several clocks

	t, duration            tally128
	running, waiting       level
	kv, prompt, generation level // in millionths
	classes                [len(stepClasses)]tally128
}

// level is a figure that holds over a time: its values, and those of rows that
// say for how long, weighted by that.
type level struct {
	tally128
	held, weight tally128 // ns; value times ns
}

func (l *level) add(v, held int64) {
	l.tally128.add(v)
	if held <= 0 || v < 0 {
		return
	}
	l.held.add(held)
	hi, lo := bits.Mul64(uint64(v), uint64(held))
	l.weight.n++
	l.weight.plus(int64(hi), lo)
}

// gauge returns the mean and the greatest of values that were multiplied by
// scale: the mean over time if every row says how long it holds.
func (l *level) gauge(scale float64, u unit.Unit) report.Gauge {
	g := l.tally128.gauge(scale, u)
	if l.n > 0 && l.held.n == l.n {
		g.Mean, g.Timed = report.Known(l.weight.float()/l.held.float()/scale, u), true
	}
	return g
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
	held := c.held(i)
	if v, ok := c.duration.At(i); ok {
		s.duration.add(v)
	}
	if v, ok := c.running.At(i); ok {
		s.running.add(v, held)
	}
	if v, ok := c.waiting.At(i); ok {
		s.waiting.add(v, held)
	}
	for j := range c.classes {
		if v, ok := c.classes[j].At(i); ok {
			s.classes[j].add(v)
		}
	}
	if v, ok := c.kv.At(i); ok {
		s.kv.addMicro(v, held)
	}
	if idle, ok := c.idle.At(i); ok && idle {
		s.idle++ // the rates on this row count a pause
		return
	}
	if v, ok := c.prompt.At(i); ok {
		s.prompt.addMicro(v, held)
	}
	if v, ok := c.generation.At(i); ok {
		s.generation.addMicro(v, held)
	}
}

// held returns how long row i holds in ns, or 0 where it does not say: the length
// of a step, of as many as it counts where that is their mean.
func (c *stepColumns) held(i int) int64 {
	d, ok := c.duration.At(i)
	if !ok || d <= 0 {
		return 0
	}
	if code, _ := c.quantity.At(i); trace.Quantity(code) != trace.Mean {
		return d
	}
	n, _ := c.count.At(i)
	hi, lo := bits.Mul64(uint64(d), uint64(max(n, 0)))
	if hi > 0 || lo > math.MaxInt64 {
		return 0
	}
	return int64(lo)
}

func (s *series) tallies() []*tally128 {
	list := []*tally128{&s.t, &s.duration}
	for _, l := range []*level{&s.running, &s.waiting, &s.kv, &s.prompt, &s.generation} {
		list = append(list, &l.tally128, &l.held, &l.weight)
	}
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
func (l *level) addMicro(v float64, held int64) {
	switch x := float64(v * micro); {
	case v > maxLogged || v < -maxLogged:
	case x < 0:
		l.add(int64(x-0.5), held)
	default:
		l.add(int64(x+0.5), held)
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

// float returns the sum, rounded.
func (t *tally128) float() float64 {
	if v, ok := t.whole(); ok {
		return float64(v)
	}
	return float64(float64(t.hi)*0x1p64) + float64(t.lo)
}

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
	g := report.Gauge{N: t.n, Mean: report.Known(t.float()/float64(t.n)/scale, u), Max: report.KnownInt(t.most, u)}
	if scale != 1 {
		g.Max = report.Known(float64(t.most)/scale, u)
	}
	return g
}
