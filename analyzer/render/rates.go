package render

import (
	"fmt"
	"strings"
	"time"

	"servescope/analyzer/report"
	"servescope/analyzer/unit"
)

// addRates adds throughput, with the interval it is over, and concurrency. What has
// no value is named below.
func addRates(b *builder, r *report.Run) {
	t := &r.Throughput
	s := section{title: "throughput"}
	if t.Window.Known {
		s.lead = overText(b, r)
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
		row := rateCells(b, show[i], t.Values[show[i]])
		if i+half < len(show) {
			row = append(row, rateCells(b, "  "+show[i+half], t.Values[show[i+half]])...)
		}
		s.grid.rows = append(s.grid.rows, row)
	}
	if c := &r.Concurrency; c.Mean.Known || c.Max.Known {
		s.lines = append(s.lines, pair{key: "concurrency", value: own("%s", concurrencyText(b, r))})
	} else {
		missing.add(c.Mean.Reason, "concurrency")
	}
	if l := r.Concurrency.Little; l != nil && l.Difference.Known {
		s.lines = append(s.lines, pair{key: "Little's law", value: own("%s", littleText(b, l))})
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

func rateCells(b *builder, name string, v report.Value) []cell {
	return []cell{text(name), b.valueCell(v)}
}

// overText says which interval the rates are over.
func overText(b *builder, r *report.Run) string {
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

// concurrencyText says how many requests were under way, and when it was steady.
func concurrencyText(b *builder, r *report.Run) string {
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

// littleText says both sides of Little's law.
func littleText(b *builder, l *report.Little) string {
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

// unsteadyText says why a run has no steady window where only that was asked for.
func unsteadyText(b *builder, r *report.Run) string {
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
