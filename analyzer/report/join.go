package report

// Side holds the figures of all rows of one side of a run, by that side's own
// stamps. The figures of the run itself count each request once, by its outermost
// side. The figures of the sides prefill and decode are figures of nodes: in a
// disaggregated deployment a request passes through one of each.
type Side struct {
	Side     string            `json:"side"`     // client, proxy, server, engine, prefill or decode
	Counts   bool              `json:"counts"`   // the run's requests are counted at this side
	Requests Requests          `json:"requests"` // rows by status, without those that repeat what another input says
	Apart    int64             `json:"apart"`    // of these, belong to no request of the run: the side by which it is counted has not seen them
	Metrics  map[string]Metric `json:"metrics"`  // distributions by metric; those without a value are left out
}

// Join says which rows of several inputs belong to one request. Rows are linked by
// their ids, never by order or likeness, and no row is overwritten.
type Join struct {
	Counting string     `json:"counting"` // side by which the run's requests are counted: the outermost that it has
	Requests int64      `json:"requests"` // counted, whatever the query selects
	Joined   int64      `json:"joined"`   // of these, seen from another side or by another input as well
	Rate     Value      `json:"rate"`     // joined part
	Ends     []JoinEnd  `json:"ends"`     // every input and side, from outside
	Pairs    []JoinPair `json:"pairs"`    // every two ends, as far as MaxPairs
	More     int64      `json:"more"`     // pairs that are left out

	Ambiguous  int64       `json:"ambiguous"`  // names that link nothing because several requests may bear them
	Duplicates int64       `json:"duplicates"` // ids that one input and side gives to several requests
	Examples   JoinNames   `json:"examples"`   // the first few of both
	Disagree   int64       `json:"disagree"`   // requests whose rows state different numbers of output tokens
	Steps      []JoinSteps `json:"steps"`      // rows of engine steps, which bear no request's name, by time
	Aligned    bool        `json:"aligned"`    // offsets of clocks are applied
}

// MaxPairs is how many pairs of ends a report holds.
const MaxPairs = 100

// JoinNames are the first few names of each kind.
type JoinNames struct {
	Ambiguous  []string `json:"ambiguous"`  // of Join.Ambiguous
	Duplicates []string `json:"duplicates"` // of Join.Duplicates
}

// JoinEnd is one side of one input.
type JoinEnd struct {
	Input     string   `json:"input"`     // name of the input
	Side      string   `json:"side"`      // client, proxy, server, engine, prefill or decode
	Requests  int64    `json:"requests"`  // that it has rows of
	Joined    int64    `json:"joined"`    // of these, another end has rows of as well
	Rate      Value    `json:"rate"`      // joined part
	Repeated  int64    `json:"repeated"`  // rows that are in no figure because the rows of another input say more about the same requests
	Unnamed   int64    `json:"unnamed"`   // requests without an id
	Unmatched []string `json:"unmatched"` // names of the first requests that no other end has
}

// JoinPair is two ends and what they have in common. A is farther out than B.
type JoinPair struct {
	A       JoinAt           `json:"a"`       // the outer end
	B       JoinAt           `json:"b"`       // the inner end
	Joined  int64            `json:"joined"`  // requests that both have
	RateA   Value            `json:"rate_a"`  // joined part of A's
	RateB   Value            `json:"rate_b"`  // joined part of B's
	Rules   map[string]int64 `json:"rules"`   // how many were linked in which way: "exact", or what the ids differ in
	Offset  ClockOffset      `json:"offset"`  // of B's clock over A's
	Between *Between         `json:"between"` // the way there and back; null unless clocks were aligned
}

// JoinAt is one end of a pair.
type JoinAt struct {
	Input string `json:"input"` // name of the input
	Side  string `json:"side"`  // client, proxy, server, engine, prefill or decode
	Clock string `json:"clock"` // clock of its stamps: kind, or kind/source
}

// ClockOffset is by how much one clock is ahead of another, in ns: an interval
// that holds it as long as neither runs faster. It follows from messages alone:
// none arrives before it is sent.
type ClockOffset struct {
	Low  Value  `json:"low"`  // it is at least this
	High Value  `json:"high"` // it is at most this
	N    int64  `json:"n"`    // requests that bound it
	Same bool   `json:"same"` // both stamps are on one clock: the offset is 0
	Note string `json:"note"` // why it is doubtful, or empty
}

// Between is the time that requests and first tokens take between two ends, whose
// clocks are aligned by the middle of their offset.
type Between struct {
	There Value `json:"there"` // mean time from A's start of a request to B's, in ns
	Back  Value `json:"back"`  // mean time from B's first token to A's, in ns
	Wrong Value `json:"wrong"` // by how much either may be more or less, in ns: half the width of the offset
}

// JoinSteps says which rows of engine steps fall into the time of requests of
// the same replica on the same clock.
type JoinSteps struct {
	Input    string `json:"input"`    // name of the input
	Clock    string `json:"clock"`    // clock of its stamps
	N        int64  `json:"n"`        // rows
	Within   int64  `json:"within"`   // of these, overlap a request
	Requests int64  `json:"requests"` // requests on that clock
	Covered  int64  `json:"covered"`  // of these, overlap a row
	Note     string `json:"note"`     // why none does, or empty
}
