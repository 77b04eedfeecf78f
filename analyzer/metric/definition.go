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

// The events. If a source records only the first event, it also counts as the
// first token, and is labelled so. If a source does not record the first event,
// there is no value for it.
const (
	FirstToken  First = iota // first generated token of any kind
	FirstEvent               // first event with choices, a role chunk included
	FirstAnswer              // first chunk with content; reasoning is not seen
)

// Count is a way to count output tokens.
type Count uint8

// The counts.
const (
	ServerCount    Count = iota // the usage, or the engine's own
	ClientCount                 // the whole output by a client's tokenizer, reasoning included
	AnswerCount                 // the content by a client's tokenizer
	BOSCount                    // the same, plus the token that begins a text
	ChunkCount                  // one for each chunk
	RequestedCount              // the requested length
)

// Mark is a point in time of a request.
type Mark uint8

// The points in time.
const (
	AtStart Mark = iota // the request was sent, or came in
	AtFirst             // the end of TTFT
	AtLast              // the last token
	AtEnd               // the end of E2E: the last token, or the end of the response if the last token is not recorded
)

// Pace is a time per token of a request: the time between two marks, divided by
// a number.
type Pace struct {
	From, To Mark
	Less     int64 // divides by N - Less
	Chunks   bool  // divides by the number of chunks received, one with a role included
	Weighted bool  // in means and quantiles, a request has its divisor as weight
}

// Gaps says which gaps a tool calls ITL.
type Gaps uint8

// The lists.
const (
	TokenGaps  Gaps = iota // between token-bearing chunks
	EventGaps              // the same, and the gap from the first event to the first token
	AnswerGaps             // between the chunks of the answer
	PaceGaps               // none: one value per request, see Definition.ITL
	NoGaps                 // the tool has no such figure
)

// Split says how the gap before a chunk is shared among its tokens.
type Split uint8

// The ways. Without another rule, a gap stays whole.
const (
	WholeGaps Split = iota
	EvenGaps        // with speculative decoding: gap/k, k times
	ZeroGaps        // the gap, and 0 for each further token of the chunk, the first chunk's too
)

// Span is the duration by which a tool divides counts of requests and tokens.
type Span uint8

// The spans, from the first send.
const (
	TokenSpan   Span = iota // to the last token of any request
	WholeSpan               // to the last end of any request, time-outs of failed ones included
	OKSpan                  // of successful requests: to the last end of one
	LongestSpan             // the longest E2E, whenever the request was sent
)

// Definition is a set of parameters under which all metrics are computed: this
// project's set, or the set of another tool in a certain version. The kernels
// interpret the parameters; no tool has code of its own.
type Definition struct {
	Name  string
	Title string
	Doc   string

	Quantile stat.Method // percentile method
	Sample   bool        // standard deviations are those of a sample: they divide by n - 1
	First    First       // end of TTFT
	ToFinish bool        // E2E ends at the end of the response, not at the last token
	Counts   []Count     // sources of N: the first that the log records counts
	Least    int64       // TTFT needs at least so many tokens
	TPOT     *Pace       // nil: the tool has no such figure
	ITL      *Pace       // of PaceGaps
	Gaps     Gaps        // the list behind chunk_gap
	Split    Split       // of its gaps over tokens
	Positive bool        // a list with a gap of 0 or less counts as an error
	Strict   bool        // no time, no pace: tools write 0
	Whole    bool        // latencies, and their means, are rounded down to whole ns

	Client  bool // client stamps are preferred over the server's
	OneShot bool // the TTFT of a response in one piece is its E2E
	Silent  bool // a response without a token is a success, with TTFT 0 if that needs no token
	OKOnly  bool // rates count successes only

	Span      Span // Δt of rates
	Reported  bool // Δt is the producer's own duration where it is known
	Goodput   bool // the tool has one, and forgets failed requests; else the rule is ours, on the tool's metrics
	GoodSpan  Span // Δt of goodput
	MustKnow  bool // an objective whose metric has no value is missed
	Buckets   bool // the greatest concurrency is counted by seconds, not by a sweep
	ChunkPeak bool // tps_peak counts chunks, in seconds from the first send

	names map[string]string // names that the tool uses for metrics, where they differ from ours
}

// LookupDefinition returns the set with the given name. The name "" means the
// default.
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
	return nil, fmt.Errorf("unknown definition %q; the sets are %s", name, strings.Join(names, ", "))
}

// Definitions returns all sets, the default first.
func Definitions() []*Definition { return slices.Clone(definitions) }

// Has reports whether the metric exists under d.
func (d *Definition) Has(name string) bool {
	switch name {
	case "tpot", "tps_request":
		return d.TPOT != nil
	case "chunk_gap":
		return d.Gaps != NoGaps
	}
	return true
}

// ByChunk reports whether d accepts chunks as a count of tokens.
func (d *Definition) ByChunk() bool { return slices.Contains(d.Counts, ChunkCount) }

// Calls returns the tool's name for a metric, or "" if it equals ours.
func (d *Definition) Calls(name string) string { return d.names[name] }

// Describe returns the description of d in reports.
func (d *Definition) Describe() report.Definition {
	out := report.Definition{Name: d.Name, Title: d.Title, Percentile: d.Quantile.String(), Formulas: make(map[string]string)}
	for _, m := range all {
		out.Formulas[m.Name] = d.Formula(m)
	}
	return out
}

// Null returns the metric under d without values, for the given reason.
func (d *Definition) Null(m *Metric, reason string) report.Metric {
	return report.Metric{Definition: d.Name, Unit: m.Unit, Exact: true, Excluded: map[string]int64{}, Reason: reason}
}
