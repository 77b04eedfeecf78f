package cell

import (
	"fmt"
	"slices"
	"strings"

	"servescope/analyzer/kernel/request"
	"servescope/analyzer/report"
	"servescope/analyzer/trace"
)

// SetMetric puts a metric into a cell.
func SetMetric(c *report.Cell, name string, m report.Metric) {
	if c.Metrics == nil {
		c.Metrics = make(map[string]report.Metric)
	}
	c.Metrics[name] = m
}

// SetValue puts a rate into a cell.
func SetValue(c *report.Cell, name string, v report.Value) {
	if c.Throughput.Values == nil {
		c.Throughput.Values = make(map[string]report.Value)
	}
	c.Throughput.Values[name] = v
}

// Joined returns one note of several, of which some are empty.
func Joined(notes ...string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(notes), func(n string) bool { return n == "" }), "; ")
}

// Counted returns a note about n requests, or "" for none; many has their number.
func Counted(n int64, one, many string) string {
	switch n {
	case 0:
		return ""
	case 1:
		return one
	}
	return fmt.Sprintf(many, n)
}

// SideOf returns the figures of a side of a run, creating them in order of the
// sides.
func SideOf(run *report.Run, side trace.Side) *report.Side {
	name := request.SideName(side)
	at := 0
	for _, s := range request.Outermost {
		if at == len(run.Sides) || s == side {
			break
		}
		if run.Sides[at].Side == request.SideName(s) {
			at++
		}
	}
	if at < len(run.Sides) && run.Sides[at].Side == name {
		return &run.Sides[at]
	}
	run.Sides = append(run.Sides, report.Side{})
	copy(run.Sides[at+1:], run.Sides[at:])
	run.Sides[at] = report.Side{Side: name}
	return &run.Sides[at]
}
