package render

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"servescope/analyzer/report"
	"servescope/analyzer/unit"
)

// steps adds what the engine says of its own steps: the load as it logged it,
// and where the time of profiled intervals went.
func (b *builder) steps(r *report.Run, lead string) {
	if len(r.Steps) == 0 {
		return
	}
	b.logged(r, lead)
	b.profiled(r, lead)
}

// logged adds a row per replica, rank and kind of step: the mean and the greatest
// of what its lines state.
func (b *builder) logged(r *report.Run, lead string) {
	g := stepGrid(r.Steps)
	for _, f := range []struct {
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
	} {
		var all []float64
		for i := range r.Steps {
			all = append(all, known([]*float64{pointer(f.of(&r.Steps[i]).Max)})...)
		}
		if len(all) == 0 {
			continue
		}
		scale := unit.Common(f.unit, all...)
		g.head = append(g.head, text(f.head))
		g.rows[0] = append(g.rows[0], text(scale.Symbol))
		for i := range r.Steps {
			g.rows[i+1] = append(g.rows[i+1], b.gauge(scale, &r.Steps[i], f.of(&r.Steps[i])))
		}
	}
	s := section{title: "engine steps", lead: nextTo(lead, "mean (max) of lines, as logged"), grid: g}
	s.lines = append(s.lines, pair{key: "not weighted", value: own("means are over lines, not over time; the query selects none of them")})
	if span := b.span(r); span != "" {
		s.lines = append(s.lines, pair{key: "stamps", value: own("%s", span)})
	}
	b.sections = append(b.sections, s)
}

// stepLength is the length of single steps: means over windows say no more than
// their rates do.
func stepLength(s *report.Steps) *report.Gauge {
	if s.Quantity == "mean" {
		return new(report.Gauge)
	}
	return &s.Duration
}

// nextTo joins what a table is about.
func nextTo(texts ...string) string { return strings.Join(nonEmpty(texts...), ": ") }

// stepGrid returns a table that names the series and counts their rows. The
// first row is for units.
func stepGrid(list []report.Steps) *grid {
	g := &grid{align: "ll", head: []cell{text("replica"), text("kind"), text("n")}, rows: [][]cell{{text(""), text(""), text("")}}}
	for i := range list {
		s := &list[i]
		g.rows = append(g.rows, []cell{
			label(strings.Join(nonEmpty(s.Replica, s.Rank), " ")), label(s.Kind), text(strconv.FormatInt(s.N, 10)),
		})
	}
	return g
}

// gauge prints the mean and the greatest of a gauge.
func (b *builder) gauge(scale unit.Scale, s *report.Steps, g *report.Gauge) cell {
	mean, most := pointer(g.Mean), pointer(g.Max)
	if mean == nil || most == nil {
		return text("—")
	}
	c := text(scale.Short(*mean) + " (" + scale.Short(*most) + ")")
	if g.N < s.N {
		why := fmt.Sprintf("stated by %d of %d lines", g.N, s.N)
		if s.AfterIdle > 0 && (g == &s.PromptTPS || g == &s.GenerationTPS) {
			why += fmt.Sprintf(", without %d behind a pause, whose rates count it", s.AfterIdle)
		}
		c.note = b.note(why)
	}
	return c
}

// span says from when to when the steps are, and how fine the stamps are.
func (b *builder) span(r *report.Run) string {
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
	text := "over " + unit.FormatDuration(to-from)
	if wall(r.Clock) {
		text += fmt.Sprintf(", %s to %s UTC", stamp(report.KnownInt(from, "")).Format(dated), stamp(report.KnownInt(to, "")).Format(dated))
	}
	if resolution > 1 {
		text += ", in steps of " + unit.FormatDuration(resolution)
	}
	return text
}

// classHeads are short headings of the classes, in the order of the timeline.
var classHeads = [][2]string{{"compute", "compute"}, {"sampling", "sampling"}, {"communication", "comm"}, {"host_transfer", "copies"},
	{"launch_wait", "launch"}, {"scheduling", "sched"}, {"host_exec", "host"}, {"host_gap", "gap"}}

// profiled adds where the time of profiled intervals went, as sums per class.
func (b *builder) profiled(r *report.Run, lead string) {
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
	g := stepGrid(list)
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
