package estimate

import (
	"cmp"
	"math"
	"slices"

	"servescope/analyzer/trace"
)

// engine holds the token counts of the engine's own log.
type engine struct{ lines map[string]*lines }

// lines are the lines of one replica.
type lines struct {
	windows, steps []line
	resolution     int64
	clock          string
}

// line is a line about a window of time, or about a step.
type line struct {
	t      int64
	index  int64   // of a step; -1 when unknown
	rate   float64 // tokens per second in a window
	tokens float64 // of decode sequences in a step
}

// mostMissing is the share of the tokens that may be missing where the log is
// taken to be complete.
const mostMissing = 0.05

// count is a number of tokens, of the log and of the engine.
type count struct{ log, engine float64 }

// agree says whether the two do.
func (c count) agree() bool {
	return max(c.log-c.engine, c.engine-c.log) <= float64(mostMissing*c.engine)
}

// twins reports whether the lines come from several engines: many lines have the
// same instant, or the same number, as another line.
func (x *lines) twins() bool {
	list, of := x.windows, func(l line) int64 { return l.t }
	if len(list) == 0 {
		list, of = slices.Clone(x.steps), func(l line) int64 { return l.index }
		list = slices.DeleteFunc(list, func(l line) bool { return l.index < 0 })
	}
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b line) int { return cmp.Compare(of(a), of(b)) })
	same := 0
	for i := 1; i < len(list); i++ {
		if of(list[i]) == of(list[i-1]) {
			same++
		}
	}
	return same*10 > len(list)
}

// period returns the time from window to window.
func (x *lines) period() int64 {
	slices.SortStableFunc(x.windows, func(a, b line) int { return cmp.Compare(a.t, b.t) })
	var steps []int64
	for i := 1; i < len(x.windows); i++ {
		if d := x.windows[i].t - x.windows[i-1].t; d > 0 {
			steps = append(steps, d)
		}
	}
	if len(steps) == 0 {
		return 0
	}
	slices.Sort(steps)
	return steps[len(steps)/2]
}

// count compares the lines with the requests of sources, while these got tokens. It
// reports false where the lines count nothing, or are about another time.
func (x *lines) count(sources []*source) (c count, ok bool) {
	begin, end := span(sources)
	period := x.period()
	list, reach := x.windows, period
	if period == 0 {
		list, reach = x.steps, 1
	}
	from, to := int64(math.MaxInt64), int64(math.MinInt64)
	for _, l := range list {
		if l.t+x.resolution < begin || l.t-reach > end {
			continue
		}
		from, to = min(from, l.t-reach), max(to, l.t+x.resolution)
		c.engine += l.tokens + float64(l.rate*float64(period))/1e9
	}
	if c.engine == 0 || 2*(min(to, end)-max(from, begin)) < end-begin || !x.sameClock(sources) {
		return c, false
	}
	for _, s := range sources {
		c.log += s.tokens(from, to, period > 0)
	}
	return c, true
}

// span returns the time from the first to the last token of sources.
func span(sources []*source) (begin, end int64) {
	begin, end = math.MaxInt64, math.MinInt64
	for _, s := range sources {
		for i := range s.requests {
			x := &s.requests[i]
			begin, end = min(begin, x.First), max(end, x.First+x.span())
		}
	}
	return begin, end
}

// sameClock says whether the lines are stamped by the clock of the requests. Wall
// clocks are taken to be in step.
func (x *lines) sameClock(sources []*source) bool {
	kind, _ := trace.ParseClock(x.clock)
	for _, s := range sources {
		other, ok := trace.ParseClock(s.clock)
		if !ok || kind.Kind != other.Kind || kind.Kind != trace.Wall && kind != other {
			return false
		}
	}
	return true
}

// evidence says what the engine's lines mean for the requests of a side: that one
// of its replicas is not one, or that requests are missing.
func (e *engine) evidence(sources []*source) map[*source]Coverage {
	out := make(map[*source]Coverage)
	named := true // by the same names
	for _, s := range sources {
		named = named && e.lines[s.name] != nil
	}
	if named {
		for _, s := range sources {
			if len(sources) == 1 && len(e.lines) > 1 && s.name == "" {
				out[s] = Several
			} else {
				out[s] = e.lines[s.name].coverage([]*source{s})
			}
		}
		return out
	}
	var all lines
	for _, x := range e.lines {
		all.windows = append(all.windows, x.windows...)
		all.steps = append(all.steps, x.steps...)
		all.resolution, all.clock = max(all.resolution, x.resolution), x.clock
	}
	several := len(e.lines) > 1 && len(sources) == 1 && sources[0].name == ""
	total := all.coverage(sources)
	if total == Several && len(sources) > 1 { // as it should
		total = all.compare(sources)
	}
	for _, s := range sources {
		out[s] = total
		if several {
			out[s] = Several
		}
	}
	return out
}

// Coverage says whether a log is known to be complete.
type Coverage uint8

// The states.
const (
	Unproven   Coverage = iota // nothing tells
	Proven                     // the engine counts the same tokens within 5 %
	Incomplete                 // the engine counts others
	Several                    // the engine's log holds several replicas that the requests do not name
)

// coverage compares the lines of one replica with the requests of sources.
func (x *lines) coverage(sources []*source) Coverage {
	if x.twins() {
		return Several
	}
	return x.compare(sources)
}

func (x *lines) compare(sources []*source) Coverage {
	switch c, ok := x.count(sources); {
	case !ok:
		return Unproven
	case c.agree():
		return Proven
	}
	return Incomplete
}
