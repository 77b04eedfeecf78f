package kernel

import (
	"math"

	"servescope/analyzer/sorting"
	"servescope/analyzer/trace"
)

// load is what one gauge of an engine says.
type load struct {
	clock      string
	mixed      bool  // there are stamps of several clocks
	resolution int64 // ns; the coarsest
	points     []point
	bins       [2]map[int64]*tally128 // lengths of decode-only steps by g: as intervals, as elapsed time
	marks      *marks                 // of the points, once they are complete
}

// maxBatch bounds g: no engine decodes more sequences in a step.
const maxBatch = 1 << 16

// add adds row i.
func (l *load) add(c *stepColumns, i int, g gauge) {
	if step, ok := c.resolution.At(i); ok {
		l.resolution = max(l.resolution, step)
	}
	n, known := c.running.At(i)
	if known && (n < 0 || n > math.MaxInt32) {
		known = false
	}
	d, timed := c.duration.At(i)
	quantity, _ := c.quantity.At(i)
	if kind, ok := c.kind.At(i); g == activeGauge && ok && trace.StepKind(kind) == trace.StepDecode &&
		known && timed && n > 0 && n <= maxBatch && d > 0 && quantity <= int32(trace.Elapsed) {
		l.bin(int(quantity), n, d)
	}
	t, ok := c.t.At(i)
	if !ok {
		return
	}
	l.meet(c.clockAt(i))
	p := point{t: t, running: -1, waiting: -1}
	if known {
		p.running = int32(n)
	}
	if w, ok := c.waiting.At(i); ok {
		p.waiting = small(float64(w), true)
	}
	tps, ok := c.generation.At(i)
	p.generation = small(float64(tps*100), ok)
	tps, ok = c.prompt.At(i)
	p.prompted = small(float64(tps*100), ok)
	if p.running < 0 && p.generation < 0 && p.prompted < 0 {
		return
	}
	if g == activeGauge && timed && d > 0 && trace.Quantity(quantity) == trace.Interval {
		p.length = d
	}
	l.points = append(l.points, p)
}

// clockAt names the clock of row i.
func (c *stepColumns) clockAt(i int) string {
	if code, own := c.clock.At(i); own {
		return c.clock.Values[code]
	}
	return c.runClock
}

// bin adds the length of a decode-only step of g sequences.
func (l *load) bin(quantity int, g, d int64) {
	if l.bins[quantity] == nil {
		l.bins[quantity] = make(map[int64]*tally128)
	}
	b := l.bins[quantity][g]
	if b == nil {
		b = new(tally128)
		l.bins[quantity][g] = b
	}
	b.add(d)
}

// meet learns of a clock. Wall clocks are taken to be in step.
func (l *load) meet(name string) {
	if c, ok := trace.ParseClock(name); ok {
		name = Axis(c)
	}
	switch {
	case l.clock == "" || l.clock == name:
		l.clock = name
	default:
		l.clock, l.mixed = min(l.clock, name), true
	}
}

func (l *load) merge(o *load) {
	if o.clock != "" {
		l.meet(o.clock)
	}
	l.mixed = l.mixed || o.mixed
	l.resolution = max(l.resolution, o.resolution)
	l.points = append(l.points, o.points...)
	for i, bins := range o.bins {
		for g, b := range bins {
			if l.bins[i] == nil {
				l.bins[i] = make(map[int64]*tally128)
			}
			if l.bins[i][g] == nil {
				l.bins[i][g] = new(tally128)
			}
			l.bins[i][g].merge(b)
		}
	}
}

func (l *load) appendTo(dst []byte) []byte {
	mixed := int64(0)
	if l.mixed {
		mixed = 1
	}
	dst = appendInts(appendText(dst, l.clock), mixed, l.resolution, int64(len(l.points)))
	sorting.By(l.points, point.compare)
	before := int64(0)
	for _, p := range l.points {
		dst = appendInts(dst, p.t-before, p.length, int64(p.running), int64(p.waiting), int64(p.generation), int64(p.prompted))
		before = p.t
	}
	for _, bins := range l.bins {
		dst = appendInts(dst, int64(len(bins)))
		for _, g := range sortedKeys(bins) {
			b := bins[g]
			dst = appendInts(dst, g, b.n, b.hi, int64(b.lo), b.least, b.most)
		}
	}
	return dst
}

func (l *load) load(src *reader) {
	*l = load{clock: src.text(), mixed: src.int() != 0, resolution: src.int()}
	before := int64(0)
	for n := src.count(); n > 0 && src.err == nil; n-- {
		p := point{t: before + src.int(), length: src.int()}
		for _, v := range []*int32{&p.running, &p.waiting, &p.generation, &p.prompted} {
			x := src.int()
			if x < -1 || x > math.MaxInt32 {
				src.fail()
			}
			*v = int32(x)
		}
		before = p.t
		l.points = append(l.points, p)
	}
	for i := range l.bins {
		for n := src.count(); n > 0 && src.err == nil; n-- {
			g, b := src.int(), new(tally128)
			var lo int64
			src.ints(&b.n, &b.hi, &lo, &b.least, &b.most)
			b.lo = uint64(lo)
			if l.bins[i] == nil {
				l.bins[i] = make(map[int64]*tally128)
			}
			l.bins[i][g] = b
		}
	}
}
