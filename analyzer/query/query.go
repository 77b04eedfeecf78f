package query

import (
	"strconv"
	"time"
)

// Query is one question. The zero value asks for everything, ungrouped.
//
// An interval (From, To) and a trim do not select whole requests. They set W,
// the part of the run's time that the report is about, in the same way as a
// window of time. W is their intersection, clipped to the run. A request
// counts, with its TTFT and its objectives, if it is sent (received) in W, and
// its E2E and TPOT count if it ends in W. Tokens and the gaps before them count
// by their own time. Batch and concurrency are those in W, from every request
// that the filter keeps, whenever it was sent. A trim by a count starts W at
// the send of the first request that remains. It removes altogether the dropped
// requests that were sent at that very instant, and requests whose stamps have
// no place on a clock. Relative instants and trims count from the first send of
// the run, regardless of the filter. The steady window is computed from all
// requests that the filter keeps.
//
// An engine step belongs to W, and to a window, by its end. Dimensions and a
// filter apply to steps if steps have all columns that they use: replica,
// engine, model, side, clock, run, file. Without requests on their clock,
// relative instants and a warm-up count from the first step, and other trims do
// not apply.
// instants and a warm-up count from the first step, and other trims leave them.
type Query struct {
	Filter     *Filter   // nil: all requests
	From, To   *Instant  // [From, To); nil: the run's ends
	Window     int64     // length of a time window in ns; 0: none
	By         []string  // names of dimensions, see Dimensions
	Trim       Trim      // leaves out the edges of a run
	SLO        []Limit   // all must be met
	Definition string    // name of a definition set; empty: default
	Ranks      []float64 // quantiles in (0,1); empty: DefaultRanks
	Replicas   int64     // number of replicas where the log cannot tell; 0: count them

	ExcludeAborts bool // aborted requests are in no goodput; else they miss it
}

// DefaultRanks are the quantiles of a report.
var DefaultRanks = []float64{0.5, 0.9, 0.95, 0.99, 0.999}

// Instant is a point in time: ns since the Unix epoch, or ns since the start of
// the run.
type Instant struct {
	NS       int64
	Relative bool
}

// String returns the instant in the syntax of ParseInstant.
func (i Instant) String() string {
	if i.Relative {
		return "+" + time.Duration(i.NS).String()
	}
	return time.Unix(0, i.NS).UTC().Format(time.RFC3339Nano)
}

// Timed reports whether the query covers only a part of the run's time.
func (q *Query) Timed() bool { return q.From != nil || q.To != nil || q.Trim != Trim{} }

// Trim says which edges of a run to leave out.
type Trim struct {
	Steady bool  // keep only the steady window
	Warmup int64 // leave out the first Warmup ns of the run
	Count  int64 // leave out the first Count requests, and the time before the next request
}

// String returns the trim in the syntax of ParseTrim, "" for none.
func (t Trim) String() string {
	switch {
	case t.Steady:
		return "steady"
	case t.Warmup > 0:
		return "warmup=" + time.Duration(t.Warmup).String()
	case t.Count > 0:
		return "warmup=" + strconv.FormatInt(t.Count, 10)
	}
	return ""
}

// Limit is one condition of a service-level objective: Metric at most Max ns.
type Limit struct {
	Metric string // ttft, ttft.client, tpot, e2e, …
	Max    int64
}

// String returns the limit in the syntax of ParseSLO.
func (l Limit) String() string { return l.Metric + "=" + time.Duration(l.Max).String() }
