package promtext

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
)

// figure is what the series of one family add up to that differ only in labels
// that figures are not told apart by.
type figure struct {
	engine, family string
	model          string
	labels         string // kept ones
	info           *family
	typ            int32
	value          float64 // of counters
	sum, count     float64
	summed, counted,
	valued bool
	buckets map[float64]float64
	top     float64
	hasTop  bool
}

// amounts tells how much each series has risen; ok is false where it does not
// count.
type amounts func(*series) (v float64, ok bool)

// total is the rise over all scrapes, or since the start with a single one.
func (t *table) total() amounts {
	if t.single() {
		return func(s *series) (float64, bool) { return s.last, s.known }
	}
	return func(s *series) (float64, bool) { return s.increase, s.known && (s.pod.scrapes > 1 || s.since) }
}

// single tells whether there is nothing to subtract from.
func (t *table) single() bool {
	return !slices.ContainsFunc(t.podIn, func(p *pod) bool { return p.scrapes > 1 })
}

// rankOf identifies those that share the requests a rank counts.
type rankOf struct{ family, replica string }

// figures adds the cumulative series up, in order of first appearance.
func (t *table) figures(amount amounts) []*figure {
	lowest := make(map[rankOf]int)
	for _, s := range t.list {
		k := rankOf{s.family, s.replica}
		if r, ok := lowest[k]; !ok || s.rank < r {
			lowest[k] = s.rank
		}
	}
	index := make(map[[4]string]*figure)
	var list []*figure
	for _, s := range t.list {
		v, ok := amount(s)
		if !ok || s.engine == "" || !s.cumulative() || s.birth || s.rank != lowest[rankOf{s.family, s.replica}] {
			continue
		}
		k := [4]string{s.engine, s.family, s.model, s.keptLabels()}
		f := index[k]
		if f == nil {
			f = &figure{engine: s.engine, family: s.family, model: s.model, labels: k[3], info: s.info, typ: s.typ, buckets: make(map[float64]float64)}
			index[k] = f
			list = append(list, f)
		}
		f.add(s, v)
	}
	return list
}

func (s *series) keptLabels() string {
	var parts []string
	for _, l := range s.labels {
		if kept[l.name] {
			parts = append(parts, fmt.Sprintf("%s=%q", l.name, l.value))
		}
	}
	return strings.Join(parts, ",")
}

func (f *figure) add(s *series, v float64) {
	switch {
	case s.stat == statSum:
		f.sum, f.summed = f.sum+v, true
	case s.stat == statCount:
		f.count, f.counted = f.count+v, true
	case s.stat == statBucket && s.top:
		f.top, f.hasTop = f.top+v, true
	case s.stat == statBucket && s.bounded:
		f.buckets[s.bound] += v
	case s.stat == statValue:
		f.value, f.valued = f.value+v, true
	}
}

// n is the number of observations.
func (f *figure) n() (float64, bool) {
	if f.counted {
		return f.count, true
	}
	return f.top, f.hasTop
}

// mean returns the mean in the family's unit.
func (f *figure) mean() (float64, bool) {
	n, ok := f.n()
	if !ok || !f.summed || n <= 0 {
		return 0, false
	}
	return f.sum / n, true
}

// bounds returns the limits of the bucket that holds the observation of rank
// ceil(q·n). A side without a limit is not ok: the last bucket has no upper one,
// and the first none below unless durations are taken to be positive.
func (f *figure) bounds(q float64) (low, high float64, above, below bool) {
	n, ok := f.n()
	if !ok || n <= 0 || len(f.buckets) == 0 {
		return 0, 0, false, false
	}
	for _, b := range slices.Sorted(maps.Keys(f.buckets)) {
		if f.buckets[b] >= q*n {
			return low, b, above, true
		}
		low, above = b, true
	}
	return low, 0, above, false
}

