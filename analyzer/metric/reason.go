package metric

// Reason says why a request has no value of a metric. Its String is the code in
// reports.
type Reason uint8

// The reasons. None means that there is a value.
const (
	None Reason = iota
	NoToken
	NoAnswerToken
	NLessThan2
	NUnknown
	NotStreamed
	NotRecorded
	NotEvent
	Clock
	Order
	Coverage
	Failed
	Aborted
	Open
	HeadMissing
	BucketOverRun
	NoSpan
	TooMany
	NoRequests
	WholeRun
	OpenLoop
	FewRequests
	NoPlateau
	UnknownVerdicts
	NoObjective
	Inconsistent
	Preempted
	OutsideTotal
	Resolution
	Overlap
	NotDefined
	NoClientCount
	FewSteps
	Filtered
	Inseparable
	Population
	NotJoined
	Beam
	reasonCount
)

// Reasons is the number of reasons, the length of an array of counts by reason.
const Reasons = int(reasonCount)

var reasons = [...]struct{ code, doc string }{
	None:            {"", ""},
	NoToken:         {"no_token", "the request produced no token"},
	NoAnswerToken:   {"no_answer_token", "the request ended while it was reasoning"},
	NLessThan2:      {"n_lt_2", "the request has fewer than two tokens, or chunks"},
	NUnknown:        {"n_unknown", "no source counted the tokens; the requested length is not a count"},
	NotStreamed:     {"not_streamed", "the response came in one piece"},
	NotRecorded:     {"not_recorded", "the source does not record what the metric needs"},
	NotEvent:        {"first_token_recorded", "the source records the first token itself, so there is nothing to bound"},
	Clock:           {"clock", "the two stamps have no common clock, or are more than a day apart and cannot be of one clock"},
	Order:           {"order", "the end is stamped before the start"},
	Coverage:        {"coverage", "the input does not distinguish the replicas, or lacks some of them"},
	Failed:          {"failed", "the request failed"},
	Aborted:         {"aborted", "the request was cancelled"},
	Open:            {"open", "the log ends before the request does"},
	HeadMissing:     {"head_missing", "the log begins after the request did"},
	BucketOverRun:   {"bucket_longer_than_run", "the interval is shorter than the one-second bucket"},
	NoSpan:          {"no_span", "the interval has no length: the tokens came at one instant, or in one chunk"},
	WholeRun:        {"whole_run_only", "the figure is about a whole run, not about a window of time"},
	OpenLoop:        {"open_loop", "concurrency is not held at a limit, so the run has no plateau by design"},
	FewRequests:     {"few_requests", "there are too few requests: a plateau needs 30 that are sent in it, a rate between completions 10"},
	NoPlateau:       {"no_plateau", "concurrency falls below 90 % of its median on average"},
	NoObjective:     {"no_objective", "the query states no objective"},
	UnknownVerdicts: {"unknown_verdicts", "some requests cannot be judged, and the bounds differ"},
	Inconsistent:    {"inconsistent", "the counts contradict each other: more of the prompt is cached than there is"},
	Preempted:       {"preempted", "sequences stalled, and the time of the stall is not recorded"},
	NotJoined:       {"not_joined", "no row of this side is linked to the request"},
	Beam:            {"beam", "the request or its run used beam search: the tokens of the discarded beams took time too"},
	OutsideTotal:    {"outside_total", "the stage lies outside the time that is decomposed"},
	Resolution:      {"resolution", "the stamps are coarser than the time between them"},
	Overlap:         {"overlap", "stages of two nodes run at the same time"},
	NotDefined:      {"not_defined", "the definition set has no such figure"},
	NoClientCount:   {"no_client_count", "the definition counts tokens with a client's tokenizer, and the log has no such count"},
	FewSteps:        {"few_steps", "no batch size has 30 steps that only decode"},
	Filtered:        {"filtered", "the filter or the group selects some of the requests, and engines log all of them"},
	Population:      {"population", "the figures describe different sets of requests"},
	Inseparable:     {"not_separable", "no source separates the stage from another term"},
	NoRequests:      {"no_requests", "the cell has no request"},
	TooMany:         {"too_many", "there are more buckets of time than the limit"},
}

// String returns the reason's code.
func (r Reason) String() string { return reasons[r].code }

// Doc returns the reason in words.
func (r Reason) Doc() string { return reasons[r].doc }
