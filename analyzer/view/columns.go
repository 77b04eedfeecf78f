package view

import (
	"servescope/analyzer/query"
)

// Viewport says what a chart shows of one run, beside the query that selects its
// requests. Which fields count depends on Kind; a zero is the default.
//
// Times are ns since the origin of the run's clock: the first arrival of any of
// its requests, from which relative instants of a query count too; without
// showRequests the end of the first step.
type Viewport struct {
	Kind    string   // columns, requests, scatter, ecdf, heatmap, series, gaps, request, steps or values
	Run     int      // index in the report's runs
	Side    string   // whose rows of requests, as in column side; "": those by which the report counts them
	Columns []string // names; see Session.View

	Metric     string // of ecdf
	X, Y       string // columns of scatter
	Color      string // a third one, or ""
	Column     string // of values
	Sort       string // column that orders requests; "": the order of inputs
	Desc       bool   // from the greatest down
	Row        int64  // of request
	From, To   int64  // interval of heatmap, series, gaps and steps; equal: all
	Low, High  int64  // interval of values in ns; equal: all
	Offset     int    // of the first row of a page
	Limit      int    // rows of a page, or points
	XBins      int
	YBins      int
	Bucket     int64 // ns of series; 0: XBins of them
	TokenTimes bool  // series counts tokens by their own time, which reads the token lists
}

// Columns holds the columns of a chart. Their lengths are equal, or differ where the
// columns describe different things.
type Columns struct {
	Kind   string
	Mode   string             // of scatter: points or bins
	Clocks []ViewClock        // of stamps, by the values of column clock
	Facts  map[string]float64 // figures that are one, as n
	Fields []Detail           // of request
	List   []Column
}

// ViewClock is a clock of a run. Stamps on it are given since Origin.
type ViewClock struct {
	Name   string
	Wall   bool
	Origin int64 // ns

	own bool // each request has its own: there is no time that they share
}

// Column is a column of numbers, NaN where a value is null; or with Text, of
// texts: Values[Codes[i]], null where the code is -1.
type Column struct {
	Name   string
	Text   bool
	Floats []float64
	Codes  []int32
	Values []string
}

// Detail is one column of a single request.
type Detail struct {
	Name  string
	Text  string  // of a text
	Value float64 // of a number; NaN: a text
	Unit  string
	Stamp bool
}

func viewError(msg string) error { return &query.Error{Flag: "view", Msg: msg} }
