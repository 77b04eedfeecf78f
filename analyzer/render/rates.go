package render

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"servescope/analyzer/report"
	"servescope/analyzer/unit"
)

// rates adds throughput, with the interval it is over, and concurrency. What has
// no value is named below.
func (b *builder) rates(r *report.Run) {
	t := &r.Throughput
	s := section{title: "throughput"}
	if t.Window.Known {
		s.lead = b.over(r)
	}
	var show []string
	var missing byReason
	for _, name := range inOrder(sortedKeys(t.Values)) {
		if elsewhere(r, name) {
			continue
		}
		if _, ok := t.Values[name].Float(); ok {
			show = append(show, name)
		} else if why := t.Values[name].Reason; !unmentioned(name, why) {
			missing.add(why, name)
		}
	}
	half := (len(show) + 1) / 2
	for i := range half {
		if s.grid == nil {
			s.grid = &grid{align: "lrlr"}
		}
		row := b.rate(show[i], t.Values[show[i]])
		if i+half < len(show) {
			row = append(row, b.rate("  "+show[i+half], t.Values[show[i+half]])...)
		}
		s.grid.rows = append(s.grid.rows, row)
	}
	if c := &r.Concurrency; c.Mean.Known || c.Max.Known {
		s.lines = append(s.lines, pair{key: "concurrency", value: own("%s", b.concurrency(r))})
	} else {
		missing.add(c.Mean.Reason, "concurrency")
	}
	if l := r.Concurrency.Little; l != nil && l.Difference.Known {
		s.lines = append(s.lines, pair{key: "Little's law", value: own("%s", b.little(l))})
	}
	if r.Untrimmed != nil {
		s.lines = append(s.lines, pair{key: "before the trim", value: own("%s", inShort(r.Untrimmed, true))})
	}
	if r.Steady != nil {
		s.lines = append(s.lines, pair{key: "steady window", value: own("%s", inShort(r.Steady, false))})
	}
	s.lines = append(s.lines, missing.lines()...)
	b.sections = append(b.sections, s)
}

func (b *builder) rate(name string, v report.Value) []cell {
	return []cell{text(name), b.valueCell(v)}
}

// over says which interval the rates are over.
func (b *builder) over(r *report.Run) string {
	t := &r.Throughput
	s := "over " + unit.Format(t.Window.Unit, t.Window.V)
	if wall(r.Clock) && t.From.Known && t.To.Known {
		from, to := stamp(t.From), stamp(t.To)
		end := "15:04:05"
		if day(from) != day(to) {
			end = dated
		}
		s += fmt.Sprintf(", %s to %s UTC", from.Format(dated), to.Format(end))
	}
	return s
}

// concurrency says how many requests were under way, and when it was steady.
func (b *builder) concurrency(r *report.Run) string {
	c := &r.Concurrency
	s := fmt.Sprintf("mean %s, max %s", b.value(c.Mean), b.value(c.Max))
	from := r.Throughput.From
	q := &b.rep.Query
	if q.From != "" || q.To != "" || q.Trim != "" {
		return s // the steady window is one of the whole run
	}
	if c.SteadyFrom.Known && c.SteadyTo.Known && from.Known {
		s += fmt.Sprintf("; steady from %s to %s", offset(c.SteadyFrom, from), offset(c.SteadyTo, from))
	} else if !c.SteadyFrom.Known && c.SteadyFrom.Reason != "" {
		s += "; no steady window: " + reason(c.SteadyFrom.Reason)
	}
	return s
}

// little says both sides of Little's law.
func (b *builder) little(l *report.Little) string {
	return fmt.Sprintf("%s × %s = %s; counted over time %s", b.value(l.Rate), b.value(l.Residence), b.value(l.Product), b.value(l.InFlight))
}

