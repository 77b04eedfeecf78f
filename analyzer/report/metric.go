package report

import "servescope/analyzer/unit"

// Metric is the distribution of one metric. Where N is 0 the metric is null
// and Reason says why. Excluded counts the requests that gave no value, by
// reason; N (of a pooled metric: Requests) plus Excluded is the number of the
// cell's requests. A float that is
// NaN or infinite is null in JSON.
type Metric struct {
	Definition string             `json:"definition"`                // definition set it follows
	Unit       unit.Unit          `json:"unit"`                      // base unit of every value here
	Side       string             `json:"side,omitempty"`            // side whose stamps it uses
	N          int64              `json:"n"`                         // number of values
	Requests   int64              `json:"requests,omitempty"`        // requests that gave the values, of a metric pooled over gaps or tokens
	Mean       float64            `json:"mean"`                      // arithmetic mean
	Std        float64            `json:"std"`                       // standard deviation; null where it is undefined
	Min        float64            `json:"min"`                       // smallest value
	Max        float64            `json:"max"`                       // largest value
	Quantiles  map[string]float64 `json:"quantiles"`                 // by rank: "0.5", "0.99", …
	Intervals  map[string][2]any  `json:"intervals,omitempty"`       // 95 % confidence bounds by rank; a bound is null where the sample gives none
	Censored   int64              `json:"censored,omitempty"`        // of a TTFT: requests aborted or open before their first token, in excluded as well
	Upper      map[string]any     `json:"quantiles_upper,omitempty"` // the quantiles with these at infinity, where there are any; null: unbounded
	Exact      bool               `json:"exact"`                     // the quantiles are exact, not from a histogram
	Excluded   map[string]int64   `json:"excluded"`                  // requests or gaps without a value, by reason
	Reason     string             `json:"reason,omitempty"`          // why n is 0
	Notes      []string           `json:"notes,omitempty"`           // caveats
}

// nullMetric is the JSON form of a metric without values.
type nullMetric struct {
	Value      *float64         `json:"value"`           // always null
	Reason     string           `json:"reason"`          // code of the reason
	Definition string           `json:"definition"`      // definition set it follows
	Unit       unit.Unit        `json:"unit"`            // base unit it would have
	Side       string           `json:"side,omitempty"`  // side whose stamps it would use
	N          int64            `json:"n"`               // always 0
	Excluded   map[string]int64 `json:"excluded"`        // requests or gaps without a value, by reason
	Notes      []string         `json:"notes,omitempty"` // caveats
}

// plainMetric is the JSON form of a metric with values.
type plainMetric Metric

// form implements former.
func (m Metric) form() any {
	if m.N > 0 {
		return plainMetric(m)
	}
	return nullMetric{nil, m.Reason, m.Definition, m.Unit, m.Side, 0, m.Excluded, m.Notes}
}

// MarshalJSON implements json.Marshaler: a metric without values is
// {"value":null,"reason":…} with its definition and exclusions beside it.
func (m Metric) MarshalJSON() ([]byte, error) { return Marshal(m) }
