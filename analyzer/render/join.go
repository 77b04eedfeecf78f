package render

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"servescope/analyzer/report"
	"servescope/analyzer/unit"
)

// addBySide adds the figures of each side of a run with rows of several sides.
func addBySide(b *builder, r *report.Run, lead string) {
	if len(r.Sides) < 2 {
		return
	}
	var rows []where
	g := &grid{align: "l", head: []cell{text("side"), text("n"), text("ok")}, rows: [][]cell{{text(""), text(""), text("")}}}
	for i := range r.Sides {
		s := &r.Sides[i]
		c := &report.Cell{Metrics: s.Metrics}
		n := cell{text: strconv.FormatInt(s.Requests.Total, 10)}
		var about []string
		if s.Apart > 0 {
			about = append(about, plural(s.Apart, "request")+" apart from those of the run")
		}
		if s.Side == "prefill" || s.Side == "decode" {
			about = append(about, "node-level figures: a request passes through a prefill and a decode node")
		}
		if m, ok := s.Metrics["ttft_engine"]; ok {
			c.Metrics = map[string]report.Metric{"ttft": m, "tpot": s.Metrics["tpot"], "e2e": s.Metrics["e2e"]}
			about = append(about, "ttft is from the scheduler's queue on")
		}
		if len(about) > 0 {
			n.note = b.note(strings.Join(about, "; "))
		}
		rows = append(rows, where{cell: c})
		g.rows = append(g.rows, []cell{text(s.Side), n, text(strconv.FormatInt(s.Requests.OK, 10))})
	}
	for _, name := range figures {
		addSideFigures(b, g, name, rows)
	}
	b.sections = append(b.sections, section{title: "sides", lead: lead, grid: g})
}

// addSideFigures adds the median and the tail of a metric to a table of sides.
func addSideFigures(b *builder, g *grid, name string, rows []where) {
	for i := range rows {
		u := rows[i].cell.Metrics[name].Unit
		if u == "" {
			continue
		}
		fs := []func(c *report.Cell) *float64{quantile(name, "0.5"), quantile(name, "0.99")}
		scale, _ := scaleOf(u, rows, fs)
		for k, f := range fs {
			g.head = append(g.head, text([]string{name + " p50", "p99"}[k]))
			g.rows[0] = append(g.rows[0], text(scale.Symbol))
			for j := range rows {
				g.rows[j+1] = append(g.rows[j+1], fixed(scale, f(rows[j].cell)))
			}
		}
		return
	}
}

// addJoins adds what came of joining inputs.
func addJoins(b *builder, r *report.Run, lead string) {
	j := r.Join
	if j == nil {
		return
	}
	lead = strings.Join(nonEmpty(lead, joined(j)), ": ")
	g := &grid{align: "ll", head: []cell{text("input"), text("side"), text("requests"), text("joined"), text("share"), text("only here")}}
	s := section{title: "join", lead: lead, grid: g}
	for _, e := range j.Ends {
		only := cell{text: strconv.FormatInt(e.Requests-e.Joined, 10)}
		if len(e.Unmatched) > 0 {
			only.note = b.note(listOf(e.Unmatched, e.Requests-e.Joined))
		}
		n := cell{text: strconv.FormatInt(e.Requests, 10)}
		var about []string
		if e.Repeated > 0 {
			about = append(about, plural(e.Repeated, "row")+" in no figure: another input says more of the same")
		}
		if e.Unnamed > 0 {
			about = append(about, fmt.Sprintf("%d bear no id", e.Unnamed))
		}
		if len(about) > 0 {
			n.note = b.note(strings.Join(about, "; "))
		}
		g.rows = append(g.rows, []cell{{text: e.Input, code: true}, text(e.Side), n, text(strconv.FormatInt(e.Joined, 10)), b.valueCell(e.Rate), only})
	}
	for i := range j.Pairs {
		p := &j.Pairs[i]
		s.lines = append(s.lines, pair{key: p.A.Side + " – " + p.B.Side, value: joinPairLine(b, p)})
	}
	if j.More > 0 {
		s.lines = append(s.lines, pair{key: "more", value: own("%s are not shown", plural(j.More, "pair"))})
	}
	s.lines = append(s.lines, leftOutLines(b, j)...)
	if len(g.rows) == 0 {
		s.grid = nil
	}
	b.sections = append(b.sections, s)
}

