// Package report holds the result of an analysis as plain structs, which renderers
// print and JSON output contains. Values are in base units and never scaled; stamps,
// gaps and durations are nanoseconds.
//
// The JSON form is the contract "servescope.report/1". It only grows: fields
// are added, never renamed or removed, within one version. schema.json is its
// JSON Schema, generated from these structs and their comments. In it
//   - a number is never NaN or infinite, and what is unknown is null with a
//     reason code beside it, never 0 and never left out;
//   - an array or object is never null, it is empty.
package report

import (
	"servescope/analyzer/diag"
	"servescope/analyzer/unit"
)

// Schema is the name and version of the JSON form.
const Schema = "servescope.report/1"

// Report is the result of one query over one or more runs.
type Report struct {
	Schema     string      `json:"schema"`     // always "servescope.report/1"
	Query      Query       `json:"query"`      // what was asked
	Definition Definition  `json:"definition"` // what the metrics mean
	Inputs     []Input     `json:"inputs"`     // every source that was read, in the order given
	Runs       []Run       `json:"runs"`       // in the order of their first input
	Diags      []diag.Diag `json:"diags"`      // everything skipped, repaired or assumed, the severest first
}

// Query echoes what was asked, as text in the syntax of the flags.
type Query struct {
	Filter   string   `json:"filter,omitempty"`    // expression over request columns
	From     string   `json:"from,omitempty"`      // start of the interval
	To       string   `json:"to,omitempty"`        // end of the interval, exclusive
	Window   int64    `json:"window_ns,omitempty"` // length of a time window in ns
	By       []string `json:"by"`                  // dimensions of the groups
	Trim     string   `json:"trim,omitempty"`      // "steady" or "warmup=…"
	SLO      []string `json:"slo"`                 // limits, each "metric=duration"
	Replicas int64    `json:"replicas,omitempty"`  // replica count given by the user; absent: counted
	Aborts   string   `json:"aborts,omitempty"`    // "exclude": aborted requests are in no goodput; absent: they miss it
}

// Definition names the definition set of every metric of the report and holds
// the formula of each.
type Definition struct {
	Name       string            `json:"name"`              // "default", "vllm-2026", …
	Title      string            `json:"title"`             // the same for people
	Percentile string            `json:"percentile_method"` // "linear", "nearest", …
	Formulas   map[string]string `json:"formulas"`          // by metric
}

// Input is one source and its line accounting: parsed + diagnosed + noise = total.
type Input struct {
	Name      string           `json:"name"`      // path, member of an archive, or "-"
	Format    string           `json:"format"`    // name of the format that read it; empty: none
	Reason    string           `json:"reason"`    // why this format was chosen
	Bytes     int64            `json:"bytes"`     // decompressed size in bytes
	Total     int64            `json:"total"`     // lines or records of the source
	Parsed    int64            `json:"parsed"`    // of these, became data
	Diagnosed int64            `json:"diagnosed"` // of these, are counted in diags
	Noise     int64            `json:"noise"`     // of these, are known to carry no data
	Kinds     map[string]int64 `json:"kinds"`     // parsed lines or records by kind
}

// Run is the unit that is reported and compared.
type Run struct {
	Label    string   `json:"label"`             // unique within the report
	Format   string   `json:"format"`            // name of the format it was read from
	Engine   string   `json:"engine"`            // vllm, sglang, …; empty when unknown
	Version  string   `json:"version,omitempty"` // producer's version, or a guess such as "≥v0.15"
	Model    string   `json:"model"`             // empty when unknown, or where there are several: models
	Side     string   `json:"side"`              // client, proxy, server, engine, prefill or decode
	Clock    string   `json:"clock"`             // clock of the stamps: kind, or kind/source
	Models   []string `json:"models,omitempty"`  // of the requests, sorted, where there are several; else absent
	Duration Value    `json:"duration_ns"`       // length of the run in ns as its producer measured it

	Cell                  // all requests of the run that the query selects
	Groups    []Group     `json:"groups"`    // by the query's dimensions; empty without any
	Windows   []Window    `json:"windows"`   // in order of time; empty without a window length
	Reported  []Reported  `json:"reported"`  // what the producer claims itself, beside our figures
	Audit     *Audit      `json:"audit"`     // what the check of these came to; null where nothing is claimed
	Config    [][2]string `json:"config"`    // settings of the run as [name, value], in source order
	Notes     []string    `json:"notes"`     // facts a reader of the numbers must know
	Removed   Removed     `json:"removed"`   // what the query leaves out; the requests add up to requests.filtered
	Untrimmed *Cell       `json:"untrimmed"` // the same figures before the query's trim; null without a trim
	Steady    *Cell       `json:"steady"`    // the same figures in the steady window; null where the run has no steady window (see concurrency), and where the query is about a part of the time or about the steady window itself
	Sides     []Side      `json:"sides"`     // each side's own figures, outermost side first, where the run has rows of several sides; else empty
	Join      *Join       `json:"join"`      // which rows of several inputs belong to one request; null unless they were joined

	Changes    []Change     `json:"changes,omitempty"`    // the largest from window to window, by set of entries; absent without any
	Reconciled []Reconciled `json:"reconciled,omitempty"` // what requests add up to beside the engines' own counts; absent where the run has not both
}

