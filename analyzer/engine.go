package analyzer

import (
	"servescope/analyzer/kernel"
	"servescope/analyzer/query"
	"servescope/analyzer/report"
)

// engine is what computes figures under one definition set.
type engine struct {
	name       string
	definition report.Definition
	kernels    []kernel.Kernel
	metric     query.MetricColumn
	metrics    map[string]report.Metric // every metric, null
}

// engineFor returns the engine of a definition set; "" is the default.
func engineFor(name string) (*engine, error) {
	return &engine{name: name}, nil
}

// describe returns the definitions of the report.
func (e *engine) describe() report.Definition { return e.definition }

// complete adds the metrics that no kernel has filled, as null: none is ever
// left out.
func (e *engine) complete(c *report.Cell, reason string) {
	for name, m := range e.metrics {
		if _, ok := c.Metrics[name]; ok {
			continue
		}
		if c.Metrics == nil {
			c.Metrics = make(map[string]report.Metric)
		}
		m.Reason = reason
		c.Metrics[name] = m
	}
	for _, v := range []*report.Value{
		&c.Throughput.From, &c.Throughput.To, &c.Throughput.Window,
		&c.Concurrency.Mean, &c.Concurrency.Max, &c.Concurrency.SteadyFrom, &c.Concurrency.SteadyTo,
	} {
		if !v.Known && v.Reason == "" {
			*v = report.Null(reason)
		}
	}
}
