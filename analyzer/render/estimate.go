package render

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"servescope/analyzer/report"
	"servescope/analyzer/unit"
)

// addEstimates adds where the time per output token of a run went as stamps of tokens
// tell: a row per part with its interval, or why nothing can be told.
func addEstimates(b *builder, r *report.Run, lead string) {
	for i := range r.Decompositions {
		if d := &r.Decompositions[i]; d.Estimated() {
			addEstimate(b, d, lead)
		}
	}
	addByPlace(b, r, "TPOT by timestamps", lead, addEstimateRows, func(c *report.Cell) *report.Breakdown {
		for i := range c.Decompositions {
			if d := &c.Decompositions[i]; d.Estimated() && len(d.Tables) > 0 {
				return &d.Tables[0]
			}
		}
		return nil
	})
}

// addEstimateRows adds a table with a row per estimate: its total and the share of each
// part. Where floor and load are one part, their share stands under floor.
func addEstimateRows(b *builder, title, lead string, heads []string, rows []termRow) {
	if len(rows) == 0 {
		return
	}
	g := &grid{align: strings.Repeat("l", len(heads))}
	most := rows[0].table.Total
	for _, row := range rows {
		if row.table.Total.V > most.V {
			most = row.table.Total
		}
	}
	scale := partScale(most)
	for _, head := range append(append([]string(nil), heads...), "tokens", scale.Symbol, "floor", "load", "interf", "stall", "rest") {
		g.head = append(g.head, text(head))
	}
	for _, row := range rows {
		line := append(append([]cell(nil), row.labels...), text(strconv.FormatInt(row.table.N, 10)), text(plainValue(scale, row.table.Total)))
		for _, leaf := range []string{"floor", "load", "interference", "stall"} {
			share := text("—")
			for i := range row.table.Entries {
				switch e := &row.table.Entries[i]; {
				case e.Leaves[0] == leaf:
					share = b.valueCell(e.Share)
				case slices.Contains(e.Leaves, leaf):
					share = text("in floor")
				}
			}
			line = append(line, share)
		}
		g.rows = append(g.rows, append(line, b.valueCell(row.table.Residual.Share)))
	}
	b.sections = append(b.sections, section{title: title, lead: nextTo(lead, report.Estimated+", shares"), grid: g})
}

func addEstimate(b *builder, d *report.Decomposition, lead string) {
	s := section{title: "TPOT by timestamps", lead: lead}
	if len(d.Tables) > 0 {
		t := &d.Tables[0]
		s.lead = nextTo(lead, strings.Join(nonEmpty(with(d.Side, " side"), "mean of "+plural(t.N, "token"), d.Label), ", "))
		s.grid = estimateGrid(b, t)
		s.lines = append(s.lines, besideEstimate(b, t)...)
		if left := leftOut(d); left != "" {
			s.lines = append(s.lines, pair{key: "left out", value: own("%s", left)})
		}
	}
	for _, n := range d.Notes {
		code, _, _ := strings.Cut(n, ": ")
		key := "note"
		if _, refused := d.Excluded[code]; refused || code == d.Total.Reason {
			key = "cannot tell"
		}
		s.lines = append(s.lines, pair{key: key, value: own("%s", words(n))})
	}
	if len(d.Gaps) > 0 {
		var list line
		for i, g := range d.Gaps[:min(len(d.Gaps), shownGaps)] {
			if i > 0 {
				list = append(list, span{text: ", "})
			}
			list = append(list, span{text: unit.Format(unit.Nanosecond, float64(g.Duration))})
			if g.Request != "" {
				list = append(list, span{text: " in "}, span{text: g.Request, code: true})
			}
		}
		s.lines = append(s.lines, pair{key: "longest", value: list})
	}
	b.sections = append(b.sections, s)
}

// shownGaps is how many gaps text shows.
const shownGaps = 5

func estimateGrid(b *builder, t *report.Breakdown) *grid {
	scale := partScale(t.Total)
	g := &grid{align: "l", head: []cell{text("part"), text("mean"), text("share"), text("interval of share")}}
	row := func(name string, mean, share, low, high report.Value) *cell {
		interval := cell{text: "—"}
		if low.Known && high.Known && t.Total.V > 0 {
			interval.text = fmt.Sprintf("%s to %s", unit.Format(unit.Ratio, low.V/t.Total.V), unit.Format(unit.Ratio, high.V/t.Total.V))
		}
		g.rows = append(g.rows, []cell{text(name), fixed(scale, pointer(mean)), b.valueCell(share), interval})
		return &g.rows[len(g.rows)-1][0]
	}
	for i := range t.Entries {
		e := &t.Entries[i]
		name, why := stageName(e.Leaves)
		b.remark(row(name, e.Mean, e.Share, e.Low, e.High), why)
	}
	name := "rest"
	if len(t.Residual.MayContain) > 0 {
		name = "rest (may contain " + strings.Join(t.Residual.MayContain, ", ") + ")"
	}
	row(name, t.Residual.Mean, t.Residual.Share, t.Residual.Low, t.Residual.High)
	row("total", t.Total, report.Known(1, unit.Ratio), report.Value{}, report.Value{})
	g.rows = append([][]cell{{text(""), text(scale.Symbol), text(""), text("")}}, g.rows...)
	return g
}

// besideEstimate says what the rows do not.
func besideEstimate(b *builder, t *report.Breakdown) (lines []pair) {
	var memos []string
	for _, m := range t.Memos {
		memos = append(memos, strings.ReplaceAll(strings.TrimPrefix(m.Name, "load_of_"), "_", " ")+" "+b.value(m.Mean))
	}
	if len(memos) > 0 {
		lines = append(lines, pair{key: "load is of", value: own("%s", strings.Join(memos, ", "))})
	}
	var terms []string
	for i := range t.Terms {
		terms = append(terms, strings.ReplaceAll(t.Terms[i].Name, "_", " "))
	}
	if len(terms) > 0 {
		lines = append(lines, pair{key: reason("not_identifiable"), value: own("%s", strings.Join(terms, ", "))})
	}
	for _, n := range t.Notes {
		code, _, _ := strings.Cut(n, ": ")
		key := "note"
		for _, l := range t.Leaves {
			if l.Reason == code {
				key = "cannot tell " + stage(l.Name)
				break
			}
		}
		if code == "model" {
			key = "model"
		}
		lines = append(lines, pair{key: key, value: own("%s", words(n))})
	}
	return lines
}
