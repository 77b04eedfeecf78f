// Package query describes what a user asks of the runs at hand: which requests,
// which window of time, grouped by what, under whose definitions. It parses the
// texts of the command line; the page and the worker use the same syntax.
package query

// Query is one question. The zero value asks for everything, ungrouped.
type Query struct {
	Filter     *Filter   // nil: all requests
	From, To   *Instant  // nil: the run's ends; a request belongs to the interval by its send or arrival
	Window     int64     // length of a time window in ns; 0: none
	By         []string  // names of dimensions, see Dimensions
	Trim       Trim      // removes the edges of a run
	SLO        []Limit   // all must be met
	Definition string    // name of a definition set; empty: default
	Ranks      []float64 // quantiles in (0,1); empty: DefaultRanks
	Replicas   int64     // number of replicas where the log cannot tell; 0: count them
}

// DefaultRanks are the quantiles of a report.
var DefaultRanks = []float64{0.5, 0.9, 0.95, 0.99, 0.999}

// Instant is a point in time: absolute (ns since the Unix epoch), or relative
// to the start of the run.
type Instant struct {
	NS       int64
	Relative bool
}

// Trim removes the edges of a run.
type Trim struct {
	Steady bool  // keep the steady window only
	Warmup int64 // drop requests sent in the first so many ns of the run
	Count  int64 // drop the first so many requests of the run
}

// Limit is one condition of a service-level objective: Metric at most Max ns.
type Limit struct {
	Metric string // ttft, ttft.client, tpot, e2e, …
	Max    int64
}

// Filter is a parsed --filter expression over request columns.
type Filter struct{ text string }

// String returns the expression as it was written.
func (f *Filter) String() string { return f.text }
