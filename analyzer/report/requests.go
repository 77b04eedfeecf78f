package report

import "servescope/analyzer/unit"

// Requests counts the requests by status; the parts add up to Total. Filtered
// counts those that the query leaves out: they are in no other count. Those that
// are only sent outside of W are in what they do within: tokens, gaps, ends.
// Where the input holds no row of a request at all, every count is null, with the
// reason beside it: a file of aggregates is not one of 0 requests.
type Requests struct {
	Total       int64 `json:"total"`        // requests that the query selects
	OK          int64 `json:"ok"`           // finished and produced at least one token
	Failed      int64 `json:"failed"`       // ended with an error
	Aborted     int64 `json:"aborted"`      // cancelled before they finished
	Empty       int64 `json:"empty"`        // finished without error and without any token
	Open        int64 `json:"open"`         // the log ends before they do
	HeadMissing int64 `json:"head_missing"` // the log begins after they did
	Filtered    int64 `json:"filtered"`     // removed by the query; not in Total

	// Metrics known at the end of a request, such as E2E and TPOT, cover the requests
	// that end in the cell's time: Total - EndLater + BegunEarlier requests.
	EndLater     int64 `json:"end_later"`     // of Total: end behind the cell's time
	BegunEarlier int64 `json:"begun_earlier"` // not in Total: end in the cell's time, and begin before it

	Reason  string           `json:"reason,omitempty"`  // why nothing is known of requests; the counts are null then
	Claimed *ClaimedRequests `json:"claimed,omitempty"` // what the producer counts, where there are no requests to count; else absent
}

// ClaimedRequests is how many requests the producer of a run says there were.
type ClaimedRequests struct {
	OK     Value `json:"ok"`     // finished
	Failed Value `json:"failed"` // did not
}

// nullRequests is the JSON form of counts that are unknown.
type nullRequests struct {
	Total       *float64 `json:"total"`        // always null
	OK          *float64 `json:"ok"`           // always null
	Failed      *float64 `json:"failed"`       // always null
	Aborted     *float64 `json:"aborted"`      // always null
	Empty       *float64 `json:"empty"`        // always null
	Open        *float64 `json:"open"`         // always null
	HeadMissing *float64 `json:"head_missing"` // always null
	Filtered    *float64 `json:"filtered"`     // always null

	EndLater     *float64 `json:"end_later"`     // always null
	BegunEarlier *float64 `json:"begun_earlier"` // always null

	Reason  string           `json:"reason"`            // code of the reason
	Claimed *ClaimedRequests `json:"claimed,omitempty"` // what the producer counts; absent: it does not say
}

// plainRequests is the JSON form of counts that are known.
type plainRequests Requests

// form implements former.
func (r Requests) form() any {
	if r.Reason == "" {
		return plainRequests(r)
	}
	return nullRequests{Reason: r.Reason, Claimed: r.Claimed}
}

// MarshalJSON implements json.Marshaler: unknown counts are null with the reason.
func (r Requests) MarshalJSON() ([]byte, error) { return Marshal(r) }

// count is a count as a value, null where it is unknown.
func (r *Requests) count(n int64) Value {
	if r.Reason != "" {
		return Null(r.Reason)
	}
	return KnownInt(n, unit.Request)
}