// joined says how many requests a join has found on several sides.
func joined(j *report.Join) string {
	if j.Requests == 0 {
		return "no input holds a request"
	}
	rate := ""
	if j.Rate.Known {
		rate = " (" + unit.Format(j.Rate.Unit, j.Rate.V) + ")"
	}
	return fmt.Sprintf("%d of %s of the %s side are seen elsewhere too%s", j.Joined, plural(j.Requests, "request"), j.Counting, rate)
}

// joinPairLine says how many requests two ends have in common, by which names, and how
// far their clocks are apart.
func joinPairLine(b *builder, p *report.JoinPair) line {
	l := own("%d joined", p.Joined)
	if p.A.Input != p.B.Input {
		l = append(line{{p.A.Input, true}, {text: " and "}, {p.B.Input, true}}, span{text: ": " + l[0].text})
	}
	var rules []string
	for _, name := range byCount(p.Rules) {
		rules = append(rules, fmt.Sprintf("%d %s", p.Rules[name], name))
	}
	l = append(l, span{text: "; names: " + strings.Join(rules, ", ")})
	if s := ahead(p); s != "" {
		l = append(l, span{text: "; " + s})
	}
	if w := p.Between; w != nil {
		l = append(l, span{text: fmt.Sprintf("; %s there, %s back", within(w.There, w.Wrong), within(w.Back, w.Wrong))})
	}
	return l
}

// ahead says how far two clocks are apart. Between clocks of different origins
// only the width of the interval means something to people.
func ahead(p *report.JoinPair) string {
	o := &p.Offset
	switch {
	case o.Same:
		return "one clock"
	case o.Note != "":
		return o.Note
	case !o.Low.Known && !o.High.Known:
		return ""
	case !o.Low.Known:
		return fmt.Sprintf("the %s's clock is ahead by at most %s (n = %d)", p.B.Side, duration(o.High.Int), o.N)
	case !o.High.Known:
		return fmt.Sprintf("the %s's clock is ahead by at least %s (n = %d)", p.B.Side, duration(o.Low.Int), o.N)
	}
	width := duration(o.High.Int - o.Low.Int)
	if kind(p.A.Clock) != kind(p.B.Clock) {
		return fmt.Sprintf("clocks of different origins (%s, %s), known to each other within %s (n = %d)", kind(p.A.Clock), kind(p.B.Clock), width, o.N)
	}
	return fmt.Sprintf("the %s's clock is ahead by %s to %s (n = %d)", p.B.Side, duration(o.Low.Int), duration(o.High.Int), o.N)
}

func duration(ns int64) string { return unit.Format(unit.Nanosecond, float64(ns)) }

// kind is the kind of a clock.
func kind(clock string) string {
	k, _, _ := strings.Cut(clock, "/")
	return k
}

// within writes a mean with by how much it may be wrong.
func within(v, wrong report.Value) string {
	if !v.Known {
		return "—"
	}
	return fmt.Sprintf("%s ± %s", unit.Format(v.Unit, v.V), unit.Format(wrong.Unit, wrong.V))
}

// leftOutLines says what the join left open.
func leftOutLines(b *builder, j *report.Join) (lines []pair) {
	add := func(key string, n int64, what string, names []string) {
		if n > 0 {
			lines = append(lines, pair{key: key, value: own("%s %s%s", plural(n, "name"), what, cmp.Or(parenthesised(names, n), ""))})
		}
	}
	add("ambiguous", j.Ambiguous, "of several candidates link nothing", j.Examples.Ambiguous)
	add("duplicate", j.Duplicates, "given to several requests of one input link nothing", j.Examples.Duplicates)
	if j.Disagree > 0 {
		lines = append(lines, pair{key: "differ", value: own("the rows of %s state different numbers of output tokens", plural(j.Disagree, "request"))})
	}
	for _, s := range j.Steps {
		v := append(foreign(s.Input), span{text: fmt.Sprintf(": %d of %s overlap a request, %d of %s overlap a step", s.Within, plural(s.N, "row"), s.Covered, plural(s.Requests, "request"))})
		if s.Note != "" {
			v = append(v, span{text: "; " + s.Note})
		}
		lines = append(lines, pair{key: "steps by time", value: v})
	}
	return lines
}

func parenthesised(names []string, n int64) string {
	if len(names) == 0 {
		return ""
	}
	return " (" + listOf(names, n) + ")"
}

// listOf lists names, the first of n.
func listOf(names []string, n int64) string {
	shown := slices.Clone(names)
	for i, name := range shown {
		shown[i] = visible(name)
	}
	if int64(len(shown)) < n {
		shown = append(shown, "…")
	}
	return strings.Join(shown, ", ")
}
