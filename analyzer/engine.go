package analyzer

import (
	"servescope/analyzer/kernel"
	"servescope/analyzer/metric"
	"servescope/analyzer/query"
	"servescope/analyzer/report"
)

// engine is what computes figures under one definition set.
type engine struct {
	definition    report.Definition
	kernels       []kernel.Kernel
	metric        kernel.RowMetric
	distributions map[string]report.Metric // every one, null
	rates         []string
}

// engineFor returns the engine of a definition set; "" is the default.
func engineFor(name string) (*engine, error) {
	d, err := metric.LookupDefinition(name)
	if err != nil {
		return nil, &query.Error{Flag: "--definition", Msg: err.Error()}
	}
	e := &engine{definition: d.Describe(), kernels: kernel.All(d), metric: kernel.Column(d), distributions: make(map[string]report.Metric)}
	for _, m := range metric.All() {
		if m.Kind == metric.PerRun {
			e.rates = append(e.rates, m.Name)
		} else {
			e.distributions[m.Name] = d.Null(m, "")
		}
	}
	return e, nil
}

// someOf returns an engine of a definition set for some distributions alone, which
// completes no cell; see kernel.Some.
func someOf(name string, names map[string]bool) (*engine, error) {
	d, err := metric.LookupDefinition(name)
	if err != nil {
		return nil, err
	}
	return &engine{kernels: kernel.Some(d, names), metric: kernel.Column(d)}, nil
}

// complete adds what no kernel has filled, as null for the given reason: no
// metric is ever left out.
func (e *engine) complete(c *report.Cell, reason string) {
	if c.Metrics == nil {
		c.Metrics = make(map[string]report.Metric)
	}
	for name, m := range e.distributions {
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
