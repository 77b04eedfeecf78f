package goodput

import (
	"testing"

	"servescope/analyzer/kernel/kerneltest"
	"servescope/analyzer/metric"
	"servescope/analyzer/query"
	"servescope/analyzer/report"
	"servescope/analyzer/trace"
)

// TestVerdicts: met, missed, not applicable and unknown by condition, and aborted
// requests counted in both ways.
func TestVerdicts(t *testing.T) {
	piece := kerneltest.Streamed(0, 20, 100, 200) // in one piece: neither TTFT nor TPOT
	piece.Stream = 0
	slow := kerneltest.Of(trace.Open) // its TTFT is missed already, its TPOT may become anything
	slow.First = 3000
	waiting := kerneltest.Of(trace.Open)
	failed, aborted, empty := kerneltest.Of(trace.Failed), kerneltest.Of(trace.Aborted), kerneltest.Of(trace.Empty)
	rows := []kerneltest.Request{
		kerneltest.Streamed(0, 11, 100, 200), kerneltest.Streamed(0, 11, 100, 200), // met, met
		kerneltest.Streamed(0, 1, 100),        // met, not applicable
		kerneltest.Streamed(0, 11, 600, 700),  // missed, met
		kerneltest.Streamed(0, 11, 600, 5000), // missed, missed
		piece, slow, waiting, failed, aborted, aborted, empty,
	}
	q := &query.Query{SLO: []query.Limit{{Metric: "ttft_client", Max: 500 * kerneltest.MS}, {Metric: "tpot", Max: 50 * kerneltest.MS}}}
	g := kerneltest.Cell(t, New(metric.Default), q, kerneltest.WallMeta(), rows...).Goodput
	want := []report.Condition{
		{Limit: "ttft_client=500ms", Side: "client", Met: 3, Missed: 3, NotApplicable: 0, Unknown: 1},
		{Limit: "tpot=50ms", Side: "client", Met: 3, Missed: 1, NotApplicable: 1, Unknown: 2},
	}
	if len(g.Conditions) != 2 || g.Conditions[0] != want[0] || g.Conditions[1] != want[1] {
		t.Errorf("%+v, want %+v", g.Conditions, want)
	}
	// Of all but the waiting one 3 are good, 1 cannot be judged.
	if g.Denominator != 11 || g.Good != 3 || g.Unknown != 1 || g.Missed != 7 || g.Aborts != "missed" || g.MissedBy["aborted"] != 2 {
		t.Errorf("%+v", g)
	}
	if g.Share.Known || g.ShareLow.V != 3.0/11 || g.ShareHigh.V != 4.0/11 {
		t.Errorf("share %+v to %+v", g.ShareLow, g.ShareHigh)
	}
	if x := g.Beside; x == nil || x.Denominator != 9 || x.ShareLow.V != 3.0/9 || x.ShareHigh.V != 4.0/9 {
		t.Errorf("without aborts: %+v", x)
	}
	q.ExcludeAborts = true
	e := kerneltest.Cell(t, New(metric.Default), q, kerneltest.WallMeta(), rows...).Goodput
	if e.Denominator != 9 || e.Good != 3 || e.Unknown != 1 || e.Missed != 5 || e.Aborts != "exclude" || e.MissedBy["aborted"] != 0 || e.ShareLow.V != 3.0/9 {
		t.Errorf("%+v", e)
	}
	if x := e.Beside; x == nil || x.Denominator != 11 || x.ShareLow.V != 3.0/11 {
		t.Errorf("with aborts: %+v", x)
	}
	if x := kerneltest.Cell(t, New(metric.Default), q, kerneltest.WallMeta(), rows[:3]...).Goodput; x.Beside != nil || !x.Share.Known {
		t.Errorf("nothing was aborted: %+v", x)
	}
	// Bounds that agree as printed are one figure: 4999 and 5000 of 10^8.
	v := &verdicts{good: 4999, unknown: 1, missed: 1e8 - 5000}
	if share, low, high := shares(v, 1e8); !share.Known || low.V == high.V {
		t.Errorf("%+v, %+v to %+v", share, low, high)
	}
}