// inShort says what the figures of another part of the time are; of the whole, when
// it was steady.
func inShort(c *report.Cell, whole bool) string {
	parts := []string{plural(c.Requests.Total, "request")}
	add := func(name string, v report.Value) {
		if v.Known {
			parts = append(parts, name+" "+unit.Format(v.Unit, v.V))
		}
	}
	add("over", c.Throughput.Window)
	for _, name := range []string{"ttft", "tpot"} {
		if m := c.Metrics[name]; m.N > 0 {
			parts = append(parts, "mean "+name+" "+unit.Format(m.Unit, m.Mean))
		}
	}
	for _, name := range []string{"request_rate", "tps"} {
		add(name, c.Throughput.Values[name])
	}
	add("mean concurrency", c.Concurrency.Mean)
	from := c.Throughput.From
	if x := &c.Concurrency; whole && x.SteadyFrom.Known && x.SteadyTo.Known && from.Known {
		parts = append(parts, fmt.Sprintf("steady from %s to %s", offset(x.SteadyFrom, from), offset(x.SteadyTo, from)))
	}
	return strings.Join(parts, ", ")
}

// unsteady says why a run has no steady window where only that was asked for.
func (b *builder) unsteady(r *report.Run) string {
	if b.rep.Query.Trim != "steady" || r.Untrimmed == nil || r.Untrimmed.Concurrency.SteadyFrom.Known || r.Requests.Total > 0 {
		return ""
	}
	return "; no steady window: " + reason(r.Untrimmed.Concurrency.SteadyFrom.Reason)
}

// offset prints a stamp relative to another.
func offset(v, origin report.Value) string {
	d := v.V - origin.V
	if v.Whole && origin.Whole {
		d = float64(v.Int - origin.Int)
	}
	return "+" + unit.Format(unit.Nanosecond, d)
}

// dated is the layout of a stamp with its date.
const dated = "2006-01-02 15:04:05"

// day returns the start of the day of t in UTC.
func day(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }

func wall(clock string) bool {
	kind, _, _ := strings.Cut(clock, "/")
	return kind == "wall"
}

// stamp returns a wall-clock value as a time in UTC.
func stamp(v report.Value) time.Time {
	if v.Whole {
		return time.Unix(0, v.Int).UTC()
	}
	return time.Unix(0, int64(v.V)).UTC()
}

// where is one row of a compact table: its labels and its cell.
type where struct {
	labels []cell
	cell   *report.Cell
	side   string // of the run, in a table of runs
}

// groups adds the groups of a run and, by group, their windows.
func (b *builder) groups(r *report.Run, lead string) {
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
			windows = append(windows, where{labels: append(slices.Clone(labels), b.window(r, w)), cell: &w.Cell})
		}
	}
	by, heads := "by "+strings.Join(b.rep.Query.By, ", "), append(slices.Clone(b.rep.Query.By), "window")
	b.compact(by, lead, b.rep.Query.By, rows)
	b.stagesBy(r, by, lead, b.rep.Query.By, rows)
	b.compact("windows "+by, lead, heads, windows)
	if len(windows) > 0 {
		b.stagesBy(r, "windows "+by, lead, heads, windows)
	}
}

// windows adds the windows of a run.
func (b *builder) windows(r *report.Run, lead string) {
	var rows []where
	for i := range r.Windows {
		w := &r.Windows[i]
		rows = append(rows, where{labels: []cell{b.window(r, w)}, cell: &w.Cell})
	}
	of := "windows of " + unit.FormatDuration(b.rep.Query.Window)
	b.compact(of, lead, []string{"from"}, rows)
	if len(rows) > 0 {
		b.stagesBy(r, of, lead, []string{"from"}, rows)
		b.change(r, lead)
	}
}

// window names a window by its start: the time of day, with the date where the
// windows are of several days, or the time since the start of the first window.
func (b *builder) window(r *report.Run, w *report.Window) cell {
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

// label is a name that a file gave; an empty one was not recorded.
func label(s string) cell {
	if s == "" {
		return text("(not recorded)")
	}
	return cell{text: s, code: true}
}