// Steps sums up the steps, or the logged windows of time, of one kind on one
// replica and rank: those that end in the time that the query, or a window of it,
// is about.
type Steps struct {
	Replica  string `json:"replica"`  // host, data-parallel rank or engine index; empty: not recorded
	Rank     string `json:"rank"`     // other parallel ranks, as "tp0 ep1"; empty: not recorded
	Kind     string `json:"kind"`     // prefill, decode, mixed, verify, window or dummy; empty: not recorded
	Quantity string `json:"quantity"` // meaning of durations: interval, elapsed or mean; empty: there are no durations

	N          int64 `json:"n"`             // rows: lines of a log, or steps of a profiler trace
	From       Value `json:"from"`          // first stamp, ns on the run's clock
	To         Value `json:"to"`            // last stamp, ns on the run's clock
	Resolution Value `json:"resolution_ns"` // coarsest step of the stamps in ns

	Running       Gauge `json:"running"`        // decode sequences of a step, or running requests of a window
	Waiting       Gauge `json:"waiting"`        // requests in the scheduler's queue
	KVUsage       Gauge `json:"kv_usage"`       // share of the KV cache in use
	PromptTPS     Gauge `json:"prompt_tps"`     // prompt tokens per second as logged, without rows behind a pause
	GenerationTPS Gauge `json:"generation_tps"` // generated tokens per second as logged, without rows behind a pause
	AfterIdle     int64 `json:"after_idle"`     // rows behind a pause, which their rates count

	Duration Gauge            `json:"duration_ns"` // lengths of steps; see quantity
	Total    Value            `json:"total_ns"`    // sum of the intervals in ns; null for other quantities
	Classes  map[string]Value `json:"classes"`     // sum per class in ns; in a profiler trace the classes tile the intervals
}

// Gauge is a figure that rows state. N is the number of rows that do. Where each
// of them also says how long it holds, the mean is over time.
type Gauge struct {
	N     int64 `json:"n"`               // rows that state it
	Mean  Value `json:"mean"`            // mean over these rows
	Max   Value `json:"max"`             // greatest of them
	Timed bool  `json:"timed,omitempty"` // the mean is over the time that the rows hold, not over rows
}

// Cell holds the figures of one set of requests: a run, a group, a window, or
// a group within a window.
type Cell struct {
	Requests    Requests          `json:"requests"`    // how many there are, by status
	Metrics     map[string]Metric `json:"metrics"`     // distributions by metric; none is ever left out
	Throughput  Throughput        `json:"throughput"`  // rates
	Concurrency Concurrency       `json:"concurrency"` // requests at the same time
	Goodput     *Goodput          `json:"goodput"`     // null without SLO
	Steps       []Steps           `json:"steps"`       // what the engine says of its own steps, by replica, rank and kind

	Decompositions []Decomposition `json:"decompositions"` // where the time went, by quantity and side; empty where nothing tells
}

// Removed counts the requests that a query leaves out, each by the first reason,
// and the steps.
type Removed struct {
	Filter   int64 `json:"filter"`   // by the filter
	Interval int64 `json:"interval"` // outside of from and to, or without a stamp that could tell
	Trim     int64 `json:"trim"`     // in the trimmed edges
	Steps    int64 `json:"steps"`    // steps of the engine by any of these, which are no requests
}

