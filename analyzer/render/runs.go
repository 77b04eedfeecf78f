package render

import (
	"slices"
	"strconv"
	"strings"

	"servescope/analyzer/report"
	"servescope/analyzer/unit"
)

// addRuns adds the sections of several runs side by side: an overview, then a table per
// metric with a row per run, then the details of each run. Runs that were measured at
// different sides have tables of their own, because a client's latency and a server's
// latency are different quantities. For very many runs it adds only the overview, and
// says what it leaves out.
func addRuns(b *builder) {
	var rows []where
	var sides []string
	some := false
	for i := range b.rep.Runs {
		r := &b.rep.Runs[i]
		rows = append(rows, where{labels: []cell{{text: r.Label, code: true}}, cell: &r.Cell, side: r.Side})
		some = some || r.Requests.Total > 0
		if !slices.Contains(sides, r.Side) {
			sides = append(sides, r.Side)
		}
	}
	addCommon(b)
	if !some {
		b.head = append(b.head, pair{key: "requests", value: own("%s", requests(report.Requests{}))})
	}
	for _, side := range sides {
		about := ""
		if len(sides) > 1 {
			about = with(side, " side")
		}
		addMeasured(b, slices.DeleteFunc(slices.Clone(rows), func(r where) bool { return r.side != side }), about)
	}
	addBare(b, rows)
	if len(rows) > manyRuns {
		addNotShown(b)
		return
	}
	for i := range b.rep.Runs {
		addDetails(b, &b.rep.Runs[i])
	}
}

// addMeasured adds the figures of runs that were measured at one side.
func addMeasured(b *builder, rows []where, about string) {
	var cells []*report.Cell
	for _, r := range rows {
		cells = append(cells, r.cell)
	}
	if !slices.ContainsFunc(cells, func(c *report.Cell) bool { return c.Requests.Total > 0 }) {
		return
	}
	addCompact(b, "overview", about, []string{"run"}, rows)
	if len(b.rep.Runs) > manyRuns {
		return
	}
	head, values := stats(ranks(cells...))
	var shown []string
	for _, name := range metricNames(cells...) {
		if !repeated(name, shown, cells) {
			shown = append(shown, name)
		}
	}
	if len(rows) == 1 { // there is nothing beside it
		shown = slices.DeleteFunc(shown, func(name string) bool { return cells[0].Metrics[name].N == 0 })
		b.sections = append(b.sections, section{title: "metrics", lead: about, grid: metricTable(b, cells[0], shown, rows[0].side)})
	} else {
		for _, name := range shown {
			addSideBySide(b, name, about, rows, head, values)
		}
	}
	addRatesSideBySide(b, rows, about)
	addBatchSideBySide(b, rows, about)
}

// repeated reports whether in every cell the metric says no more than one that
// is shown.
func repeated(name string, shown []string, cells []*report.Cell) bool {
	return slices.ContainsFunc(shown, func(p string) bool {
		return !slices.ContainsFunc(cells, func(c *report.Cell) bool {
			m := c.Metrics[name]
			return !repeats(&m, c.Metrics[p])
		})
	})
}

// addCommon adds to the head what was measured: once if it is the same for all
// runs, else run by run.
func addCommon(b *builder) {
	same := true
	first := b.rep.Runs[0]
	for _, r := range b.rep.Runs[1:] {
		same = same && r.Format == first.Format && r.Side == first.Side &&
			r.Model == first.Model && slices.Equal(r.Models, first.Models) && r.Engine == first.Engine && r.Version == first.Version
	}
	if same {
		first.Label = strconv.Itoa(len(b.rep.Runs))
		describeRun(b, &first)
		b.head[0].key = "runs"
		return
	}
	if n := len(b.rep.Runs); n > manyRuns {
		b.head = append(b.head, pair{key: "runs", value: own("%d, of several formats, sides, models or versions", n)})
		return
	}
	for i := range b.rep.Runs {
		describeRun(b, &b.rep.Runs[i])
	}
}

