package promtext

import (
	"math"
	"strconv"
	"strings"

	"servescope/analyzer/diag"
	"servescope/formats/internal/json"
	"servescope/formats/internal/numx"
)

// metric is one instrument of an export, with what was measured.
type metric struct {
	name, unit string
	kind       string // gauge, sum, histogram, exponentialHistogram, summary
	delta      bool   // points tell what was added since the one before
	monotonic  bool
	points     []point
	cut        int64 // points beyond maxPoints
}

const maxPoints = 1 << 16

// point is what a metric says of one time.
type point struct {
	offset      int64
	labels      []byte // as in the text format
	start, t    int64
	value       float64
	known       bool
	count, sum  float64
	counted     bool
	summed      bool
	counts      []float64
	bounds      []float64
	quantiles   [][2]float64
	missing     bool // it is marked as one without a value
	exponential exponential
}

// read reads a metric. It reports false where it breaks off.
func (m *metric) read(c *json.Cursor) bool {
	*m = metric{points: m.points[:0]}
	for c.Open(); c.More(); {
		switch key := string(c.Key(64)); key {
		case "name":
			m.name = string(scalar(c))
		case "unit":
			m.unit = string(scalar(c))
		case "gauge", "sum", "histogram", "summary", "exponentialHistogram", "exponential_histogram":
			m.kind = key
			m.data(c)
		default:
			c.Skip()
		}
	}
	_, broken := c.Problem()
	return !broken
}

// data reads what hangs on the kind of a metric.
func (m *metric) data(c *json.Cursor) {
	if c.Kind() != json.Object {
		c.Skip()
		return
	}
	for c.Open(); c.More(); {
		switch key := string(c.Key(64)); {
		case (key == "dataPoints" || key == "data_points") && c.Kind() == json.Array:
			for c.Open(); c.More(); {
				if c.Kind() != json.Object || len(m.points) >= maxPoints {
					m.cut++
					c.Skip()
					continue
				}
				m.points = append(m.points, point{})
				m.points[len(m.points)-1].read(c)
			}
		case key == "aggregationTemporality" || key == "aggregation_temporality":
			text := string(scalar(c))
			m.delta = text == "1" || text == "AGGREGATION_TEMPORALITY_DELTA"
		case key == "isMonotonic" || key == "is_monotonic":
			m.monotonic = string(scalar(c)) == "true"
		default:
			c.Skip()
		}
	}
}

// read reads a point.
func (p *point) read(c *json.Cursor) {
	p.offset = c.Offset()
	for c.Open(); c.More(); {
		switch key := string(c.Key(64)); key {
		case "attributes":
			if c.Kind() != json.Array {
				c.Skip()
				continue
			}
			eachAttribute(c, func(key string, value []byte) { p.labels = appendLabel(p.labels, promName(key), value) })
		case "startTimeUnixNano", "start_time_unix_nano":
			p.start = wholeOf(scalar(c))
		case "timeUnixNano", "time_unix_nano":
			p.t = wholeOf(scalar(c))
		case "asDouble", "as_double", "asInt", "as_int":
			p.value, p.known = numberOf(scalar(c))
		case "count":
			p.count, p.counted = numberOf(scalar(c))
		case "sum":
			p.sum, p.summed = numberOf(scalar(c))
		case "flags":
			p.missing = wholeOf(scalar(c))&1 != 0
		case "bucketCounts", "bucket_counts":
			p.counts = numbers(c)
		case "explicitBounds", "explicit_bounds":
			p.bounds = numbers(c)
		case "quantileValues", "quantile_values":
			p.readQuantiles(c)
		default:
			p.exponential.member(c, key)
		}
	}
}

func (p *point) readQuantiles(c *json.Cursor) {
	if c.Kind() != json.Array {
		c.Skip()
		return
	}
	for c.Open(); c.More(); {
		var pair [2]float64
		if c.Kind() != json.Object {
			c.Skip()
			continue
		}
		for c.Open(); c.More(); {
			switch key := string(c.Key(16)); key {
			case "quantile":
				pair[0], _ = numberOf(scalar(c))
			case "value":
				pair[1], _ = numberOf(scalar(c))
			default:
				c.Skip()
			}
		}
		p.quantiles = append(p.quantiles, pair)
	}
}

// maxBuckets bounds those of one point.
const maxBuckets = 1 << 12

// numbers reads a list of them, nil where there are others or too many.
func numbers(c *json.Cursor) (list []float64) {
	if c.Kind() != json.Array {
		c.Skip()
		return nil
	}
	good := true
	list = make([]float64, 0, 16)
	for c.Open(); c.More(); {
		v, ok := numberOf(scalar(c))
		if good = good && ok && len(list) < maxBuckets; good {
			list = append(list, v)
		}
	}
	if !good {
		return nil
	}
	return list
}

// numberOf reads a number, which may be written as a text.
func numberOf(text []byte) (v float64, ok bool) {
	v, finite, ok := number(text)
	return v, ok && finite
}

