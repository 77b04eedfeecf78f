package metric

import (
	"fmt"
	"slices"
	"strings"

	"servescope/analyzer/report"
	"servescope/analyzer/stat"
)

// First is the event at which TTFT ends.
type First uint8

// The ends of TTFT. Where a source lacks the one asked for, the next earlier
// knowledge stands in: it is what that tool would have seen.
const (
	FirstToken  First = iota // first generated token of any kind
	FirstEvent               // first event with choices, a role chunk included
	FirstAnswer              // first chunk with content; reasoning is not seen
)

// Gaps is which list of gaps a tool calls ITL.
type Gaps uint8

// The lists.
const (
	TokenGaps  Gaps = iota // between token-bearing chunks
	EventGaps              // the same, and the gap from the first event to the first token
	AnswerGaps             // between the chunks of the answer
)

// Definition is a set of parameters under which all metrics are computed: ours
// or another tool's, in a named state of it.
type Definition struct {
	Name  string
	Title string
	Doc   string

	Quantile stat.Method // percentile method
	First    First       // end of TTFT
	ToFinish bool        // E2E ends at the end of the response, not at the last token
	Loose    bool        // TPOT ends where E2E does, even if the end of the response stands in for a last token that is not recorded
	Less     int64       // TPOT divides by N - Less
	AnyCount bool        // the requested length counts as N where nobody counted
	Gaps     Gaps        // the list behind chunk_gap
	Split    bool        // with speculative decoding a gap is split over its chunk's tokens
	Client   bool        // client stamps are preferred over the server's
	OneShot  bool        // the TTFT of a response in one piece is its E2E
	Silent   bool        // a response without a token is a success with TTFT 0
	Reported bool        // Δt is the producer's own duration where it is known
	OKOnly   bool        // rates of tokens count successes only

	formulas map[string]string // where they differ from Metric.Formula
}

// Default is this project's own set.
var Default = &Definition{
	Name: "default", Title: "first generated token, last token, server counts, N - 1; undefined is null",
	Doc:      "One written definition per metric. Failed and aborted requests are in no latency and count as misses of an objective.",
	Quantile: stat.Linear, Less: 1,
}

var definitions = []*Definition{Default, vllm2024, vllm2026, sglang}

// Definitions returns all sets, the default first.
func Definitions() []*Definition { return slices.Clone(definitions) }

// LookupDefinition returns the set of the given name; "" is the default.
func LookupDefinition(name string) (*Definition, error) {
	if name == "" {
		return Default, nil
	}
	var names []string
	for _, d := range definitions {
		if d.Name == name {
			return d, nil
		}
		names = append(names, d.Name)
	}
	return nil, fmt.Errorf("unknown definition %q; there are %s", name, strings.Join(names, ", "))
}

// Formula returns the formula of a metric under d.
func (d *Definition) Formula(m *Metric) string {
	if f, ok := d.formulas[m.Name]; ok {
		return f
	}
	return m.Formula
}

// Describe returns what a report says about d.
func (d *Definition) Describe() report.Definition {
	out := report.Definition{Name: d.Name, Title: d.Title, Percentile: d.Quantile.String(), Formulas: make(map[string]string)}
	for _, m := range all {
		out.Formulas[m.Name] = d.Formula(m)
	}
	return out
}

// Null returns the metric without values under d, for the given reason.
func (d *Definition) Null(m *Metric, reason string) report.Metric {
	return report.Metric{Definition: d.Name, Unit: m.Unit, Exact: true, Excluded: map[string]int64{}, Reason: reason}
}
