package render

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"servescope/analyzer/metric"
	"servescope/analyzer/report"
	"servescope/analyzer/unit"
)

// principal lists the metrics that the first table of a run shows, values or
// not; the others follow further down when they have values.
var principal = []string{"ttft", "tpot", "chunk_gap", "token_latency", "e2e"}

// metricNames returns the names of all metrics of the cells: the principal ones,
// then the others in the order of the registry, then those it does not know.
func metricNames(cells ...*report.Cell) []string {
	all := map[string]bool{}
	for _, c := range cells {
		for name := range c.Metrics {
			all[name] = true
		}
	}
	return inOrder(sortedKeys(all))
}

// inOrder sorts names of metrics, or of rates, which come sorted as text. The
// rate tps_decode has the name of a distribution; it stands last among rates.
func inOrder(names []string) []string {
	place := map[string]int{}
	for i, m := range metric.All() {
		place[m.Name] = i + 1
	}
	if slices.Contains(names, "tps") {
		delete(place, "tps_decode")
	}
	for i, name := range principal {
		place[name] = i - len(principal)
	}
	last := len(metric.All()) + 1
	slices.SortStableFunc(names, func(a, b string) int {
		return cmp.Compare(cmp.Or(place[a], last), cmp.Or(place[b], last))
	})
	return names
}

// ranks returns the ranks of all quantiles of the cells, ascending.
func ranks(cells ...*report.Cell) []string {
	all := map[string]bool{}
	for _, c := range cells {
		for _, m := range c.Metrics {
			for rank := range m.Quantiles {
				all[rank] = true
			}
		}
	}
	keys := sortedKeys(all)
	slices.SortStableFunc(keys, func(a, b string) int { return cmp.Compare(parse(a), parse(b)) })
	return keys
}

func parse(rank string) float64 {
	v, _ := strconv.ParseFloat(rank, 64)
	return v
}

// percentile names a rank: p50, p99.9.
func percentile(rank string) string {
	return "p" + strconv.FormatFloat(parse(rank)*100, 'g', 10, 64)
}

// stats returns the headings and the values of a metric's row: mean, quantiles
// and maximum. A value that the metric lacks is nil.
func stats(ranks []string) (head []string, values func(m *report.Metric) []*float64) {
	head = append(head, "mean")
	for _, rank := range ranks {
		head = append(head, percentile(rank))
	}
	head = append(head, "max")
	return head, func(m *report.Metric) []*float64 {
		row := []*float64{&m.Mean}
		for _, rank := range ranks {
			if v, ok := m.Quantiles[rank]; ok {
				row = append(row, &v)
			} else {
				row = append(row, nil)
			}
		}
		return append(row, &m.Max)
	}
}

// addLatencies adds the table of the principal metrics of a cell.
func addLatencies(b *builder, c *report.Cell, side string) {
	b.sections = append(b.sections, section{grid: metricTable(b, c, principal, side)})
}

// addFurther adds the table of the other metrics that have values. Those that only
// repeat a row and those without values are named below it.
func addFurther(b *builder, c *report.Cell, side string) {
	shown := slices.Clone(principal)
	var missing byReason
	var same []string
	s := section{title: "further metrics"}
	for _, name := range metricNames(c) {
		m := c.Metrics[name]
		if slices.Contains(principal, name) {
			continue
		}
		if m.N == 0 {
			if why := absence(&m); !unmentioned(name, why) {
				missing.add(why, name)
			}
			continue
		}
		if i := slices.IndexFunc(shown, func(p string) bool { return repeats(&m, c.Metrics[p]) }); i >= 0 {
			same = append(same, name+" as "+shown[i])
			continue
		}
		shown = append(shown, name)
	}
	if len(shown) > len(principal) {
		s.grid = metricTable(b, c, shown[len(principal):], side)
	}
	if len(same) > 0 {
		s.lines = append(s.lines, pair{key: "the same", value: own("%s", strings.Join(same, ", "))})
	}
	s.lines = append(s.lines, missing.lines()...)
	if s.grid != nil || len(s.lines) > 0 {
		b.sections = append(b.sections, s)
	}
}

// unmentioned reports whether a metric without values applies only to workloads of
// another kind than the run's.
func unmentioned(name, reason string) bool {
	m, ok := metric.Lookup(name)
	return ok && m.Occasional && reason == metric.NotRecorded.String()
}

// absence returns why a metric has no value: that requests failed, or did not end,
// is no reason where the others lack what it needs.
func absence(m *report.Metric) string {
	for _, code := range byCount(m.Excluded) {
		switch code {
		case "failed", "aborted", "empty", "open", "head_missing":
		default:
			return code
		}
	}
	return m.Reason
}

