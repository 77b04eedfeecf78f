// Package metric says what every number means: the registry of metrics with
// their formulas, and the sets of definitions under which tools compute them.
// It computes nothing; package kernel does.
package metric

import (
	"strings"

	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
)

// Better says which direction of a metric is an improvement.
type Better uint8

// The directions.
const (
	Neither Better = iota
	Lower
	Higher
)

var betterNames = [...]string{"neither", "lower", "higher"}

// String returns the direction's name.
func (b Better) String() string { return betterNames[b] }

// Kind says what a metric has one value per.
type Kind uint8

// The kinds.
const (
	PerRequest Kind = iota // a distribution over requests
	Pooled                 // a distribution over the gaps, chunks or tokens of all requests
	PerRun                 // one number over an interval of time
)

// Metric is one metric. Its name is the key in reports: lower case with
// underscores. Lookup also takes the dotted form ("ttft.client").
type Metric struct {
	Name    string
	Title   string    // one line for people
	Kind    Kind      // a metric of both kinds (tps_decode) has the kind of its distribution
	Formula string    // under the default definition; see Definition.Formula
	Unit    unit.Unit // base unit of its values
	Better  Better
	Inputs  []trace.Col // columns of the requests table that it needs
	Reasons []Reason    // why it may be null, beside the status of the request
	Doc     string      // what else a reader must know
	Source  string      // where the definition comes from

	Occasional bool // of some workloads only: where nothing is recorded, text does not mention it
}

// All returns every metric, in the order of reports. The slice is shared: treat
// it as read-only.
func All() []*Metric { return all }

// Distributions returns the metrics that have a value per request, gap or
// token: those of a report's "metrics".
func Distributions() []*Metric {
	var list []*Metric
	for _, m := range all {
		if m.Kind != PerRun {
			list = append(list, m)
		}
	}
	return list
}

// aliases are other spellings of names.
var aliases = map[string]string{
	"ttft_from_schedule": "ttft_client_from_schedule",
	"ttfa":               "ttfot",
	"itl":                "chunk_gap",
	"concurrency":        "concurrency_mean",
	"tps_decode_request": "tps_decode",
}

// Lookup returns the metric of the given name, written with underscores or
// dots.
func Lookup(name string) (*Metric, bool) {
	name = strings.ReplaceAll(name, ".", "_")
	if other, ok := aliases[name]; ok {
		name = other
	}
	for _, m := range all {
		if m.Name == name {
			return m, true
		}
	}
	return nil, false
}

var all = concat(latencies, lengths, speeds, rates)

func concat(lists ...[]*Metric) []*Metric {
	var out []*Metric
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}