// Group is a cell of the requests that share the values of the dimensions By.
type Group struct {
	By      map[string]string `json:"by"` // value of each dimension; empty text: not recorded
	Cell                      // the requests of the group
	Windows []Window          `json:"windows"`           // the group by time; empty without a window length
	Changes []Change          `json:"changes,omitempty"` // as of the run
}

// Window is a cell of one time window.
type Window struct {
	From int64 `json:"from"` // start, ns on the run's clock
	To   int64 `json:"to"`   // end, exclusive, ns on the run's clock
	Cell       // requests sent or received in it; each figure says what else it counts
}

// Reported is one figure that the producer computed itself, beside ours.
type Reported struct {
	Key    string    `json:"key"`              // name in the source: "p99_ttft_ms"
	Metric string    `json:"metric,omitempty"` // our metric; absent when there is none like it
	Stat   string    `json:"stat"`             // mean, std, min, max, a quantile as "0.99", or "value"
	Unit   unit.Unit `json:"unit"`             // base unit of value
	Value  float64   `json:"value"`            // as reported, in unit
	Ours   Value     `json:"ours"`             // the same figure under the report's definition
	Note   string    `json:"note,omitempty"`   // why the two differ

	Verdict string `json:"verdict"` // of the audit: equal, explained, differs or unchecked
	Own     Value  `json:"own"`     // the same figure of the whole run under the producer's definition
}

// Throughput holds rates over W = [From, To), ns on the run's clock; see
// package metric for the formula of each rate.
type Throughput struct {
	From   Value            `json:"from"`      // start of W, ns on the run's clock
	To     Value            `json:"to"`        // end of W, ns on the run's clock
	Window Value            `json:"window_ns"` // length of W in ns
	Values map[string]Value `json:"values"`    // rates and totals by name

	Tokens   Tokens       `json:"tokens"`             // the token counts behind the rates of tokens
	Replicas []Replica    `json:"replicas,omitempty"` // by replica, where requests name theirs; in windows, where there are 2 to 64
	Engines  []EngineLoad `json:"engines,omitempty"`  // by engine, where one logs its load; not in windows
}

// Concurrency is the number of requests between send and end over time.
type Concurrency struct {
	Mean       Value   `json:"mean"`        // time-weighted over W
	Max        Value   `json:"max"`         // largest number at any instant
	Curve      []Point `json:"curve"`       // at most a few hundred points, for charts
	SteadyFrom Value   `json:"steady_from"` // start of the steady window, ns on the run's clock
	SteadyTo   Value   `json:"steady_to"`   // end of the steady window, ns on the run's clock

	Little   *Little `json:"little,omitempty"`   // Little's law; absent where the cell is about a part of the time
	Inferred int64   `json:"inferred,omitempty"` // requests without an end in the log: the curve drops where the engines report that nothing runs or waits
}

// Point is one point of a step curve: V holds from T to the next point.
type Point struct {
	T int64   `json:"t"` // ns on the run's clock
	V float64 `json:"v"` // value from t on
}

// Goodput counts SLO verdicts. Good + Missed + Unknown = Denominator.
type Goodput struct {
	SLO         []string         `json:"slo"`         // the limits, all of which must be met
	Denominator int64            `json:"denominator"` // requests with a verdict
	Good        int64            `json:"good"`        // ok, and no limit missed or unknown
	Missed      int64            `json:"missed"`      // failed, or some limit missed
	Unknown     int64            `json:"unknown"`     // some limit unknown, none missed
	Share       Value            `json:"share"`       // good part; null where unknown verdicts leave bounds
	ShareLow    Value            `json:"share_low"`   // unknown counted as missed
	ShareHigh   Value            `json:"share_high"`  // unknown counted as met
	Rate        Value            `json:"rate"`        // good requests per second of W
	MissedBy    map[string]int64 `json:"missed_by"`   // per limit or status; a request may miss several
	Definition  string           `json:"definition"`  // what counts as good, in words

	Conditions []Condition `json:"conditions"`       // verdicts by limit
	Aborts     string      `json:"aborts"`           // how aborted requests count: missed, or exclude (in no figure here)
	Beside     *Shares     `json:"beside,omitempty"` // the share with aborted requests counted the other way; absent without aborted requests
}
