package query

import (
	"slices"
	"strings"

	"servescope/analyzer/trace"
)

// Metrics are the metrics of single requests that filters and objectives
// accept, spelled with dots or underscores. All are durations.
var Metrics = []string{
	"ttft", "ttft.client", "ttft.server", "ttft.engine", "ttft.from_schedule", "ttfot", "thinking_time",
	"tpot", "tpot.from_total", "tpot.after_first_chunk", "e2e", "e2e.stream_end", "e2e.from_schedule", "client_wait",
}

// metricNamed returns the name in Metrics that matches name in either spelling.
func metricNamed(name string) (string, bool) {
	spelling := strings.NewReplacer(".", "_")
	for _, m := range Metrics {
		if spelling.Replace(m) == spelling.Replace(name) {
			return m, true
		}
	}
	return "", false
}

// MetricColumn computes a metric of Metrics for every row of b, in ns. known
// says which rows have a value. Both slices have one entry per row.
type MetricColumn func(name string, b *trace.Batch, values []float64, known []bool)

// Evaluator applies a filter to batches of the requests table. It reuses its
// memory and is not safe for concurrent use. A Filter can have any number of
// evaluators.
type Evaluator struct {
	root    node
	metrics MetricColumn
	masks   [][]bool // free scratch masks
	flags   []bool   // verdict per dictionary value
	values  []float64
}

// Eval sets keep[i] to whether row i of b matches; keep has b.Rows entries.
func (x *Evaluator) Eval(b *trace.Batch, keep []bool) { x.root.eval(x, b, keep) }

// mask takes a scratch mask of n rows; release returns it.
func (x *Evaluator) mask(n int) []bool {
	if last := len(x.masks) - 1; last >= 0 {
		m := x.masks[last]
		x.masks = x.masks[:last]
		return slices.Grow(m[:0], n)[:n]
	}
	return make([]bool, n)
}

func (x *Evaluator) release(m []bool) { x.masks = append(x.masks, m) }

// node is a part of an expression. eval sets every entry of out.
type node interface {
	eval(x *Evaluator, b *trace.Batch, out []bool)
}

// logic is left or right, else left and right.
type logic struct {
	left, right node
	or          bool
}

func (n *logic) eval(x *Evaluator, b *trace.Batch, out []bool) {
	n.left.eval(x, b, out)
	right := x.mask(len(out))
	n.right.eval(x, b, right)
	for i, r := range right {
		if n.or {
			out[i] = out[i] || r
		} else {
			out[i] = out[i] && r
		}
	}
	x.release(right)
}

type not struct{ of node }

func (n *not) eval(x *Evaluator, b *trace.Batch, out []bool) {
	n.of.eval(x, b, out)
	for i := range out {
		out[i] = !out[i]
	}
}

// ints tests whether an Int64 column lies in one of several closed intervals.
type ints struct {
	col    trace.Col
	in     [][2]int64
	negate bool
}

func (n *ints) eval(_ *Evaluator, b *trace.Batch, out []bool) {
	c := b.Ints(n.col)
	if len(c.Values) == 0 {
		clear(out)
		return
	}
	for i := range out {
		hit := false
		for _, r := range n.in {
			if v := c.Values[i]; r[0] <= v && v <= r[1] {
				hit = true
				break
			}
		}
		out[i] = hit != n.negate && c.Valid.Valid(i)
	}
}

// stamps compares a stamp. Rows whose clock does not fit the value do not
// match.
type stamps struct {
	ints
	wall bool // the value is a time of a wall clock
}

func (n *stamps) eval(x *Evaluator, b *trace.Batch, out []bool) {
	n.ints.eval(x, b, out)
	run := (b.Run.Clock.Kind == trace.Wall) == n.wall
	clocks := b.Dicts(trace.ClockCol)
	flags := x.perValue(clocks.Values, func(s string) bool {
		c, ok := trace.ParseClock(s)
		return ok && (c.Kind == trace.Wall) == n.wall
	})
	for i := range out {
		if code, ok := clocks.At(i); ok {
			out[i] = out[i] && flags[code]
		} else {
			out[i] = out[i] && run
		}
	}
}