// manyRuns is the number of runs above which each run has one line: a table per metric
// and the details of each run would be thousands of lines.
const manyRuns = 100

// addNotShown says what is left out for very many runs, and how many of them have a
// finding that a reader must know.
func addNotShown(b *builder) {
	differs, broken := 0, 0
	for i := range b.rep.Runs {
		if a := b.rep.Runs[i].Audit; a != nil {
			if a.Differs > 0 {
				differs++
			}
			if a.Broken > 0 {
				broken++
			}
		}
	}
	s := section{title: "not shown", lines: []pair{
		{key: "left out", value: own("a table per metric, rates and details, for there are %d runs", len(b.rep.Runs))},
		{key: "see them", value: own("analyze fewer runs, or use --format csv or json")},
	}}
	if differs > 0 {
		s.lines = append(s.lines, pair{key: "audit", value: own("%d runs have figures of their producer that their requests do not give", differs)})
	}
	if broken > 0 {
		s.lines = append(s.lines, pair{key: "audit", value: own("%d runs have figures that contradict each other", broken)})
	}
	b.sections = append(b.sections, s)
}

// addSideBySide adds the table of one metric with a row per run, in one unit.
func addSideBySide(b *builder, name, about string, rows []where, head []string, values func(*report.Metric) []*float64) {
	g := &grid{align: "l", head: []cell{text("run"), text("n")}}
	for _, h := range head {
		g.head = append(g.head, text(h))
	}
	var all []float64
	var u unit.Unit
	for _, r := range rows {
		if m := r.cell.Metrics[name]; m.N > 0 {
			all = append(all, known(values(&m))...)
			u = m.Unit
		}
	}
	if len(all) == 0 {
		return
	}
	scale := unit.Common(u, all...)
	for _, r := range rows {
		m := r.cell.Metrics[name]
		row := append([]cell{}, r.labels...)
		if m.N == 0 {
			row = append(row, text("0"), cell{text: "—", note: b.note(why(&m))})
			for range len(head) - 1 {
				row = append(row, text("—"))
			}
		} else {
			row = append(row, countCell(b, &m, caveats(&m, r.side)...))
			for _, v := range values(&m) {
				row = append(row, fixed(scale, v))
			}
		}
		g.rows = append(g.rows, row)
	}
	b.sections = append(b.sections, section{title: name, lead: strings.Join(nonEmpty("in "+scale.Symbol, about), ", "), grid: g})
}

// addRatesSideBySide adds the main rates and the concurrency of each run, with the
// length of the interval they are over.
func addRatesSideBySide(b *builder, rows []where, about string) {
	g := &grid{align: "l", head: []cell{text("run")}}
	var none []string
	for _, r := range rows {
		g.rows = append(g.rows, append([]cell{}, r.labels...))
	}
	for _, f := range []struct {
		head string
		of   func(*report.Cell) report.Value
	}{
		{"over", func(c *report.Cell) report.Value { return c.Throughput.Window }},
		{"requests", func(c *report.Cell) report.Value { return c.Throughput.Values["request_rate"] }},
		{"tps", func(c *report.Cell) report.Value { return c.Throughput.Values["tps"] }},
		{"end to end", func(c *report.Cell) report.Value { return c.Throughput.Values["tps_end_to_end"] }},
		{"in flight", func(c *report.Cell) report.Value { return c.Concurrency.Mean }},
		{"max", func(c *report.Cell) report.Value { return c.Concurrency.Max }},
	} {
		if !slices.ContainsFunc(rows, func(r where) bool { return f.of(r.cell).Known }) {
			none = append(none, f.head)
			continue
		}
		g.head = append(g.head, text(f.head))
		for i, r := range rows {
			g.rows[i] = append(g.rows[i], b.valueCell(f.of(r.cell)))
		}
	}
	s := section{title: "throughput", lead: about}
	if len(g.head) > 1 {
		s.grid = g
	}
	if len(none) > 0 {
		s.lines = []pair{{key: "no value", value: own("%s", strings.Join(none, ", "))}}
	}
	b.sections = append(b.sections, s)
}
