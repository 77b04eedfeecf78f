package report

// Estimated is the label of a decomposition of the time per output token that is
// estimated from the timestamps of tokens alone. Its members are tokens: those
// behind the first of each request.
const Estimated = "estimated from timestamps"

// Gap is a gap between two chunks of a request that is longer than three medians.
type Gap struct {
	Request  string `json:"request"`     // id, or "" where the source names none
	At       Value  `json:"at"`          // its begin, ns on the run's clock
	Duration int64  `json:"duration_ns"` // its length in ns
}