func wholeOf(text []byte) int64 {
	v, n, ok := numx.ParseInt(text)
	if !ok || n != len(text) || v < 0 {
		return 0
	}
	return v
}

// promName writes a name of OpenTelemetry as exporters to Prometheus do: what is
// no letter, digit, colon or underscore becomes an underscore.
func promName(name string) string {
	return strings.Map(func(c rune) rune {
		if c < 0x80 && nameByte(byte(c), true) {
			return c
		}
		return '_'
	}, name)
}

// family returns the name under which Prometheus would have a metric.
func (m *metric) family() string {
	name := promName(m.name)
	for _, u := range [...][2]string{{"s", "_seconds"}, {"ms", "_milliseconds"}, {"By", "_bytes"}} {
		if m.unit == u[0] && !strings.HasSuffix(strings.TrimSuffix(name, "_total"), u[1]) {
			name += u[1]
		}
	}
	if m.kind == "sum" && m.monotonic && !strings.HasSuffix(name, "_total") {
		name += "_total"
	}
	return name
}

// take takes the points of a metric.
func (e *exports) take(r *reader) {
	m := &e.metric
	r.at = e.c.Offset()
	if m.cut > 0 {
		r.Counts.Diagnosed += m.cut
		r.add(diag.Diag{Code: "bad_points", Severity: diag.DataLoss, Offset: r.at, Count: m.cut, Msg: "elements of a list of points are none, or there are too many of one metric"})
	}
	name := m.family()
	if engine, _ := engineOf([]byte(name)); engine == "" && name != processStart {
		for range m.points {
			r.noise("other program")
		}
		return
	}
	if _, ok := r.table.types[name]; !ok && len(r.table.types) < maxTypes && (m.kind == "gauge" || m.kind == "sum") {
		typ := gauge
		if m.kind == "sum" && m.monotonic {
			typ = counter
		}
		r.table.types[name] = declared{typ, -1}
	}
	for i := range m.points {
		p := &m.points[i]
		r.at = p.offset
		switch {
		case p.missing:
			r.noise("no value")
		case p.t == 0:
			r.skip("bad_sample", diag.DataLoss, "a point has no time, or no value that can be read")
		default:
			e.point(r, name, p)
		}
	}
}

// point takes the samples of a point.
func (e *exports) point(r *reader, name string, p *point) {
	plain := func(suffix string, v float64) {
		e.label = append(e.label[:0], p.labels...)
		e.sample(r, name+suffix, p, v)
	}
	switch {
	case p.exponential.scaled && p.counted && !p.exponential.odd:
		e.exponential(r, name, p)
		return
	case p.counted && len(p.quantiles) > 0:
		for _, q := range p.quantiles {
			e.bounded(p, "quantile", q[0])
			e.sample(r, name, p, q[1])
		}
	case p.counted && len(p.counts) == len(p.bounds)+1:
		below := 0.0
		for i, b := range p.bounds {
			below += p.counts[i]
			e.bounded(p, "le", b)
			e.sample(r, name+"_bucket", p, below)
		}
	case p.counted && len(p.counts) == 0 && len(p.bounds) == 0: // how many there were, and their sum, is told
	case p.known:
		plain("", p.value)
		return
	default:
		r.skip("bad_sample", diag.DataLoss, "a point has no time, or no value that can be read")
		return
	}
	if p.summed {
		plain("_sum", p.sum)
	}
	plain("_count", p.count)
}

// bounded sets the labels of a bucket or quantile of a point.
func (e *exports) bounded(p *point, name string, v float64) {
	e.label = appendLabel(append(e.label[:0], p.labels...), name, strconv.AppendFloat(nil, v, 'g', -1, 64))
}

// named returns a sample of the labels that are set.
func (e *exports) named(name string, p *point, v float64) sample {
	e.text = append(append(append(append(e.text[:0], name...), '{'), e.label...), '}')
	return sample{key: e.text, name: e.text[:len(name)], labels: e.text[len(name)+1 : len(e.text)-1], value: v, finite: !math.IsNaN(v) && !math.IsInf(v, 0), t: p.t, timed: true}
}

// sample takes one sample of the labels that are set, and returns its series.
func (e *exports) sample(r *reader, name string, p *point, v float64) *series {
	s := e.named(name, p, v)
	if !e.metric.delta && e.metric.kind != "gauge" {
		s.start = p.start
	}
	f, _ := r.table.find(&s)
	if f != nil {
		e.began(r, f, p)
		if e.metric.delta && f.typ != gauge && f.stat != statQuantile {
			f.sum += s.value
			s.value = f.sum
		}
	}
	r.value(&s)
	return f
}

// began notes whether a series counts from a start that is known. One that is that
// of the point itself says that it is not.
func (e *exports) began(r *reader, f *series, p *point) {
	if f.scrape < 0 {
		f.since = e.metric.delta || p.start > 0 && p.start < p.t
	}
	if !f.cumulative() || !f.since || p.start == 0 || r.stamped && p.start >= r.from {
		return
	}
	if !r.stamped {
		r.to = p.t
	}
	r.from, r.stamped = p.start, true
}
