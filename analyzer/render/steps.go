package render

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"servescope/analyzer/report"
	"servescope/analyzer/unit"
)

// addSteps adds what the engine says of its own steps: the load as it logged it,
// and where the time of profiled intervals went.
func addSteps(b *builder, r *report.Run, lead string) {
	addLogged(b, r, "engine steps", lead, nil, stepsOf(nil, r.Steps))
	addProfiled(b, r, lead)
	addStepGroups(b, r, lead)
	var rows []stepRow
	for i := range r.Windows {
		w := &r.Windows[i]
		rows = append(rows, stepsOf([]cell{windowCell(b, r, w)}, w.Steps)...)
	}
	addLogged(b, r, "engine steps in windows of "+unit.FormatDuration(b.rep.Query.Window), lead, []string{"from"}, rows)
}

// addStepGroups adds the same by group, unless the groups are the replicas, which
// every table of steps tells apart.
func addStepGroups(b *builder, r *report.Run, lead string) {
	by := b.rep.Query.By
	if len(by) == 1 && by[0] == "replica" {
		return
	}
	var rows, windows []stepRow
	for i := range r.Groups {
		g := &r.Groups[i]
		var labels []cell
		for _, dim := range by {
			labels = append(labels, label(g.By[dim]))
		}
		rows = append(rows, stepsOf(labels, g.Steps)...)
		for j := range g.Windows {
			w := &g.Windows[j]
			windows = append(windows, stepsOf(append(slices.Clone(labels), windowCell(b, r, w)), w.Steps)...)
		}
	}
	addLogged(b, r, "engine steps by "+strings.Join(by, ", "), lead, by, rows)
	addLogged(b, r, "windows of engine steps by "+strings.Join(by, ", "), lead, append(slices.Clone(by), "from"), windows)
}

// stepRow is a row of a table of steps: its labels, as a window's start, and the
// steps.
type stepRow struct {
	labels []cell
	steps  *report.Steps
}

func stepsOf(labels []cell, list []report.Steps) []stepRow {
	rows := make([]stepRow, len(list))
	for i := range list {
		rows[i] = stepRow{labels, &list[i]}
	}
	return rows
}

// addLogged adds a row per replica, rank and kind of step: the mean and the greatest
// of what its lines state.
func addLogged(b *builder, r *report.Run, title, lead string, heads []string, rows []stepRow) {
	if len(rows) == 0 {
		return
	}
	g := stepGrid(heads, rows)
	weights := weightsOf(rows)
	for _, f := range stepGauges {
		var all []float64
		for _, row := range rows {
			all = append(all, known([]*float64{pointer(f.of(row.steps).Max)})...)
		}
		if len(all) == 0 {
			continue
		}
		scale := unit.Common(f.unit, all...)
		g.head = append(g.head, text(f.head))
		g.rows[0] = append(g.rows[0], text(scale.Symbol))
		for i, row := range rows {
			g.rows[i+1] = append(g.rows[i+1], gaugeCell(b, scale, row.steps, f.of(row.steps), weights))
		}
	}
	if !slices.ContainsFunc(g.rows[0], func(c cell) bool { return c.text != "" }) {
		g.rows = g.rows[1:] // no column has a unit
	}
	s := section{title: title, lead: nextTo(lead, "mean (max) of lines, as logged"), grid: g}
	if weights != noWeights {
		s.lines = append(s.lines, pair{key: "means", value: own("%s", weights)})
	}
	if span := spanText(b, r); span != "" && len(heads) == 0 {
		s.lines = append(s.lines, pair{key: "stamps", value: own("%s", span)})
	}
	b.sections = append(b.sections, s)
}

// stepGauges are the columns of a table of steps.
var stepGauges = []struct {
	head string
	unit unit.Unit
	of   func(*report.Steps) *report.Gauge
}{
	{"running", unit.None, func(s *report.Steps) *report.Gauge { return &s.Running }},
	{"waiting", unit.None, func(s *report.Steps) *report.Gauge { return &s.Waiting }},
	{"KV cache", unit.Ratio, func(s *report.Steps) *report.Gauge { return &s.KVUsage }},
	{"prompt", unit.TokenRate, func(s *report.Steps) *report.Gauge { return &s.PromptTPS }},
	{"generation", unit.TokenRate, func(s *report.Steps) *report.Gauge { return &s.GenerationTPS }},
	{"length", unit.Nanosecond, stepLength},
}

// weights says what the means of a table of steps are over.
type weights string

const (
	noWeights  weights = ""
	overLines  weights = "over lines, not over time: they do not say how long they hold"
	overTime   weights = "over time: each line says how long it holds"
	overEither weights = "over lines, which do not say how long they hold, where no footnote says else"
	timedMean          = "mean over time: each line says how long it holds"
)

// weightsOf returns the weights of all gauges in the rows except lengths, whose means
// are over steps.
func weightsOf(rows []stepRow) weights {
	lines, time := false, false
	for _, row := range rows {
		for _, f := range stepGauges {
			if g := f.of(row.steps); g.N > 0 && f.unit != unit.Nanosecond {
				lines, time = lines || !g.Timed, time || g.Timed
			}
		}
	}
	switch {
	case lines && time:
		return overEither
	case time:
		return overTime
	case lines:
		return overLines
	}
	return noWeights
}

