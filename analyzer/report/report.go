// Package report is the result of an analysis as plain structs: what renderers
// print and what JSON output holds. Values are in base units and never scaled.
// The JSON form is the contract "servescope.report/1".
package report

import (
	"servescope/analyzer/diag"
	"servescope/analyzer/unit"
)

// Schema is the name and version of the JSON form.
const Schema = "servescope.report/1"

// Report is the result of one query over one or more runs.
type Report struct {
	Schema     string      `json:"schema"`
	Query      Query       `json:"query"`
	Definition Definition  `json:"definition"`
	Inputs     []Input     `json:"inputs"`
	Runs       []Run       `json:"runs"`
	Diags      []diag.Diag `json:"diags"`
}

// Query echoes what was asked, as text in the syntax of the flags.
type Query struct {
	Filter   string   `json:"filter,omitempty"`
	From     string   `json:"from,omitempty"`
	To       string   `json:"to,omitempty"`
	Window   int64    `json:"window_ns,omitempty"`
	By       []string `json:"by"`
	Trim     string   `json:"trim,omitempty"`
	SLO      []string `json:"slo"`
	Replicas int64    `json:"replicas,omitempty"`
}

// Definition names the definition set of every metric of the report and holds
// the formula of each.
type Definition struct {
	Name       string            `json:"name"`
	Title      string            `json:"title"`
	Percentile string            `json:"percentile_method"`
	Formulas   map[string]string `json:"formulas"`
}

// Input is one source and its line accounting: parsed + diagnosed + noise = total.
type Input struct {
	Name      string           `json:"name"`
	Format    string           `json:"format"`
	Reason    string           `json:"reason"`
	Bytes     int64            `json:"bytes"`
	Total     int64            `json:"total"`
	Parsed    int64            `json:"parsed"`
	Diagnosed int64            `json:"diagnosed"`
	Noise     int64            `json:"noise"`
	Kinds     map[string]int64 `json:"kinds"`
}

// Run is what is compared and reported.
type Run struct {
	Label    string `json:"label"`
	Format   string `json:"format"`
	Engine   string `json:"engine"`
	Version  string `json:"version,omitempty"`
	Model    string `json:"model"`
	Side     string `json:"side"`
	Clock    string `json:"clock"`
	Duration Value  `json:"duration_ns"` // as the producer measured it

	Cell                 // over all requests of the run that the query selects
	Groups   []Group     `json:"groups"`
	Windows  []Window    `json:"windows"`
	Reported []Reported  `json:"reported"`
	Config   [][2]string `json:"config"`
	Notes    []string    `json:"notes"`
}

// Cell holds the figures of one set of requests: a run, a group, a window, or
// a group within a window.
type Cell struct {
	Requests    Requests          `json:"requests"`
	Metrics     map[string]Metric `json:"metrics"`
	Throughput  Throughput        `json:"throughput"`
	Concurrency Concurrency       `json:"concurrency"`
	Goodput     *Goodput          `json:"goodput"` // null without SLO
}

// Requests counts the requests by status; the parts add up to Total. Filtered
// counts those that the query removed: they are in no other number.
type Requests struct {
	Total       int64 `json:"total"`
	OK          int64 `json:"ok"`
	Failed      int64 `json:"failed"`
	Aborted     int64 `json:"aborted"`
	Empty       int64 `json:"empty"`
	Open        int64 `json:"open"`
	HeadMissing int64 `json:"head_missing"`
	Filtered    int64 `json:"filtered"`
}

// Group is a cell of the requests that share the values of the dimensions By.
type Group struct {
	By map[string]string `json:"by"`
	Cell
	Windows []Window `json:"windows"`
}

// Window is a cell of one time window [From, To), ns on the run's clock.
type Window struct {
	From int64 `json:"from"`
	To   int64 `json:"to"`
	Cell
}

// Metric is the distribution of one metric. Where N is 0 the metric is null
// and Reason says why. Excluded counts the requests (or gaps) that gave no
// value, by reason; N plus Excluded is the size of the cohort.
type Metric struct {
	Definition string             `json:"definition"`
	Unit       unit.Unit          `json:"unit"`
	Side       string             `json:"side,omitempty"`
	N          int64              `json:"n"`
	Mean       float64            `json:"mean"`
	Std        float64            `json:"std"`
	Min        float64            `json:"min"`
	Max        float64            `json:"max"`
	Quantiles  map[string]float64 `json:"quantiles"`
	Intervals  map[string][2]any  `json:"intervals,omitempty"`
	Exact      bool               `json:"exact"`
	Excluded   map[string]int64   `json:"excluded"`
	Reason     string             `json:"reason,omitempty"`
	Notes      []string           `json:"notes,omitempty"`
}

// Reported is one figure that the producer computed itself, beside ours.
type Reported struct {
	Key    string    `json:"key"`
	Metric string    `json:"metric,omitempty"`
	Stat   string    `json:"stat"`
	Unit   unit.Unit `json:"unit"`
	Value  float64   `json:"value"`
	Ours   Value     `json:"ours"` // under the report's definition
	Note   string    `json:"note,omitempty"`
}

// Throughput holds rates over W = [From, To), ns on the run's clock; see
// package metric for the formula of each rate. Values are keyed by name.
type Throughput struct {
	From   Value            `json:"from"`
	To     Value            `json:"to"`
	Window Value            `json:"window_ns"` // To - From
	Values map[string]Value `json:"values"`
}

// Concurrency is the number of requests between send and end over time.
type Concurrency struct {
	Mean  Value   `json:"mean"` // time-weighted over W
	Max   Value   `json:"max"`
	Curve []Point `json:"curve"` // at most a few hundred points, for charts
	// Steady is the steady window, or null with its reason.
	SteadyFrom Value `json:"steady_from"`
	SteadyTo   Value `json:"steady_to"`
}

// Point is one point of a step curve: V holds from T (ns) to the next point.
type Point struct {
	T int64   `json:"t"`
	V float64 `json:"v"`
}

// Goodput counts SLO verdicts. Good + Missed + Unknown = Denominator.
type Goodput struct {
	SLO         []string         `json:"slo"`
	Denominator int64            `json:"denominator"`
	Good        int64            `json:"good"`
	Missed      int64            `json:"missed"`
	Unknown     int64            `json:"unknown"`
	Share       Value            `json:"share"`      // null where unknown verdicts leave bounds
	ShareLow    Value            `json:"share_low"`  // unknown counted as missed
	ShareHigh   Value            `json:"share_high"` // unknown counted as met
	Rate        Value            `json:"rate"`       // good requests per second of W
	MissedBy    map[string]int64 `json:"missed_by"`  // per condition or status; a request may miss several
	Definition  string           `json:"definition"`
}
