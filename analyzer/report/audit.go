package report

import "servescope/analyzer/unit"

// Audit is the check of what the producers of a run claim: every figure of
// theirs against the requests of the whole run, whatever the query selects;
// their figures against each other; and values that cannot be. Figures =
// Equal + Explained + Differs + Unchecked.
type Audit struct {
	Definition string    `json:"definition"` // set under which their figures are computed again; empty: none is known
	Figures    int64     `json:"figures"`    // figures that they report
	Equal      int64     `json:"equal"`      // the requests give the same, to the rounding of the source
	Explained  int64     `json:"explained"`  // the requests give the same in another way that is known: see cause
	Differs    int64     `json:"differs"`    // the requests give another figure, and nothing explains it
	Unchecked  int64     `json:"unchecked"`  // there is nothing to compare with
	Checks     int64     `json:"checks"`     // relations among their figures that could be tested
	Broken     int64     `json:"broken"`     // of these, do not hold
	Findings   []Finding `json:"findings"`   // figures that differ or contradict, the gravest first
}

// Finding is one thing that an audit brings to light.
type Finding struct {
	Kind     string    `json:"kind"`             // impossible, differs, identity or explained
	Key      string    `json:"key"`              // name of the figure in the source, or of a member of its requests
	Metric   string    `json:"metric,omitempty"` // our metric; absent when there is none like it
	Stat     string    `json:"stat,omitempty"`   // mean, std, min, max, a quantile as "0.99", or "value"; absent for requests
	Unit     unit.Unit `json:"unit"`             // base unit
	Value    Value     `json:"value"`            // as reported
	Expected Value     `json:"expected"`         // what the requests, or other figures of the report, give
	Factor   Value     `json:"factor"`           // expected / value
	Cause    string    `json:"cause,omitempty"`  // of what is explained: definition, cohort, window, estimator or unit
	Count    int64     `json:"count,omitempty"`  // requests that state an impossible value
	More     int64     `json:"more,omitempty"`   // further figures of the same distribution of which the same holds
	Note     string    `json:"note"`             // the same in words
}