// stepLength is the length of single steps: means over windows say no more than
// their rates do.
func stepLength(s *report.Steps) *report.Gauge {
	if s.Quantity == "mean" {
		return new(report.Gauge)
	}
	return &s.Duration
}

// stepGrid returns a table that names the series and counts their rows. The
// first row is for units.
func stepGrid(heads []string, rows []stepRow) *grid {
	kinds := slices.ContainsFunc(rows, func(r stepRow) bool { return r.steps.Kind != "window" })
	names := append(slices.Clone(heads), "replica")
	if kinds { // else every row is a logged window
		names = append(names, "kind")
	}
	g := &grid{align: strings.Repeat("l", len(names))}
	for _, head := range append(names, "n") {
		g.head = append(g.head, text(head))
	}
	g.rows = append(g.rows, make([]cell, len(g.head)))
	for _, row := range rows {
		s := row.steps
		cells := append(slices.Clone(row.labels), label(strings.Join(nonEmpty(s.Replica, s.Rank), " ")))
		if kinds {
			cells = append(cells, label(s.Kind))
		}
		g.rows = append(g.rows, append(cells, text(strconv.FormatInt(s.N, 10))))
	}
	return g
}

// gaugeCell prints the mean and the greatest of a gauge.
func gaugeCell(b *builder, scale unit.Scale, s *report.Steps, g *report.Gauge, w weights) cell {
	mean, most := pointer(g.Mean), pointer(g.Max)
	if mean == nil || most == nil {
		return text("—")
	}
	c := text(scale.Short(*mean) + " (" + scale.Short(*most) + ")")
	switch {
	case g.Timed && w == overEither:
		c.note = b.note(timedMean)
	case g.N < s.N:
		why := fmt.Sprintf("stated by %d of %d lines", g.N, s.N)
		if s.AfterIdle > 0 && (g == &s.PromptTPS || g == &s.GenerationTPS) {
			why += fmt.Sprintf(", without %d behind a pause, whose rates count it", s.AfterIdle)
		}
		c.note = b.note(why)
	}
	return c
}

// spanText says from when to when the steps are, and how fine the stamps are.
func spanText(b *builder, r *report.Run) string {
	var from, to, resolution int64
	some := false
	for i := range r.Steps {
		s := &r.Steps[i]
		if !s.From.Known || !s.To.Known {
			continue
		}
		if !some || s.From.Int < from {
			from = s.From.Int
		}
		if !some || s.To.Int > to {
			to = s.To.Int
		}
		resolution, some = max(resolution, s.Resolution.Int), true
	}
	if !some {
		return ""
	}
	text := "over " + unit.Format(unit.Nanosecond, float64(to-from))
	if wall(r.Clock) {
		text += fmt.Sprintf(", %s to %s UTC", stamp(report.KnownInt(from, "")).Format(dated), stamp(report.KnownInt(to, "")).Format(dated))
	}
	if resolution > 1 {
		text += ", in steps of " + unit.Format(unit.Nanosecond, float64(resolution))
	}
	return text
}

// classHeads are short headings of the classes, in the order of the timeline.
var classHeads = [][2]string{{"compute", "compute"}, {"sampling", "sampling"}, {"communication", "comm"}, {"host_transfer", "copies"},
	{"launch_wait", "launch"}, {"scheduling", "sched"}, {"host_exec", "host"}, {"host_gap", "gap"}}

// addProfiled adds where the time of profiled intervals went, as sums per class,
// unless tables of their parts say so.
func addProfiled(b *builder, r *report.Run, lead string) {
	if slices.ContainsFunc(r.Decompositions, func(d report.Decomposition) bool { return d.Members != "" && !d.Estimated() }) {
		return
	}
	list := slices.DeleteFunc(slices.Clone(r.Steps), func(s report.Steps) bool { return len(s.Classes) == 0 })
	if len(list) == 0 {
		return
	}
	columns := append([][2]string{{"", "total"}}, classHeads...)
	of := func(s *report.Steps, class string) *float64 {
		if class == "" {
			return pointer(s.Total)
		}
		return pointer(s.Classes[class])
	}
	var all []float64
	for i := range list {
		for _, c := range columns {
			all = append(all, known([]*float64{of(&list[i], c[0])})...)
		}
	}
	scale := unit.Common(unit.Nanosecond, all...)
	g := stepGrid(nil, stepsOf(nil, list))
	g.rows = g.rows[1:]
	for _, c := range columns {
		values := make([]*float64, len(list))
		for i := range list {
			values[i] = of(&list[i], c[0])
		}
		if len(known(values)) == 0 {
			continue
		}
		g.head = append(g.head, text(c[1]))
		for i, v := range values {
			g.rows[i] = append(g.rows[i], fixed(scale, v))
		}
	}
	b.sections = append(b.sections, section{title: "intervals", lead: nextTo(lead, "sums by class in "+scale.Symbol+", JSON output has them in ns"), grid: g})
}