// excess tells whether the sum holds observations that cannot be durations of
// requests: a milestone that was never reached counts as the host's uptime. It
// is enough that those above the last bucket average more than a day.
func (f *figure) excess() bool {
	_, base, factor := measure(f.family)
	n, ok := f.n()
	if !ok || !f.summed || base != unit.Nanosecond || n <= 0 {
		return false
	}
	const day = 86400e9
	rest, before, above := f.sum, 0.0, n
	for _, b := range slices.Sorted(maps.Keys(f.buckets)) {
		c := f.buckets[b]
		rest -= float64((c - before) * b)
		before, above = c, n-c
	}
	return f.sum*factor > day*n || above > 0 && rest*factor > day*above
}

// names says how figures are called: by model only where there are several.
type names struct{ models bool }

func (n names) of(f *figure, suffix string) string {
	labels := f.labels
	if n.models && f.model != "" {
		labels = strings.TrimPrefix(labels+fmt.Sprintf(",model_name=%q", f.model), ",")
	}
	if labels != "" {
		labels = "{" + labels + "}"
	}
	return f.family + suffix + labels
}

// report appends what a figure says.
func (n names) report(list []trace.Reported, f *figure, when string, bounds bool) []trace.Reported {
	_, base, factor := measure(f.family)
	add := func(name, metric, stat string, v float64, u unit.Unit) {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			list = append(list, trace.Reported{Key: name + when, Metric: metric, Stat: stat, Value: v, Unit: u})
		}
	}
	if f.valued {
		add(n.of(f, ""), "", "value", f.value*factor, base)
	}
	count, ok := f.n()
	if !ok {
		return list
	}
	add(n.of(f, "_count"), "", "value", count, unit.None)
	if mean, ok := f.mean(); ok && !f.unusable() {
		metric := ""
		if f.info != nil && when == "" && !strings.Contains(f.labels, `is_streaming="false"`) && !strings.Contains(f.labels, "error_type=") {
			metric = f.info.metric
		}
		add(n.of(f, ""), metric, "mean", mean*factor, base)
	}
	if !bounds || base != unit.Nanosecond || f.unusable() {
		return list
	}
	for _, q := range []struct {
		name string
		q    float64
	}{{"p50", 0.5}, {"p99", 0.99}} {
		low, high, above, below := f.bounds(q.q)
		if above {
			add(n.of(f, "")+" "+q.name+" is above", "", "value", low*factor, base)
		}
		if below {
			add(n.of(f, "")+" "+q.name+" is at most", "", "value", high*factor, base)
		}
	}
	return list
}

// gauges appends the gauges of the engines: the value of a single scrape, or
// the least and the greatest of several.
func (t *table) gauges(list []trace.Reported) []trace.Reported {
	several := make(map[string]int)
	for _, s := range t.list {
		several[s.family]++
	}
	for _, s := range t.list {
		if s.engine == "" || !s.known || s.birth || s.cumulative() || s.typ == summary || strings.HasSuffix(s.family, "_info") {
			continue
		}
		_, base, factor := measure(s.family)
		key := s.family
		if several[s.family] > 1 {
			key += "{" + string(s.text) + "}"
		}
		if s.pod.name != "" && len(t.podIn) > 2 {
			key += " of " + s.pod.name
		}
		if s.pod.scrapes == 1 || s.min == s.max {
			list = append(list, trace.Reported{Key: key, Stat: "value", Value: s.last * factor, Unit: base})
			continue
		}
		list = append(list, trace.Reported{Key: key, Stat: "min", Value: s.min * factor, Unit: base},
			trace.Reported{Key: key, Stat: "max", Value: s.max * factor, Unit: base})
	}
	return list
}

// version returns the oldest version that can have written the families.
func version(list []*series, engine string) string {
	var newest string
	for _, s := range list {
		if s.info != nil && s.engine == engine && newer(s.info.since, newest) {
			newest = s.info.since
		}
	}
	if newest == "" {
		return ""
	}
	return "≥" + newest
}

// newer compares versions such as v0.5.10.
func newer(a, b string) bool {
	parts := func(v string) (n [3]int) {
		fmt.Sscanf(v, "v%d.%d.%d", &n[0], &n[1], &n[2])
		return n
	}
	x, y := parts(a), parts(b)
	return cmp.Or(cmp.Compare(x[0], y[0]), cmp.Compare(x[1], y[1]), cmp.Compare(x[2], y[2])) > 0
}
