package assemble

import (
	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/all"
	"servescope/analyzer/kernel/request"
	"servescope/analyzer/metric"
	"servescope/analyzer/query"
	"servescope/analyzer/report"
)

// Figures lists the metrics and kernels of a report under one definition set.
type Figures struct {
	Definition    report.Definition
	Kernels       []kernel.Kernel
	Metric        request.RowMetric
	Distributions map[string]report.Metric // every one, null
	rates         []string
}

// FiguresOf returns the figures of a definition set; "" is the default.
func FiguresOf(name string) (*Figures, error) {
	d, err := metric.LookupDefinition(name)
	if err != nil {
		return nil, &query.Error{Flag: "--definition", Msg: err.Error()}
	}
	e := &Figures{Definition: d.Describe(), Kernels: all.All(d), Metric: request.Column(d), Distributions: make(map[string]report.Metric)}
	for _, m := range metric.All() {
		if m.Kind == metric.PerRun {
			e.rates = append(e.rates, m.Name)
		} else {
			e.Distributions[m.Name] = d.Null(m, "")
		}
	}
	return e, nil
}

// someOf returns some distributions of a definition set alone, which complete no cell;
// see all.Some.
func someOf(name string, names map[string]bool) (*Figures, error) {
	d, err := metric.LookupDefinition(name)
	if err != nil {
		return nil, err
	}
	return &Figures{Kernels: all.Some(d, names), Metric: request.Column(d)}, nil
}

// complete adds what no kernel has filled, as null for the given reason: no
// metric is ever left out.
func (e *Figures) complete(c *report.Cell, reason string) {
	if c.Metrics == nil {
		c.Metrics = make(map[string]report.Metric)
	}
	for name, m := range e.Distributions {
		if _, ok := c.Metrics[name]; !ok {
			m.Reason = reason
			c.Metrics[name] = m
		}
	}
	if c.Throughput.Values == nil {
		c.Throughput.Values = make(map[string]report.Value)
	}
	for _, name := range e.rates {
		if _, ok := c.Throughput.Values[name]; !ok {
			c.Throughput.Values[name] = report.Null(reason)
		}
	}
	for _, v := range []*report.Value{
		&c.Throughput.From, &c.Throughput.To, &c.Throughput.Window,
		&c.Throughput.Tokens.Output, &c.Throughput.Tokens.OutputOK, &c.Throughput.Tokens.Prompt, &c.Throughput.Tokens.PromptOK,
		&c.Concurrency.Mean, &c.Concurrency.Max, &c.Concurrency.SteadyFrom, &c.Concurrency.SteadyTo,
	} {
		if !v.Known && v.Reason == "" {
			*v = report.Null(reason)
		}
	}
}
