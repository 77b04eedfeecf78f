package request

import (
	"servescope/analyzer/metric"
	"servescope/analyzer/stat"
	"servescope/analyzer/trace"
)

// Latencies computes latencies of single requests by the functions that fill
// reports: a column of an export is never a second opinion. A request without a
// value in the report has none here.
type Latencies struct {
	rows Rows
	def  *metric.Definition
	row  Row
}

// LatenciesOf returns the latencies of the rows of b, a batch of requests, under
// def. The batch must not change while they are used.
func LatenciesOf(b *trace.Batch, def *metric.Definition) *Latencies {
	if b.Run == nil {
		unnamed := *b
		unnamed.Run = new(trace.RunMeta)
		b = &unnamed
	}
	return &Latencies{rows: rowsOf(&View{Batch: b}), def: def}
}

// Load makes row i the one that the other methods are about.
func (l *Latencies) Load(i int) { l.row = l.rows.At(i) }

// TTFT returns ttft in ns.
func (l *Latencies) TTFT() (int64, bool) {
	v, why := TTFT(&l.row, l.def)
	return v, why == metric.None
}

// E2E returns e2e in ns.
func (l *Latencies) E2E() (int64, bool) {
	v, why := E2E(&l.row, l.def)
	return v, why == metric.None
}

// TPOT returns tpot in ns per token.
func (l *Latencies) TPOT() (float64, bool) {
	v, why := tpot(&l.row, l.def)
	if why != metric.None {
		return 0, false
	}
	return stat.Unkey(v), true
}
