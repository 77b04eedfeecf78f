package render

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"servescope/analyzer/report"
	"servescope/analyzer/unit"
)

// shownTables is how many tables of a decomposition text shows: the largest.
const shownTables = 3

// addDecompositions adds where the time of a cell went, a table per quantity, side
// and set of entries. One that tells of no stage is a line.
func addDecompositions(b *builder, c *report.Cell, lead string) {
	for i := range c.Decompositions {
		d := &c.Decompositions[i]
		if d.Members != "" { // not of requests: see stepTime
			continue
		}
		if !d.Tells() {
			if lead == "" && d.N > 0 {
				b.sections = append(b.sections, section{lines: []pair{{key: byStage(d), value: own("%s", silent(d))}}})
			}
			continue
		}
		for j := range d.Tables[:min(len(d.Tables), shownTables)] {
			addBreakdown(b, d, &d.Tables[j], lead)
		}
		last := &b.sections[len(b.sections)-1]
		last.lines = append(last.lines, aroundTable(b, d)...)
	}
}

func byStage(d *report.Decomposition) string { return d.Of + " by stage" }

// silent says why a decomposition has nothing to show.
func silent(d *report.Decomposition) string {
	if len(d.Notes) > 0 {
		return words(d.Notes[0])
	}
	if len(d.Tables[0].Entries) == 0 {
		return "no server stamps: residual = total"
	}
	return "no stamps between the first and the last: " + d.Tables[0].Signature + " are not separable"
}

// aroundTable returns the lines that apply to all tables of a decomposition.
func aroundTable(b *builder, d *report.Decomposition) (lines []pair) {
	if rest := d.Tables[min(len(d.Tables), shownTables):]; len(rest) > 0 {
		n := int64(0)
		for i := range rest {
			n += rest[i].N
		}
		lines = append(lines, pair{key: "not shown", value: own("%d of %d, with %s of stages; JSON output has them", n, d.N, plural(int64(len(rest)), "other set"))})
	}
	if d.Censored > 0 {
		s := fmt.Sprintf("%d ended or were cut off before their first token and are left out", d.Censored)
		for _, rank := range sortedKeys(d.Late) {
			if !d.Late[rank].Known {
				s += "; with them " + percentile(rank) + " has no bound"
				break
			}
		}
		lines = append(lines, pair{key: "censored", value: own("%s", s)})
	}
	for _, n := range d.Notes {
		lines = append(lines, pair{key: "note", value: own("%s", words(n))})
	}
	return lines
}

// addBreakdown adds one table: a row per entry, the residual and the total, with the
// means over all members and over the members of the tails.
func addBreakdown(b *builder, d *report.Decomposition, t *report.Breakdown, lead string) {
	of := plural(t.N, "request")
	if t.N < d.N {
		of = fmt.Sprintf("%d of %s", t.N, plural(d.N, "request"))
	}
	s := section{title: byStage(d), lead: nextTo(lead, strings.Join(nonEmpty(with(d.Side, " side"), "mean of "+of, t.Cohort, d.Label), ", "))}
	g := &grid{align: "l", head: []cell{text("stage"), text("mean"), text("share")}}
	for _, tail := range t.Tails {
		g.head = append(g.head, text("≥"+percentile(tail.Rank)))
	}
	row := func(name string, mean, share report.Value, tail func(*report.Tail) report.Value) *[]cell {
		cells := []cell{text(name), b.valueCell(mean), b.valueCell(share)}
		for i := range t.Tails {
			cells = append(cells, b.valueCell(tail(&t.Tails[i])))
		}
		g.rows = append(g.rows, cells)
		return &g.rows[len(g.rows)-1]
	}
	for i := range t.Entries {
		e := &t.Entries[i]
		name, why := stageName(e.Leaves)
		why = append(why, negative(e.Negative, e.Reason)...)
		if step, ok := e.Resolution.Float(); ok && e.Mean.Known && step > 1 && 20*step > e.Mean.V {
			why = append(why, "known in steps of "+unit.Format(unit.Nanosecond, step))
		}
		b.remark(&(*row(name, e.Mean, e.Share, func(tail *report.Tail) report.Value { return tail.Entries[i] }))[0], why)
	}
	name, why := residualName(t.Residual.MayContain)
	why = append(why, negative(t.Residual.Negative, t.Residual.Reason)...)
	b.remark(&(*row(name, t.Residual.Mean, t.Residual.Share, func(tail *report.Tail) report.Value { return tail.Residual }))[0], why)
	total := row("total", t.Total, report.Known(1, unit.Ratio), func(tail *report.Tail) report.Value { return tail.Total })
	for i, tail := range t.Tails {
		(*total)[3+i].note = b.note(fmt.Sprintf("mean of the %d slowest, %s and above", tail.N, unit.Format(unit.Nanosecond, tail.From.V)))
	}
	s.grid = g
	s.lines = besideTable(b, d, t)
	b.sections = append(b.sections, s)
}

func negative(n int64, why string) []string {
	if n == 0 {
		return nil
	}
	s := "negative in " + plural(n, "request")
	if why != "" {
		s += " (" + reason(why) + ")"
	}
	return []string{s}
}

