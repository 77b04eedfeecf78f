package steps

import (
	"math"
	"math/bits"

	"servescope/analyzer/kernel/cell"
	"servescope/analyzer/report"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
)

// series sums up the rows of one series of steps.
type series struct {
	n, idle    int64 // rows; those behind a pause
	resolution int64 // ns; the coarsest
	clock      string
	mixed      bool // there are stamps of several clocks

	t, duration            cell.Total
	running, waiting       level
	kv, prompt, generation level // in millionths
	classes                [len(cell.StepClasses)]cell.Total
}

// add adds row i.
func (s *series) add(c *cell.StepColumns, i int) {
	s.n++
	if v, ok := c.Resolution.At(i); ok {
		s.resolution = max(s.resolution, v)
	}
	if v, ok := c.T.At(i); ok {
		clock := c.RunClock
		if code, own := c.Clock.At(i); own {
			clock = c.Clock.Values[code]
		}
		if s.t.N == 0 {
			s.clock = clock
		}
		s.mixed = s.mixed || s.clock != clock
		s.t.Add(v)
	}
	lasted := held(c, i)
	if v, ok := c.Duration.At(i); ok {
		s.duration.Add(v)
	}
	if v, ok := c.Running.At(i); ok {
		s.running.add(v, lasted)
	}
	if v, ok := c.Waiting.At(i); ok {
		s.waiting.add(v, lasted)
	}
	for j := range c.Classes {
		if v, ok := c.Classes[j].At(i); ok {
			s.classes[j].Add(v)
		}
	}
	if v, ok := c.Kv.At(i); ok {
		s.kv.addMicro(v, lasted)
	}
	if idle, ok := c.Idle.At(i); ok && idle {
		s.idle++ // the rates on this row count a pause
		return
	}
	if v, ok := c.Prompt.At(i); ok {
		s.prompt.addMicro(v, lasted)
	}
	if v, ok := c.Generation.At(i); ok {
		s.generation.addMicro(v, lasted)
	}
}

func (s *series) tallies() []*cell.Total {
	list := []*cell.Total{&s.t, &s.duration}
	for _, l := range []*level{&s.running, &s.waiting, &s.kv, &s.prompt, &s.generation} {
		list = append(list, &l.Total, &l.held, &l.weight)
	}
	for i := range s.classes {
		list = append(list, &s.classes[i])
	}
	return list
}

func (s *series) Merge(o *series) {
	if s.t.N == 0 {
		s.clock = o.clock
	}
	s.mixed = s.mixed || o.mixed || s.t.N > 0 && o.t.N > 0 && s.clock != o.clock
	s.n += o.n
	s.idle += o.idle
	s.resolution = max(s.resolution, o.resolution)
	theirs := o.tallies()
	for i, t := range s.tallies() {
		t.Merge(theirs[i])
	}
}

func (s *series) AppendTo(dst []byte) []byte {
	clock := s.clock
	if s.mixed {
		clock = "" // whichever came first
	}
	dst = cell.AppendText(cell.AppendInts(dst, s.n, s.idle, s.resolution, cell.Flag(s.mixed)), clock)
	for _, t := range s.tallies() {
		dst = t.AppendTo(dst)
	}
	return dst
}

func (s *series) Load(src *cell.Reader) {
	var mixed int64
	src.Ints(&s.n, &s.idle, &s.resolution, &mixed)
	s.mixed, s.clock = mixed != 0, src.Text()
	for _, t := range s.tallies() {
		t.Load(src)
	}
}

// steps returns the series as it is reported.
func (s *series) steps(key cell.SeriesKey) report.Steps {
	out := report.Steps{
		Replica: key.Replica, Rank: key.Rank, Kind: key.Kind, Quantity: key.Quantity, N: s.n, AfterIdle: s.idle,
		From: report.Null("not_recorded"), To: report.Null("not_recorded"), Resolution: report.KnownInt(max(s.resolution, 1), unit.Nanosecond),
		Duration: s.duration.Gauge(1, unit.Nanosecond), Total: report.Null("not_recorded"), Classes: map[string]report.Value{},
		Running: s.running.gauge(1, unit.None), Waiting: s.waiting.gauge(1, unit.None),
		KVUsage:   s.kv.gauge(micro, unit.Ratio),
		PromptTPS: s.prompt.gauge(micro, unit.TokenRate), GenerationTPS: s.generation.gauge(micro, unit.TokenRate),
	}
	switch {
	case s.mixed:
		out.From, out.To = report.Null("clock"), report.Null("clock")
	case s.t.N > 0:
		out.From, out.To = report.KnownInt(s.t.Least, unit.Nanosecond), report.KnownInt(s.t.Most, unit.Nanosecond)
	}
	if key.Quantity == trace.Steps.Fields[trace.StepQuantity].Values[trace.Interval] {
		out.Total = s.duration.Sum()
	}
	for i, col := range cell.StepClasses {
		if s.classes[i].N > 0 {
			out.Classes[trace.Steps.Fields[col].Name] = s.classes[i].Sum()
		}
	}
	return out
}

// level is a figure that holds over a time: its values, and the values of rows
// that tell how long they hold, weighted by that time.
type level struct {
	cell.Total
	held, weight cell.Total // ns; value times ns
}

func (l *level) add(v, held int64) {
	l.Total.Add(v)
	if held <= 0 || v < 0 {
		return
	}
	l.held.Add(held)
	hi, lo := bits.Mul64(uint64(v), uint64(held))
	l.weight.N++
	l.weight.Plus(int64(hi), lo)
}

// gauge returns the mean and the greatest of values that were multiplied by
// scale: the mean over time if every row says how long it holds.
func (l *level) gauge(scale float64, u unit.Unit) report.Gauge {
	g := l.Total.Gauge(scale, u)
	if l.N > 0 && l.held.N == l.N {
		g.Mean, g.Timed = report.Known(l.weight.Float()/l.held.Float()/scale, u), true
	}
	return g
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

// micro is the scale of figures with a fraction: logs print a few decimals, and
// whole numbers add up to the same in any order.
const micro = 1_000_000

// maxLogged bounds figures with a fraction: what lies beyond is no rate.
const maxLogged = 1e12

// held returns how long row i holds in ns, or 0 where it does not say: the length
// of a step, of as many as it counts where that is their mean.
func held(c *cell.StepColumns, i int) int64 {
	d, ok := c.Duration.At(i)
	if !ok || d <= 0 {
		return 0
	}
	if code, _ := c.Quantity.At(i); trace.Quantity(code) != trace.Mean {
		return d
	}
	n, _ := c.Count.At(i)
	hi, lo := bits.Mul64(uint64(d), uint64(max(n, 0)))
	if hi > 0 || lo > math.MaxInt64 {
		return 0
	}
	return int64(lo)
}
