package render

import (
	"fmt"
	"strings"

	"servescope/analyzer/report"
	"servescope/analyzer/unit"
)

// addAudit says how many of the producer's figures the requests reproduce, and lists the
// figures that differ. Beside other runs (lead names the run) it says nothing about a run
// whose figures all agree.
func addAudit(b *builder, r *report.Run, lead string) {
	a := r.Audit
	if a == nil || lead != "" && len(a.Findings) == 0 && a.Equal == 0 {
		return
	}
	if a.Unchecked == a.Figures && a.Checks == 0 && len(a.Findings) == 0 {
		return // nothing could be compared
	}
	s := section{title: "audit", lead: lead}
	if a.Figures > 0 {
		s.lines = append(s.lines, pair{key: plural(a.Figures, "figure"), value: own("%s", compared(r))})
	}
	if a.Checks > 0 {
		held := "all hold"
		switch {
		case a.Checks == 1 && a.Broken == 0:
			held = "holds"
		case a.Checks == 1:
			held = "does not hold"
		case a.Broken == a.Checks:
			held = "none holds"
		case a.Broken > 0:
			held = fmt.Sprintf("%d hold, %s", a.Checks-a.Broken, "1 does not")
			if a.Broken > 1 {
				held = fmt.Sprintf("%d hold, %d do not", a.Checks-a.Broken, a.Broken)
			}
		}
		s.lines = append(s.lines, pair{key: plural(a.Checks, "relation"), value: own("%s", held)})
	}
	g := &grid{align: "ll", head: []cell{text("finding"), text("of"), text("theirs"), text("expected"), text("factor")}}
	for i := range a.Findings {
		g.rows = append(g.rows, findingCells(b, &a.Findings[i]))
	}
	if len(g.rows) > 0 {
		s.grid = g
	}
	if s.grid != nil || len(s.lines) > 0 {
		b.sections = append(b.sections, s)
	}
}

// compared says what came of the comparison with the requests.
func compared(r *report.Run) string {
	a := r.Audit
	if a.Unchecked == a.Figures && r.Requests.Total == 0 && r.Requests.Filtered == 0 {
		if a.Figures == 1 {
			return "there are no requests to check it with"
		}
		return "there are no requests to check them with"
	}
	var parts []string
	for _, p := range []struct {
		n    int64
		what string
	}{{a.Equal, "equal"}, {a.Explained, "explained"}, {a.Differs, "differ"}, {a.Unchecked, "without a counterpart"}} {
		if p.n == 1 && p.what == "differ" {
			p.what = "differs"
		}
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	if a.Definition != "" {
		parts[0] += " under " + a.Definition
	}
	return strings.Join(parts, ", ")
}

// findingCells returns the row of one finding; a footnote holds its words.
func findingCells(b *builder, f *report.Finding) []cell {
	kind := f.Kind
	if f.Cause != "" {
		kind = f.Cause
	}
	note := f.Note
	if f.More > 0 {
		note += fmt.Sprintf("; the same goes for %s of the distribution", plural(f.More, "more figure"))
	}
	row := []cell{{text: kind, note: b.note(note)}, {text: f.Key, code: true}, text("—"), text(""), text("")}
	if f.Value.Known {
		row[2] = text(unit.Format(f.Unit, f.Value.V))
	}
	if f.Count > 0 {
		row[2].text += fmt.Sprintf(" in %d", f.Count)
	}
	if f.Expected.Known {
		row[3] = text(unit.Format(f.Unit, f.Expected.V))
	}
	if f.Factor.Known {
		row[4] = text(fmt.Sprintf("%.4g", f.Factor.V))
	}
	return row
}
