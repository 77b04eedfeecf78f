package table

import (
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
)

// derived are the latencies of a request as reports compute them: their mean
// over the column is the report's. They are null for requests that are in no
// latency of a report: failed, aborted, not streamed.
var derived = []column{
	{trace.Field{Name: "ttft_ns", Type: trace.Int64, Unit: unit.Nanosecond,
		Doc: "metric ttft of the report: time to first token; null where the report leaves the request out"},
		func(t *Table, dst *trace.Batch, c trace.Col, b *trace.Batch) { dst.SetInts(c, t.latencies(b).ttft) }},
	{trace.Field{Name: "e2e_ns", Type: trace.Int64, Unit: unit.Nanosecond,
		Doc: "metric e2e of the report: end-to-end latency"},
		func(t *Table, dst *trace.Batch, c trace.Col, b *trace.Batch) { dst.SetInts(c, t.latencies(b).e2e) }},
	{trace.Field{Name: "tpot_ns", Type: trace.Float64, Unit: unit.NSPerToken,
		Doc: "metric tpot of the report: time per output token after the first"},
		func(t *Table, dst *trace.Batch, c trace.Col, b *trace.Batch) { dst.SetFloats(c, t.latencies(b).tpot) }},
}

// latencies are the derived columns of one batch.
type latencies struct {
	ttft, e2e trace.Ints
	tpot      trace.Floats
}