// besideTable says what the rows of a table do not: terms, stages that are not
// known, memos.
func besideTable(b *builder, d *report.Decomposition, t *report.Breakdown) (lines []pair) {
	var terms []string
	for i := range t.Terms {
		if s := termText(&t.Terms[i]); s != "" {
			terms = append(terms, s)
		}
	}
	if len(terms) > 0 {
		lines = append(lines, pair{key: "terms", value: own("%s", strings.Join(terms, ", "))})
	}
	var unknown byReason
	for _, l := range t.Leaves {
		if l.State == "null" && (l.Reason != "outside_total" || d.Side == "server" && l.Name == "input") {
			unknown.add(l.Reason, stage(l.Name))
		}
	}
	for _, code := range unknown.codes {
		lines = append(lines, pair{key: reason(code), value: own("%s", strings.Join(unknown.names[code], ", "))})
	}
	for _, m := range t.Memos {
		if m.Bound != "" { // of a part of an entry
			sign := map[string]string{"upper": "≤", "lower": "≥"}[m.Bound]
			lines = append(lines, pair{key: "bound", value: own("%s %s %s, mean of %d", strings.ReplaceAll(m.Name, "+", " + "), sign, b.value(m.Mean), m.N)})
			continue
		}
		lines = append(lines, pair{key: "beside", value: own("%s %s, mean of %d; not a part of the total", strings.ReplaceAll(m.Name, "_", " "), b.value(m.Mean), m.N)})
	}
	for _, n := range t.Notes {
		lines = append(lines, pair{key: "note", value: own("%s", words(n))})
	}
	return lines
}

// termText prints a term: its mean, or the bounds of it.
func termText(t *report.Term) string {
	low, high := t.Low, t.High
	switch {
	case t.Mean.Known:
		return t.Name + " " + unit.Format(t.Mean.Unit, t.Mean.V)
	case !low.Known || !high.Known || low.V == high.V:
		return "" // nothing is known of it
	case low.V == 0:
		return t.Name + " ≤ " + unit.Format(high.Unit, high.V)
	}
	return fmt.Sprintf("%s %s to %s", t.Name, unit.Format(low.Unit, low.V), unit.Format(high.Unit, high.V))
}

// stageNames spells out stages whose names are abbreviations.
var stageNames = map[string]string{"input": "input processing", "kv_transfer": "KV transfer", "first_decode": "first decode step"}

func stage(name string) string {
	if s, ok := stageNames[name]; ok {
		return s
	}
	return strings.ReplaceAll(name, "_", " ")
}

// stageName names an entry by its stages: "input + ingress (not separable)".
// Where that is too long for a table the remark is left to a footnote.
func stageName(leaves []string) (name string, why []string) {
	if len(leaves) == 1 {
		return stage(leaves[0]), nil
	}
	names := make([]string, len(leaves))
	for i, l := range leaves {
		names[i] = strings.ReplaceAll(l, "_", " ")
	}
	name = strings.Join(names, " + ")
	if len(leaves) > 3 {
		return name, []string{"not separable"}
	}
	return name + " (not separable)", nil
}

// residualName names the residual by what it may contain.
func residualName(may []string) (name string, why []string) {
	switch n := len(may); {
	case n == 0:
		return "residual", nil
	case n > 3:
		return "residual (may contain " + strconv.Itoa(n) + " stages)", []string{"may contain " + strings.ReplaceAll(strings.Join(may, ", "), "_", " ")}
	}
	return "residual (may contain " + strings.ReplaceAll(strings.Join(may, ", "), "_", " ") + ")", nil
}

// addStagesBy adds a row of mean parts per cell, each column in one unit, for the set of
// entries that most requests of the run have.
func addStagesBy(b *builder, r *report.Run, title, lead string, heads []string, rows []where) {
	i := slices.IndexFunc(r.Decompositions, func(d report.Decomposition) bool { return d.Tells() && d.Members == "" })
	if i < 0 {
		return
	}
	d := &r.Decompositions[i]
	like := &d.Tables[0]
	g := &grid{align: strings.Repeat("l", len(heads))}
	for _, h := range heads {
		g.head = append(g.head, text(h))
	}
	units := make([]cell, len(heads)+1)
	g.head = append(g.head, text("n"))
	tables := make([]*report.Breakdown, len(rows))
	for i, r := range rows {
		var n cell
		tables[i], n = tableLike(b, r.cell, d, like)
		g.rows = append(g.rows, append(slices.Clone(r.labels), n))
	}
	column := func(head string, of func(*report.Breakdown) report.Value) {
		values := make([]*float64, len(rows))
		for i, t := range tables {
			if t != nil {
				values[i] = pointer(of(t))
			}
		}
		scale := unit.Common(unit.Nanosecond, known(values)...)
		g.head, units = append(g.head, text(head)), append(units, text(scale.Symbol))
		for i, v := range values {
			g.rows[i] = append(g.rows[i], fixed(scale, v))
		}
	}
	for i := range like.Entries {
		column(strings.Join(like.Entries[i].Leaves, "+"), func(t *report.Breakdown) report.Value { return t.Entries[i].Mean })
	}
	column("residual", func(t *report.Breakdown) report.Value { return t.Residual.Mean })
	column("total", func(t *report.Breakdown) report.Value { return t.Total })
	g.rows = append([][]cell{units}, g.rows...)
	b.sections = append(b.sections, section{title: byStage(d) + ", " + title, lead: nextTo(lead, "means at the "+d.Side), grid: g})
}

// tableLike returns the table of a cell with the quantity, side and entries of
// another, or nil, and how many requests it is about.
func tableLike(b *builder, c *report.Cell, d *report.Decomposition, like *report.Breakdown) (*report.Breakdown, cell) {
	for i := range c.Decompositions {
		o := &c.Decompositions[i]
		if o.Of != d.Of || o.Side != d.Side || o.Members != d.Members {
			continue
		}
		for j := range o.Tables {
			if t := &o.Tables[j]; t.Signature == like.Signature && t.Cohort == like.Cohort {
				n := text(strconv.FormatInt(t.N, 10))
				if t.N < o.N {
					n.note = b.note("others have another set of stages; JSON output has them")
				}
				return t, n
			}
		}
	}
	return nil, text("0")
}
