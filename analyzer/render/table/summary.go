package table

import (
	"encoding/json"

	"servescope/analyzer/report"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
)

// Columns of the summary table.
const (
	summaryRun trace.Col = iota
	summaryScope
	summaryGroup
	summaryFrom
	summaryTo
	summaryMetric
	summaryStat
	summaryValue
	summaryInt
	summaryUnit
	summaryN
	summaryReason
	summaryNote
)

var summary = &trace.Table{Name: "summary", Fields: []trace.Field{
	summaryRun:    {Name: "run", Type: trace.Dict, Doc: "label of the run"},
	summaryScope:  {Name: "scope", Type: trace.Dict, Doc: "what the figure is about: run, window, group or group_window"},
	summaryGroup:  {Name: "group", Type: trace.Dict, Doc: "JSON object of the group's dimensions; null outside groups"},
	summaryFrom:   {Name: "window_from_ns", Type: trace.Int64, Unit: unit.Nanosecond, Stamp: true, Doc: "start of the window on the run's clock"},
	summaryTo:     {Name: "window_to_ns", Type: trace.Int64, Unit: unit.Nanosecond, Stamp: true, Doc: "end of the window, exclusive"},
	summaryMetric: {Name: "metric", Type: trace.Dict, Doc: "metric or rate"},
	summaryStat:   {Name: "stat", Type: trace.Dict, Doc: "statistic, rank of a quantile, or status"},
	summaryValue:  {Name: "value", Type: trace.Float64, Doc: "the figure in its unit; null with a reason"},
	summaryInt:    {Name: "value_int", Type: trace.Int64, Doc: "the same, exactly, where it is a whole number by nature: counts, stamps"},
	summaryUnit:   {Name: "unit", Type: trace.Dict, Doc: "base unit of the figure"},
	summaryN:      {Name: "n", Type: trace.Int64, Doc: "values that a statistic is over; null for other figures"},
	summaryReason: {Name: "reason", Type: trace.Dict, Doc: "why the value is null"},
	summaryNote:   {Name: "note", Type: trace.Dict, Doc: "caveat"},
}}

// Summary returns the figures of a report, those of its CSV, as a batch of the
// summary table for Summaries.
func Summary(r *report.Report) *trace.Batch {
	b := trace.NewBuilder(summary)
	text := func(c trace.Col, s string) {
		if s != "" {
			b.Dict(c, []byte(s))
		}
	}
	for row := range r.Tidy() {
		text(summaryRun, row.Run)
		text(summaryScope, row.Scope)
		if row.Group != nil {
			group, _ := json.Marshal(row.Group) // texts cannot fail
			b.Dict(summaryGroup, group)
		}
		if row.Window != nil {
			b.Int(summaryFrom, row.Window.From)
			b.Int(summaryTo, row.Window.To)
		}
		text(summaryMetric, row.Metric)
		text(summaryStat, row.Stat)
		if v, ok := row.Value.Float(); ok {
			b.Float(summaryValue, v)
			if row.Value.Whole {
				b.Int(summaryInt, row.Value.Int)
			}
		}
		text(summaryUnit, string(row.Value.Unit))
		if row.N >= 0 {
			b.Int(summaryN, row.N)
		}
		text(summaryReason, row.Value.Reason)
		text(summaryNote, row.Value.Note)
		b.EndRow()
	}
	return b.Take(nil, "")
}