// perValue returns f for every dictionary value, valid until the next call.
func (x *Evaluator) perValue(values []string, f func(string) bool) []bool {
	x.flags = x.flags[:0]
	for _, v := range values {
		x.flags = append(x.flags, f(v))
	}
	return x.flags
}

// texts compares a Text or Dict column, or the file name.
type texts struct {
	operand
	want     []string // lower case with contains
	contains bool
	negate   bool
}

func (n *texts) match(s []byte) bool {
	if n.contains {
		return containsFold(s, n.want[0])
	}
	for _, w := range n.want {
		if string(s) == w {
			return !n.negate
		}
	}
	return n.negate
}

func (n *texts) matchString(s string) bool { return n.match([]byte(s)) }

func (n *texts) eval(x *Evaluator, b *trace.Batch, out []bool) {
	if n.class == fileName {
		fill(out, n.matchString(b.File))
		return
	}
	if trace.Requests.Fields[n.col].Type == trace.Text {
		c := b.Texts(n.col)
		for i := range out {
			s, ok := c.At(i)
			out[i] = ok && n.match(s)
		}
		return
	}
	c := b.Dicts(n.col)
	run := b.Run.Default(n.col)
	otherwise := run != "" && n.matchString(run)
	flags := x.perValue(c.Values, n.matchString)
	for i := range out {
		if code, ok := c.At(i); ok {
			out[i] = flags[code]
		} else {
			out[i] = otherwise
		}
	}
}

type bools struct {
	col     trace.Col
	yes, no bool // which values match
}

func (n *bools) eval(_ *Evaluator, b *trace.Batch, out []bool) {
	c := b.Bools(n.col)
	for i := range out {
		v, ok := c.At(i)
		out[i] = ok && (v && n.yes || !v && n.no)
	}
}

// null tests "NAME is null", or with negate "NAME is not null".
type null struct {
	operand
	negate bool
}

func (n *null) eval(x *Evaluator, b *trace.Batch, out []bool) {
	switch n.class {
	case fileName:
		fill(out, n.negate)
	case metric:
		x.metric(n.name, b, out)
		for i, known := range out {
			out[i] = known == n.negate
		}
	default:
		if b.Run.Default(n.col) != "" {
			fill(out, n.negate)
			return
		}
		valid, some := b.Validity(n.col)
		for i := range out {
			out[i] = (some && valid.Valid(i)) == n.negate
		}
	}
}

// measure compares a metric.
type measure struct {
	name   string
	op     string
	values []float64 // one, except for = and !=
}

func newMeasure(name, op string, values []int64) *measure {
	n := &measure{name: name, op: op}
	for _, v := range values {
		n.values = append(n.values, float64(v))
	}
	return n
}

func (n *measure) match(v float64) bool {
	switch n.op {
	case "<":
		return v < n.values[0]
	case "<=":
		return v <= n.values[0]
	case ">":
		return v > n.values[0]
	case ">=":
		return v >= n.values[0]
	}
	return slices.Contains(n.values, v) == (n.op == "=")
}

func (n *measure) eval(x *Evaluator, b *trace.Batch, out []bool) {
	values := x.metric(n.name, b, out)
	for i, known := range out {
		out[i] = known && n.match(values[i])
	}
}

// metric computes a metric. The values are valid until the next call.
func (x *Evaluator) metric(name string, b *trace.Batch, known []bool) []float64 {
	x.values = slices.Grow(x.values[:0], b.Rows)[:b.Rows]
	x.metrics(name, b, x.values, known)
	return x.values
}

func fill(out []bool, v bool) {
	for i := range out {
		out[i] = v
	}
}

// containsFold reports whether s contains part, ignoring the case of ASCII
// letters. part must be in lower case.
func containsFold(s []byte, part string) bool {
	for i := 0; i+len(part) <= len(s); i++ {
		j := 0
		for j < len(part) {
			c := s[i+j]
			if 'A' <= c && c <= 'Z' {
				c += 'a' - 'A'
			}
			if c != part[j] {
				break
			}
			j++
		}
		if j == len(part) {
			return true
		}
	}
	return false
}
