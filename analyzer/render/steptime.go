package render

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"servescope/analyzer/report"
	"servescope/analyzer/unit"
)

// addStepTime adds where the time per token went as the steps of engines tell it: by
// part, with ranks or kinds of steps beside each other, then by rank, by kind and
// batch size, by group and window.
func addStepTime(b *builder, r *report.Run, lead string) {
	whole, ranks, kinds := ofSteps(&r.Cell, "tpot", ""), ofSteps(&r.Cell, "tpot", "rank"), ofSteps(&r.Cell, "tpot", "kind")
	if whole != nil {
		beside := columnsOf(kinds)
		if len(beside) == 0 {
			beside = columnsOf(ranks)
		}
		addTokenTime(b, "TPOT by part", whole, beside, lead)
		if n := len(columnsOf(ranks)); n > maxBeside || n > 0 && kinds != nil {
			addTerms(b, "TPOT by rank", lead, []string{"rank"}, rowsOf(ranks))
		}
	}
	if d := ofSteps(&r.Cell, "tpot", "request"); d != nil && d.Tells() {
		addTokenTime(b, "TPOT of requests by part", d, columnsOf(ofSteps(&r.Cell, "tpot", "request_kind")), lead)
	}
	for i := range r.Decompositions {
		if d := &r.Decompositions[i]; d.Of == "step" && d.By == "batch" {
			addStepSizes(b, d, ofSteps(&r.Cell, "step", ""), whole, lead)
		}
	}
	addStepTimeBy(b, r, lead)
}

// ofSteps returns the decomposition of a cell that steps tell, or nil.
func ofSteps(c *report.Cell, of, by string) *report.Decomposition {
	for i := range c.Decompositions {
		if d := &c.Decompositions[i]; d.Members != "" && d.Of == of && d.By == by && !d.Estimated() {
			return d
		}
	}
	return nil
}

// beside is a table that is shown as a column beside another.
type beside struct {
	head  string
	table *report.Breakdown
}

// maxBeside is how many fit the width of a terminal.
const maxBeside = 4

// columnsOf returns the tables of a decomposition by rank or kind as columns, with
// of their names the part that tells them apart.
func columnsOf(d *report.Decomposition) []beside {
	if d == nil {
		return nil
	}
	names := make([]string, len(d.Tables))
	for i := range names {
		names[i] = d.Tables[i].Cohort
	}
	list := make([]beside, len(names))
	for i, name := range apart(names) {
		list[i] = beside{name, &d.Tables[i]}
	}
	return list
}

// apart shortens names such as "dp0 tp1 rank1" to the first word in which all
// differ, if there is one.
func apart(names []string) []string {
	words := make([][]string, len(names))
	for i := range names {
		words[i] = strings.Fields(names[i])
		if len(words[i]) != len(words[0]) {
			return names
		}
	}
	if len(names) < 2 {
		return names
	}
	for j := range words[0] {
		var list []string
		for i := range words {
			if slices.Contains(list, words[i][j]) {
				break
			}
			list = append(list, words[i][j])
		}
		if len(list) == len(names) {
			return list
		}
	}
	return names
}

// addTokenTime adds the parts of the time per token.
func addTokenTime(b *builder, title string, d *report.Decomposition, columns []beside, lead string) {
	left := leftOut(d)
	if len(d.Tables) == 0 {
		b.sections = append(b.sections, section{title: title, lead: lead, lines: []pair{{key: "none", value: own("%s", strings.Join(nonEmpty(reason(d.Total.Reason), with(left, " left out")), "; "))}}})
		return
	}
	t := &d.Tables[0]
	columns = slices.DeleteFunc(slices.Clone(columns), func(c beside) bool { return c.table.Signature != t.Signature })
	if len(columns) > maxBeside {
		columns = nil
	}
	scale := partScale(t.Total)
	s := section{title: title, lead: nextTo(lead, "mean of "+plural(t.N, "token")+" in "+scale.Symbol+", as steps tell"), grid: partGrid(b, t, columns, scale)}
	if d.Low.Known && d.High.Known && d.Low.V < d.High.V {
		s.lines = append(s.lines, pair{key: "assumed", value: own("which sequences go on through steps that only prefill: TPOT is between %s and %s", unit.Format(d.Low.Unit, d.Low.V), unit.Format(d.High.Unit, d.High.V))})
	} else if d.Label != "" {
		s.lines = append(s.lines, pair{key: "assumed", value: own("which sequences go on through steps that only prefill")})
	}
	if len(d.Tables) > 1 {
		s.lines = append(s.lines, pair{key: "not shown", value: own("%d of %d tokens, of which other parts are told; JSON output has them", d.N-t.N, d.N)})
	}
	if left != "" {
		s.lines = append(s.lines, pair{key: "left out", value: own("%s", left)})
	}
	s.lines = append(s.lines, besideParts(b, d, t)...)
	b.sections = append(b.sections, s)
}