// byReason collects names of what has no value, by reason.
type byReason struct {
	codes []string
	names map[string][]string
}

func (r *byReason) add(code, name string) {
	if r.names == nil {
		r.names = map[string][]string{}
	}
	if r.names[code] == nil {
		r.codes = append(r.codes, code)
	}
	r.names[code] = append(r.names[code], name)
}

// lines says what has no value, a line per reason.
func (r *byReason) lines() []pair {
	var out []pair
	for _, code := range r.codes {
		out = append(out, pair{key: "no value", value: own("%s: %s", reason(code), strings.Join(r.names[code], ", "))})
	}
	return out
}

// repeats reports whether m says what p says.
func repeats(m *report.Metric, p report.Metric) bool {
	if m.N == 0 && p.N == 0 {
		return true
	}
	return m.N == p.N && m.Unit == p.Unit && m.Mean == p.Mean && m.Min == p.Min && m.Max == p.Max && m.Std == p.Std &&
		maps.Equal(m.Quantiles, p.Quantiles) && maps.Equal(m.Excluded, p.Excluded)
}

// metricTable returns a table with a row per metric, each in the unit that suits
// it; a metric without values has dashes and the reason as a footnote.
func metricTable(b *builder, c *report.Cell, names []string, side string) *grid {
	head, values := stats(ranks(c))
	g := &grid{align: "ll", head: []cell{text("metric"), text("unit"), text("n")}}
	for _, h := range head {
		g.head = append(g.head, text(h))
	}
	for _, name := range names {
		m := c.Metrics[name]
		row := metricRow(b, name, &m, side)
		if m.N == 0 {
			row = append(row, text(""), text("0"), cell{text: "—", note: b.note(why(&m))})
			for range len(head) - 1 {
				row = append(row, text("—"))
			}
			g.rows = append(g.rows, row)
			continue
		}
		vals := values(&m)
		scale := unit.Common(m.Unit, known(vals)...)
		row = append(row, text(scale.Symbol), countCell(b, &m))
		for _, v := range vals {
			row = append(row, short(scale, v))
		}
		g.rows = append(g.rows, row)
	}
	return g
}

// metricRow begins the row of a metric with its name and caveats.
func metricRow(b *builder, name string, m *report.Metric, side string) []cell {
	c := text(name)
	if notes := caveats(m, side); len(notes) > 0 {
		c.note = b.note(strings.Join(notes, "; "))
	}
	return []cell{c}
}

// caveats returns what a reader of the metric's numbers must know.
func caveats(m *report.Metric, side string) []string {
	var notes []string
	if m.Side != "" && side != "" && m.Side != side {
		notes = append(notes, m.Side+" side")
	}
	for _, n := range m.Notes {
		notes = append(notes, words(n))
	}
	if m.N > 0 && !m.Exact {
		notes = append(notes, "approx: quantiles from a histogram")
	}
	return notes
}

// countCell prints n with what was left out, and other caveats, as a footnote.
func countCell(b *builder, m *report.Metric, caveats ...string) cell {
	c := text(strconv.FormatInt(m.N, 10))
	if s := excluded(m); s != "" {
		caveats = append([]string{"left out: " + s}, caveats...)
	}
	if len(caveats) > 0 {
		c.note = b.note(strings.Join(caveats, "; "))
	}
	return c
}

// why says why a metric has no value.
func why(m *report.Metric) string {
	if out := excluded(m); out != "" {
		return "left out: " + out
	}
	return reason(m.Reason)
}

// excluded lists the exclusions, the most frequent first.
func excluded(m *report.Metric) string {
	var parts []string
	for _, code := range byCount(m.Excluded) {
		if n := m.Excluded[code]; n != 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, reason(code)))
		}
	}
	return strings.Join(parts, ", ")
}

// known returns the values that are there and finite.
func known(values []*float64) []float64 {
	var out []float64
	for _, v := range values {
		if v != nil && *v-*v == 0 {
			out = append(out, *v)
		}
	}
	return out
}

// short prints a value for a row, or a dash for a missing value.
func short(s unit.Scale, v *float64) cell {
	if v == nil || *v-*v != 0 {
		return text("—")
	}
	return text(s.Short(*v))
}

// fixed prints a value for a column, or a dash for a missing value.
func fixed(s unit.Scale, v *float64) cell {
	if v == nil || *v-*v != 0 {
		return text("—")
	}
	return text(s.Format(*v))
}
