package rates

import (
	"testing"

	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/kerneltest"
	"servescope/analyzer/metric"
	"servescope/analyzer/query"
	"servescope/analyzer/trace"
)

// TestOccupancy: r1 is admitted at 50 and decodes in [100, 900) with a stall of
// 200; r2 is admitted at 400 and decodes in [500, 1000); W = [0, 1000] ms.
func TestOccupancy(t *testing.T) {
	a, b := kerneltest.Streamed(0, 81, 100, 900), kerneltest.Streamed(0, 26, 500, 1000)
	a.Admitted, a.Stall, b.Admitted, b.Preempted = 50, 200, 400, 0
	c := kerneltest.Cell(t, New(metric.Default), &query.Query{}, kerneltest.WallMeta(), a, b)
	kerneltest.Value(t, c, "batch_decode", 1.3)
	kerneltest.Value(t, c, "batch_decode_active", 1.1)
	kerneltest.Value(t, c, "batch_running", 0.85+0.6)

	// The prefill that the engine measured stands in for a stamp of admission.
	a.Admitted, a.Prefill = -1, 50
	c = kerneltest.Cell(t, New(metric.Default), &query.Query{}, kerneltest.WallMeta(), a, b)
	kerneltest.Value(t, c, "batch_running", 0.85+0.6)
	a.Prefill = -1
	c = kerneltest.Cell(t, New(metric.Default), &query.Query{}, kerneltest.WallMeta(), a, b)
	kerneltest.Value(t, c, "batch_running", 0.6)
	kerneltest.Saying(t, c, "the admission of 1 sequence is not recorded", "batch_running")
	b.Admitted = -1
	kerneltest.NoRate(t, kerneltest.Cell(t, New(metric.Default), &query.Query{}, kerneltest.WallMeta(), a, b), "batch_running", "not_recorded")

	// A preempted sequence that does not tell its stalls makes them unknown.
	b.Preempted = 1
	kerneltest.NoRate(t, kerneltest.Cell(t, New(metric.Default), &query.Query{}, kerneltest.WallMeta(), a, b), "batch_decode_active", "not_recorded")
}

// TestRunningBeforeDecoding: a sequence that is admitted at 500 and decodes in
// [2100, 2300) runs in windows of time that hold none of its tokens.
func TestRunningBeforeDecoding(t *testing.T) {
	a := kerneltest.Streamed(0, 3, 2100, 2300)
	a.Admitted = 500
	out := kerneltest.Run(t, []kernel.Kernel{New(metric.Default)}, &query.Query{Window: 1000 * kerneltest.MS}, []kerneltest.View{{B: kerneltest.Build(kerneltest.WallMeta(), a)}}, kerneltest.Whole)
	kerneltest.Value(t, out.Cell(0, -1, kernel.NoWindow), "batch_running", 1800.0/2300)
	kerneltest.Value(t, out.Cell(0, -1, 0), "batch_running", 0.5)
	kerneltest.Value(t, out.Cell(0, -1, 1000*kerneltest.MS), "batch_running", 1)
	kerneltest.Value(t, out.Cell(0, -1, 2000*kerneltest.MS), "batch_running", 1)
}

// TestStallsHaveNoPlace: the whole run knows the sum of the stalls, windows that
// share a sequence do not, and neither does an interval that cuts it.
func TestStallsHaveNoPlace(t *testing.T) {
	a, b := kerneltest.Streamed(0, 81, 100, 900), kerneltest.Streamed(1000, 26, 1500, 2000)
	a.Stall, b.Stall = 200, 0
	out := kerneltest.Run(t, []kernel.Kernel{New(metric.Default)}, &query.Query{Window: 500 * kerneltest.MS}, []kerneltest.View{{B: kerneltest.Build(kerneltest.WallMeta(), a, b)}}, kerneltest.Whole)
	kerneltest.Value(t, out.Cell(0, -1, kernel.NoWindow), "batch_decode_active", (1300-200)/2000.0)
	kerneltest.NoRate(t, out.Cell(0, -1, 0), "batch_decode_active", "preempted")
	kerneltest.NoRate(t, out.Cell(0, -1, 500*kerneltest.MS), "batch_decode_active", "preempted")
	kerneltest.Value(t, out.Cell(0, -1, 1500*kerneltest.MS), "batch_decode_active", 1)
	for _, to := range []int64{600, 950} {
		q := &query.Query{From: &query.Instant{NS: 0}, To: &query.Instant{NS: to * kerneltest.MS}}
		c := kerneltest.Cell(t, New(metric.Default), q, kerneltest.WallMeta(), a, b)
		if to < 900 {
			kerneltest.NoRate(t, c, "batch_decode_active", "preempted")
		} else {
			kerneltest.Value(t, c, "batch_decode_active", 600.0/950)
		}
	}
}

// TestBatchOfMeasuredDecode: spans have no stamp of the last token but the decode
// time of the engine, which gives B, TPOT in the model and the time of tokens.
func TestBatchOfMeasuredDecode(t *testing.T) {
	r := kerneltest.Of(trace.OK)
	r.Side, r.First, r.Finish, r.N, r.Decode = trace.Server, 200, 530, 11, 300
	c := kerneltest.Cell(t, New(metric.Default), &query.Query{}, kerneltest.WallMeta(), r)
	kerneltest.Value(t, c, "batch_decode", 300.0/500)
	kerneltest.Value(t, c, "tpot_weighted", 30*float64(kerneltest.MS))
	kerneltest.Value(t, c, "tps_total_model", 20)
	kerneltest.Value(t, c, "identity_ratio", 10.0/11)
	out := kerneltest.Run(t, []kernel.Kernel{New(metric.Default)}, &query.Query{Window: 250 * kerneltest.MS}, []kerneltest.View{{B: kerneltest.Build(kerneltest.WallMeta(), r)}}, kerneltest.Whole)
	kerneltest.Value(t, out.Cell(0, -1, 0), "batch_decode", 50.0/250)
	kerneltest.Value(t, out.Cell(0, -1, 0), "tps", 2/0.25)                 // tokens at 200, 230, 260, …, 500
	kerneltest.Value(t, out.Cell(0, -1, 250*kerneltest.MS), "tps", 8/0.25) // the last one begins a window of no length
}