// partScale returns the scale of the parts of a total: the scale of the total with one
// more digit, so that parts and total align.
func partScale(total report.Value) unit.Scale {
	s := unit.Common(total.Unit, total.V)
	s.Prec = min(s.Prec+1, 3)
	return s
}

// leftOut says which members a decomposition leaves out, the most frequent reason
// first.
func leftOut(d *report.Decomposition) string {
	var parts []string
	for _, code := range byCount(d.Excluded) {
		if n := d.Excluded[code]; n > 0 && code != d.Total.Reason {
			parts = append(parts, fmt.Sprintf("%s %s", plural(n, leftMember(d)), reason(code)))
		}
	}
	return strings.Join(parts, ", ")
}

// leftMember names what a decomposition leaves out one of.
func leftMember(d *report.Decomposition) string {
	if d.By == "request" {
		return "request"
	}
	return strings.TrimSuffix(d.Members, "s")
}

// besideParts says what the table of parts does not.
func besideParts(b *builder, d *report.Decomposition, t *report.Breakdown) (lines []pair) {
	var memos []string
	for _, m := range t.Memos {
		if m.Mean.Known && m.Mean.V != 0 && !strings.HasPrefix(m.Name, dividesCommunication) || m.Name == "communication_overlapped" {
			memos = append(memos, strings.ReplaceAll(m.Name, "_", " ")+" "+b.value(m.Mean))
		}
	}
	if len(memos) > 0 {
		lines = append(lines, pair{key: "within", value: own("%s", strings.Join(memos, ", "))})
	}
	if share, more := memoNamed(d.Memos, "mixed_share"), memoNamed(d.Memos, "mixed_excess"); share != nil && share.Mean.V > 0 {
		s := unit.Format(unit.Ratio, share.Mean.V) + " of token time"
		if more != nil {
			s += ", " + unit.Format(more.Mean.Unit, more.Mean.V) + " more than decode steps of as many sequences (an estimate)"
		}
		lines = append(lines, pair{key: "mixed steps", value: own("%s", s)})
	}
	for _, x := range d.Stops[:min(len(d.Stops), 3)] {
		lines = append(lines, pair{key: "stop", value: append(own("step %d of ", x.Step), span{x.Rank, true},
			span{text: fmt.Sprintf(": %s idle of %s, %s waiting", unit.Format(unit.Nanosecond, float64(x.Idle)), unit.Format(unit.Nanosecond, float64(x.Duration)), plural(x.Sequences, "sequence"))})})
	}
	for _, n := range append(slices.Clone(t.Notes), d.Notes...) {
		lines = append(lines, pair{key: "note", value: own("%s", words(n))})
	}
	return lines
}

// dividesCommunication begins the names of memos that the table shows as parts of
// communication.
const dividesCommunication = "communication_"

func memoNamed(list []report.Memo, name string) *report.Memo {
	for i := range list {
		if list[i].Name == name && list[i].Mean.Known {
			return &list[i]
		}
	}
	return nil
}

// addStepSizes adds the time of steps by kind and batch size, unless there is one
// size and the parts of the time per token say the same.
func addStepSizes(b *builder, d, all, tokens *report.Decomposition, lead string) {
	if len(d.Tables) == 0 || len(d.Tables) == 1 && tokens != nil && tokens.Total.Known {
		return
	}
	addTerms(b, "steps by kind and batch size", lead, []string{"steps"}, rowsOf(d))
	s := &b.sections[len(b.sections)-1]
	s.lines = append(s.lines, pair{key: "length", value: own("%s", d.Label)})
	if t := &d.Tables[0]; len(t.Entries) == 0 {
		s.lines = append(s.lines, pair{key: "parts", value: own("not recorded")})
	} else if len(t.Entries) == 1 && len(t.Entries[0].Leaves) > 1 {
		s.lines = append(s.lines, pair{key: "parts", value: own("compute, communication and framework overhead are not separable in it")})
	}
	if left := leftOut(d); left != "" {
		s.lines = append(s.lines, pair{key: "left out", value: own("%s", left)})
	}
	if gap := memoNamed(all.Memos, "host_gap"); gap != nil && all.Label == d.Label {
		s.lines = append(s.lines, pair{key: "between", value: own("%s a step lies between steps, %s", unit.Format(gap.Mean.Unit, gap.Mean.V), gap.Mean.Note)})
	}
	for _, n := range d.Notes {
		s.lines = append(s.lines, pair{key: "note", value: own("%s", words(n))})
	}
}

// addStepTimeBy adds the time per token (or the time of steps where there is none) and
// the time of requests, by group and window.
func addStepTimeBy(b *builder, r *report.Run, lead string) {
	if d := ofSteps(&r.Cell, "tpot", ""); d != nil && d.Total.Known {
		addTermsBy(b, r, "TPOT", "tpot", "", lead)
	} else {
		addTermsBy(b, r, "steps", "step", "", lead)
	}
	addTermsBy(b, r, "TPOT of requests", "tpot", "request", lead)
}

