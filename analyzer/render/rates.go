package render

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"servescope/analyzer/report"
	"servescope/analyzer/unit"
)

// rates adds throughput, with the interval it is over, and concurrency. Rates
// without a value are named below the others.
func (b *builder) rates(r *report.Run) {
	t := &r.Throughput
	s := section{title: "throughput", lead: b.over(r)}
	s.lines = append(s.lines, pair{key: "concurrency", value: own("%s", b.concurrency(r))})
	var show, reasons []string
	missing := map[string][]string{}
	for _, name := range inOrder(sortedKeys(t.Values)) {
		v := t.Values[name]
		if _, ok := v.Float(); ok {
			show = append(show, name)
			continue
		}
		if missing[v.Reason] == nil {
			reasons = append(reasons, v.Reason)
		}
		missing[v.Reason] = append(missing[v.Reason], name)
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
	for _, code := range reasons {
		s.lines = append(s.lines, pair{key: reason(code), value: own("%s", strings.Join(missing[code], ", "))})
	}
	b.sections = append(b.sections, s)
}

func (b *builder) rate(name string, v report.Value) []cell {
	return []cell{text(name), b.valueCell(v)}
}

// over says which interval the rates are over.
func (b *builder) over(r *report.Run) string {
	t := &r.Throughput
	if !t.Window.Known {
		return "over " + b.value(t.Window)
	}
	s := "over " + unit.Format(t.Window.Unit, t.Window.V)
	if wall(r.Clock) && t.From.Known && t.To.Known {
		from, to := stamp(t.From), stamp(t.To)
		s += fmt.Sprintf(", %s to %s UTC", from.Format("2006-01-02 15:04:05"), to.Format("15:04:05"))
	}
	return s
}

// concurrency says how many requests were under way, and when it was steady.
func (b *builder) concurrency(r *report.Run) string {
	c := &r.Concurrency
	s := fmt.Sprintf("mean %s, max %s", b.value(c.Mean), b.value(c.Max))
	from := r.Throughput.From
	if c.SteadyFrom.Known && c.SteadyTo.Known && from.Known {
		s += fmt.Sprintf("; steady from %s to %s", offset(c.SteadyFrom, from), offset(c.SteadyTo, from))
	} else if !c.SteadyFrom.Known && c.SteadyFrom.Reason != "" {
		s += "; no steady window: " + reason(c.SteadyFrom.Reason)
	}
	return s
}

// offset prints a stamp relative to another.
func offset(v, origin report.Value) string {
	d := v.V - origin.V
	if v.Whole && origin.Whole {
		d = float64(v.Int - origin.Int)
	}
	return "+" + unit.Format(unit.Nanosecond, d)
}

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

// reported adds the producer's own figures beside ours, and how far apart they
// are. Figures without a counterpart are only counted; beside other runs (lead
// names the run), so are equal ones.
func (b *builder) reported(r *report.Run, lead string) {
	g := &grid{align: "l", head: []cell{text("reported by the producer"), text("theirs"), text("ours"), text("difference")}}
	var rest, equal int64
	for _, f := range r.Reported {
		if f.Metric == "" && !f.Ours.Known {
			rest++
			continue
		}
		if lead != "" && f.Ours.Known && difference(f.Value, f.Ours.V) == same {
			equal++
			continue
		}
		c := cell{text: f.Key, code: true}
		if f.Note != "" {
			c.note = b.note(f.Note)
		}
		row := []cell{c, text(unit.Format(f.Unit, f.Value)), b.valueCell(f.Ours), text("")}
		if f.Ours.Known {
			row[3] = text(difference(f.Value, f.Ours.V))
		}
		g.rows = append(g.rows, row)
	}
	s := section{title: "reported", lead: lead, grid: g}
	if len(g.rows) == 0 {
		s.grid = nil
	}
	if equal > 0 {
		s.lines = append(s.lines, pair{key: same, value: own("%s", plural(equal, "figure"))})
	}
	if rest > 0 {
		s.lines = append(s.lines, pair{key: "no counterpart", value: own("%s; JSON output lists them", plural(rest, "figure"))})
	}
	if len(r.Reported) > 0 {
		b.sections = append(b.sections, s)
	}
}

// same is the word for figures that agree to 1e-6 relative.
const same = "equal"

// difference says how far theirs is from ours.
func difference(theirs, ours float64) string {
	switch d := theirs - ours; {
	case math.Abs(d) <= 1e-6*math.Abs(ours):
		return same
	case ours == 0:
		return "differs"
	default:
		return fmt.Sprintf("%+.3g %%", d/math.Abs(ours)*100)
	}
}

// where is one row of a compact table: its labels and its cell.
type where struct {
	labels []cell
	cell   *report.Cell
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
		rows = append(rows, where{labels, &g.Cell})
		for j := range g.Windows {
			w := &g.Windows[j]
			windows = append(windows, where{append(slices.Clone(labels), b.window(r, w)), &w.Cell})
		}
	}
	b.compact("by "+strings.Join(b.rep.Query.By, ", "), lead, b.rep.Query.By, rows)
	b.compact("windows by "+strings.Join(b.rep.Query.By, ", "), lead, append(slices.Clone(b.rep.Query.By), "window"), windows)
}

// windows adds the windows of a run.
func (b *builder) windows(r *report.Run, lead string) {
	var rows []where
	for i := range r.Windows {
		w := &r.Windows[i]
		rows = append(rows, where{[]cell{b.window(r, w)}, &w.Cell})
	}
	b.compact("windows of "+unit.FormatDuration(b.rep.Query.Window), lead, []string{"from"}, rows)
}

// window names a window by its start: the time of day, or since the start of
// the run.
func (b *builder) window(r *report.Run, w *report.Window) cell {
	if wall(r.Clock) {
		layout := "15:04:05"
		if b.rep.Query.Window%1e9 != 0 {
			layout = "15:04:05.000"
		}
		return text(time.Unix(0, w.From).UTC().Format(layout))
	}
	from := r.Throughput.From
	if from.Whole {
		return text("+" + unit.FormatDuration(w.From-from.Int))
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
