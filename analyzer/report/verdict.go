package report

// Condition counts the verdicts of one limit of an SLO over the requests that are
// judged by it: all of the denominator but those that are missed by their status.
type Condition struct {
	Limit         string `json:"limit"`          // "ttft.client=500ms"
	Side          string `json:"side"`           // side whose stamps decide
	Met           int64  `json:"met"`            // within the limit
	Missed        int64  `json:"missed"`         // beyond it
	NotApplicable int64  `json:"not_applicable"` // they have no such metric: TPOT of a single token
	Unknown       int64  `json:"unknown"`        // not recorded, or not streamed
}

// Shares is the good share over another set of requests than the denominator's.
type Shares struct {
	Denominator int64 `json:"denominator"` // requests with a verdict
	Share       Value `json:"share"`       // good part; null where unknown verdicts leave bounds
	ShareLow    Value `json:"share_low"`   // unknown counted as missed
	ShareHigh   Value `json:"share_high"`  // unknown counted as met
}