// addTermsBy adds the first table of a decomposition by group and window.
func addTermsBy(b *builder, r *report.Run, name, of, by, lead string) {
	addByPlace(b, r, name, lead, addTerms, func(c *report.Cell) *report.Breakdown {
		if d := ofSteps(c, of, by); d != nil && len(d.Tables) > 0 && (by == "" || d.Tells()) {
			return &d.Tables[0]
		}
		return nil
	})
}

// addByPlace adds tables of groups, of windows and of windows of groups, with a row
// for each that table returns one of.
func addByPlace(b *builder, r *report.Run, name, lead string, add func(b *builder, title, lead string, heads []string, rows []termRow), table func(*report.Cell) *report.Breakdown) {
	dims := b.rep.Query.By
	first := func(labels []cell, c *report.Cell) []termRow {
		if t := table(c); t != nil {
			return []termRow{{labels, t}}
		}
		return nil
	}
	var groups, windows, both []termRow
	for i := range r.Groups {
		g := &r.Groups[i]
		var labels []cell
		for _, dim := range dims {
			labels = append(labels, label(g.By[dim]))
		}
		groups = append(groups, first(labels, &g.Cell)...)
		for j := range g.Windows {
			w := &g.Windows[j]
			both = append(both, first(append(slices.Clone(labels), windowCell(b, r, w)), &w.Cell)...)
		}
	}
	for i := range r.Windows {
		w := &r.Windows[i]
		windows = append(windows, first([]cell{windowCell(b, r, w)}, &w.Cell)...)
	}
	add(b, name+" by "+strings.Join(dims, ", "), lead, dims, groups)
	add(b, name+" in windows of "+unit.FormatDuration(b.rep.Query.Window), lead, []string{"from"}, windows)
	add(b, name+" in windows by "+strings.Join(dims, ", "), lead, append(slices.Clone(dims), "from"), both)
}

// termRow is a row of a table of terms.
type termRow struct {
	labels []cell
	table  *report.Breakdown
}

// rowsOf returns the tables of a decomposition as rows named by their cohorts.
func rowsOf(d *report.Decomposition) []termRow {
	rows := make([]termRow, len(d.Tables))
	for i := range rows {
		name := d.Tables[i].Cohort
		if name == "" {
			name = "all"
		}
		rows[i] = termRow{[]cell{{text: name, code: true}}, &d.Tables[i]}
	}
	return rows
}

// addTerms adds a table with a row per table: its total, the terms of the formula and
// the residual.
func addTerms(b *builder, title, lead string, heads []string, rows []termRow) {
	if len(rows) == 0 {
		return
	}
	g := &grid{align: strings.Repeat("l", len(heads))}
	for _, head := range append(slices.Clone(heads), "n") {
		g.head = append(g.head, text(head))
	}
	most := rows[0].table.Total
	for _, row := range rows {
		g.rows = append(g.rows, append(slices.Clone(row.labels), text(strconv.FormatInt(row.table.N, 10))))
		if row.table.Total.V > most.V {
			most = row.table.Total
		}
	}
	scale := partScale(most)
	column := func(head string, of func(*report.Breakdown) string) {
		cells, some := make([]string, len(rows)), false
		for i, row := range rows {
			cells[i] = of(row.table)
			some = some || cells[i] != "—"
		}
		if !some {
			return
		}
		g.head = append(g.head, text(head))
		for i := range rows {
			g.rows[i] = append(g.rows[i], text(cells[i]))
		}
	}
	column("mean", func(t *report.Breakdown) string { return plainValue(scale, t.Total) })
	before := len(g.head)
	for i, head := range []string{"compute", "comm", "sched", "overhead"} {
		column(head, func(t *report.Breakdown) string { return termCell(scale, t, i) })
	}
	if len(g.head) > before {
		column("residual", func(t *report.Breakdown) string { return plainValue(scale, t.Residual.Mean) })
	}
	b.sections = append(b.sections, section{title: title, lead: nextTo(lead, "in "+scale.Symbol), grid: g})
}

func plainValue(s unit.Scale, v report.Value) string { return fixed(s, pointer(v)).text }

// termCell prints term i of a table: its mean, or what it is at most where that is
// less than all.
func termCell(s unit.Scale, t *report.Breakdown, i int) string {
	if i >= len(t.Terms) {
		return "—"
	}
	switch x := &t.Terms[i]; {
	case x.Mean.Known:
		return plainValue(s, x.Mean)
	case !x.High.Known || x.High.V >= t.Total.V:
		return "—"
	default:
		return "≤" + plainValue(s, x.High)
	}
}
