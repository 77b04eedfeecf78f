package loads

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/cell"
	"servescope/analyzer/trace"
)

// gaugeLog holds the values of one gauge of an engine.
type gaugeLog struct {
	clock      string
	mixed      bool  // there are stamps of several clocks
	resolution int64 // ns; the coarsest
	points     []point
	bins       [2]map[int64]*cell.Total // lengths of decode-only steps by g: as intervals, as elapsed time
	marks      *marks                   // of the points, once they are complete
}

// add adds row i.
func (l *gaugeLog) add(c *cell.StepColumns, i int, g gauge) {
	if step, ok := c.Resolution.At(i); ok {
		l.resolution = max(l.resolution, step)
	}
	n, known := c.Running.At(i)
	if known && (n < 0 || n > math.MaxInt32) {
		known = false
	}
	d, timed := c.Duration.At(i)
	quantity, _ := c.Quantity.At(i)
	if kind, ok := c.Kind.At(i); g == activeGauge && ok && trace.StepKind(kind) == trace.StepDecode &&
		known && timed && n > 0 && n <= maxBatch && d > 0 && quantity <= int32(trace.Elapsed) {
		l.bin(int(quantity), n, d)
	}
	t, ok := c.T.At(i)
	if !ok {
		return
	}
	l.meet(c.ClockAt(i))
	p := point{t: t, running: -1, waiting: -1}
	if known {
		p.running = int32(n)
	}
	if w, ok := c.Waiting.At(i); ok {
		p.waiting = small(float64(w), true)
	}
	tps, ok := c.Generation.At(i)
	p.generation = small(float64(tps*100), ok)
	tps, ok = c.Prompt.At(i)
	p.prompted = small(float64(tps*100), ok)
	if p.running < 0 && p.generation < 0 && p.prompted < 0 {
		return
	}
	if g == activeGauge && timed && d > 0 && trace.Quantity(quantity) == trace.Interval {
		p.length = d
	}
	l.points = append(l.points, p)
}

// bin adds the length of a decode-only step of g sequences.
func (l *gaugeLog) bin(quantity int, g, d int64) {
	if l.bins[quantity] == nil {
		l.bins[quantity] = make(map[int64]*cell.Total)
	}
	b := l.bins[quantity][g]
	if b == nil {
		b = new(cell.Total)
		l.bins[quantity][g] = b
	}
	b.Add(d)
}

// meet learns of a clock. Wall clocks are taken to be in step.
func (l *gaugeLog) meet(name string) {
	if c, ok := trace.ParseClock(name); ok {
		name = kernel.Axis(c)
	}
	switch {
	case l.clock == "" || l.clock == name:
		l.clock = name
	default:
		l.clock, l.mixed = min(l.clock, name), true
	}
}

func (l *gaugeLog) Merge(o *gaugeLog) {
	if o.clock != "" {
		l.meet(o.clock)
	}
	l.mixed = l.mixed || o.mixed
	l.resolution = max(l.resolution, o.resolution)
	l.points = append(l.points, o.points...)
	for i, bins := range o.bins {
		for g, b := range bins {
			if l.bins[i] == nil {
				l.bins[i] = make(map[int64]*cell.Total)
			}
			if l.bins[i][g] == nil {
				l.bins[i][g] = new(cell.Total)
			}
			l.bins[i][g].Merge(b)
		}
	}
}

func (l *gaugeLog) AppendTo(dst []byte) []byte {
	dst = cell.AppendInts(cell.AppendText(dst, l.clock), cell.Flag(l.mixed), l.resolution, int64(len(l.points)))
	slices.SortFunc(l.points, point.compare)
	before := int64(0)
	for _, p := range l.points {
		dst = cell.AppendInts(dst, p.t-before, p.length, int64(p.running), int64(p.waiting), int64(p.generation), int64(p.prompted))
		before = p.t
	}
	for _, bins := range l.bins {
		dst = cell.AppendInts(dst, int64(len(bins)))
		for _, g := range slices.Sorted(maps.Keys(bins)) {
			b := bins[g]
			dst = b.AppendTo(cell.AppendInts(dst, g))
		}
	}
	return dst
}

func (l *gaugeLog) Load(src *cell.Reader) {
	*l = gaugeLog{clock: src.Text(), mixed: src.Int() != 0, resolution: src.Int()}
	before := int64(0)
	for n := src.Count(); n > 0 && src.Err == nil; n-- {
		p := point{t: before + src.Int(), length: src.Int()}
		for _, v := range []*int32{&p.running, &p.waiting, &p.generation, &p.prompted} {
			x := src.Int()
			if x < -1 || x > math.MaxInt32 {
				src.Fail()
			}
			*v = int32(x)
		}
		before = p.t
		l.points = append(l.points, p)
	}
	for i := range l.bins {
		for n := src.Count(); n > 0 && src.Err == nil; n-- {
			g, b := src.Int(), new(cell.Total)
			b.Load(src)
			if l.bins[i] == nil {
				l.bins[i] = make(map[int64]*cell.Total)
			}
			l.bins[i][g] = b
		}
	}
}

// capacity returns the greatest decode rate of an engine's steps, the batch size
// that has it, and the quantity of their lengths; 0 where no batch size has
// enough.
func (l *gaugeLog) capacity() (rate float64, batch int64, quantity int) {
	for quantity, bins := range l.bins {
		for _, g := range slices.Sorted(maps.Keys(bins)) {
			b := bins[g]
			if b.N < leastSteps {
				continue
			}
			if v := float64(g) * 1e9 / (b.Float() / float64(b.N)); v > rate {
				rate, batch = v, g
			}
		}
		if rate > 0 { // intervals go before elapsed times
			return rate, batch, quantity
		}
	}
	return 0, 0, 0
}

// point is a value of a gauge, and what is logged beside it; -1: not stated.
type point struct {
	t, length            int64 // length: of a step that ends at t; 0: the value holds from t on
	running, waiting     int32
	generation, prompted int32 // tokens per second, in hundredths
}

func (a point) compare(b point) int {
	return cmp.Or(cmp.Compare(a.t, b.t), cmp.Compare(a.length, b.length), cmp.Compare(a.running, b.running), cmp.Compare(a.waiting, b.waiting),
		cmp.Compare(a.generation, b.generation), cmp.Compare(a.prompted, b.prompted))
}

// small returns a number that a point holds, or -1.
func small(v float64, known bool) int32 {
	if !known || !(v >= 0 && v < math.MaxInt32) {
		return -1
	}
	return int32(float64(v) + 0.5)
}

// maxBatch bounds g: no engine decodes more sequences in a step.
const maxBatch = 1 << 16
