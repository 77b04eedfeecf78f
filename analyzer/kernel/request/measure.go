package request

import (
	"servescope/analyzer/metric"
	"servescope/analyzer/stat"
	"servescope/analyzer/trace"
)

// Measure computes one metric of single requests. Values are int64; values
// of quotients are stat.Key of a float.
type Measure struct {
	Name     string
	Quotient bool
	Leaving  bool // belongs to the window of the request's end, not of its start
	Of       func(*Row, *metric.Definition) (int64, metric.Reason)
}

// OfSequence reports whether the measure is about a sequence and not about the
// whole request of several.
func (m *Measure) OfSequence() bool {
	switch m.Name {
	case "tpot", "tpot_from_total", "tpot_after_first_chunk", "tps_request", "tps_decode":
		return true
	}
	return false
}

// FromClient reports whether the measure is about the client whatever side
// gives the latencies.
func (m *Measure) FromClient() bool {
	return m.Name == "client_wait" || m.Name == "ttft_client_from_schedule" || m.Name == "e2e_from_schedule"
}

// Float returns a value of the measure as a number.
func (m *Measure) Float(v int64) float64 {
	if m.Quotient {
		return stat.Unkey(v)
	}
	return float64(v)
}

// Measures are the metrics of single requests, by slot.
var Measures = [...]Measure{
	{Name: "ttft", Of: TTFT},
	{Name: "ttft_client_from_schedule", Of: ttftFromSchedule},
	{Name: "client_wait", Of: clientWait},
	{Name: "first_event", Of: firstEvent},
	{Name: "ttfot", Of: ttfot},
	{Name: "thinking_time", Of: thinkingTime},
	{Name: "tpot", Of: tpot, Quotient: true, Leaving: true},
	{Name: "tpot_from_total", Of: tpotFromTotal, Quotient: true, Leaving: true},
	{Name: "tpot_after_first_chunk", Of: tpotAfterFirstChunk, Quotient: true, Leaving: true},
	{Name: "e2e", Of: E2E, Leaving: true},
	{Name: "e2e_stream_end", Of: e2eStreamEnd, Leaving: true},
	{Name: "e2e_from_schedule", Of: e2eFromSchedule, Leaving: true},
	{Name: "prompt_tokens", Of: promptTokens},
	{Name: "output_tokens", Of: outputTokens, Leaving: true},
	{Name: "cached_tokens", Of: cachedTokens},
	{Name: "tps_request", Of: tpsRequest, Quotient: true, Leaving: true},
	{Name: "tps_e2e", Of: tpsE2E, Quotient: true, Leaving: true},
	{Name: "tps_decode", Of: tpsDecode, Quotient: true, Leaving: true},
	{Name: "computed_tokens", Of: computedTokens},
	{Name: "cached_share", Of: cachedShare, Quotient: true},
	{Name: "reasoning_tokens", Of: reasoningTokens, Leaving: true},
	{Name: "accept_length", Of: acceptLength, Quotient: true, Leaving: true},
	{Name: "accept_rate", Of: acceptRate, Quotient: true, Leaving: true},
	{Name: "preemptions", Of: preemptions, Leaving: true},
	{Name: "ntpot", Of: ntpot, Quotient: true, Leaving: true},
	{Name: "ttft_engine", Of: TTFTEngine},
}

// Slots of measures that code names.
const (
	MeasureTTFT = iota
	measureFromSchedule
	measureClientWait
	measureFirstEvent
	measureTTFOT
	measureThinking
	MeasureTPOT
	measureFromTotal
	measureAfterFirst
	MeasureE2E
	measureStreamEnd

	MeasureTTFTEngine = len(Measures) - 1
)

// MeasureOf returns the slot of a metric of single requests, and the side whose
// rows it is about, -1 for any.
func MeasureOf(name string) (slot int, side trace.Side, ok bool) {
	m, ok := metric.Lookup(name)
	if !ok {
		return 0, 0, false
	}
	switch m.Name {
	case "ttft_client":
		return MeasureTTFT, trace.Client, true
	case "ttft_server":
		return MeasureTTFT, trace.Server, true
	case "ttft_engine":
		return MeasureTTFTEngine, trace.Engine, true
	}
	for i := range Measures {
		if Measures[i].Name == m.Name {
			return i, -1, true
		}
	}
	return 0, 0, false
}

// RowMetric computes a metric of single requests for every row of a view: known
// says which values exist. Values are in base units. A name with a side is known
// for rows of that side only. Where the view has choices, each of the rows of a
// request has the request's value, but the value of its own sequence in metrics of pace.
type RowMetric func(name string, v *View, values []float64, known []bool)

// Column returns the metrics of single requests under def, as filters need them.
func Column(def *metric.Definition) RowMetric {
	return func(name string, v *View, values []float64, known []bool) {
		slot, side, ok := MeasureOf(name)
		m := &Measures[slot]
		at := v.reader()
		for i := range v.Rows {
			values[i], known[i] = 0, false
			w := at(i)
			if !ok || side >= 0 && w.Side != side {
				continue
			}
			q := w
			if !m.OfSequence() {
				q = w.Request()
			}
			number, why := m.Of(q, def)
			if known[i] = why == metric.None; known[i] {
				values[i] = m.Float(number)
			}
		}
	}
}
