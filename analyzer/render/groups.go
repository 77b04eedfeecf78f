package render

import (
	"servescope/analyzer/report"
	"servescope/analyzer/unit"
	"slices"
	"strings"
	"time"
)

// addGroups adds the groups of a run and, by group, their windows.
func addGroups(b *builder, r *report.Run, lead string) {
	if len(r.Groups) == 0 {
		return
	}
	var rows, windows []where
	for i := range r.Groups {
		g := &r.Groups[i]
		var labels []cell
		for _, dim := range b.rep.Query.By {
			labels = append(labels, label(g.By[dim]))
		}
		rows = append(rows, where{labels: labels, cell: &g.Cell})
		for j := range g.Windows {
			w := &g.Windows[j]
			windows = append(windows, where{labels: append(slices.Clone(labels), windowCell(b, r, w)), cell: &w.Cell})
		}
	}
	by, heads := "by "+strings.Join(b.rep.Query.By, ", "), append(slices.Clone(b.rep.Query.By), "window")
	addCompact(b, by, lead, b.rep.Query.By, rows)
	addStagesBy(b, r, by, lead, b.rep.Query.By, rows)
	addCompact(b, "windows "+by, lead, heads, windows)
	if len(windows) > 0 {
		addStagesBy(b, r, "windows "+by, lead, heads, windows)
	}
}

// addWindows adds the windows of a run.
func addWindows(b *builder, r *report.Run, lead string) {
	var rows []where
	for i := range r.Windows {
		w := &r.Windows[i]
		rows = append(rows, where{labels: []cell{windowCell(b, r, w)}, cell: &w.Cell})
	}
	of := "windows of " + unit.FormatDuration(b.rep.Query.Window)
	addCompact(b, of, lead, []string{"from"}, rows)
	if len(rows) > 0 {
		addStagesBy(b, r, of, lead, []string{"from"}, rows)
		addChange(b, r, lead)
	}
}

// windowCell names a window by its start: the time of day, with the date where the
// windows span several days, or the time since the start of the first window.
func windowCell(b *builder, r *report.Run, w *report.Window) cell {
	if wall(r.Clock) {
		layout := "15:04:05"
		if n := len(r.Windows); n > 0 && day(time.Unix(0, r.Windows[0].From)) != day(time.Unix(0, r.Windows[n-1].From)) {
			layout = dated
		}
		if b.rep.Query.Window%1e9 != 0 {
			layout += ".000"
		}
		return text(time.Unix(0, w.From).UTC().Format(layout))
	}
	if len(r.Windows) > 0 {
		return text("+" + unit.FormatDuration(w.From-r.Windows[0].From))
	}
	return text(unit.FormatDuration(w.From))
}
