package kernel

import (
	"servescope/analyzer/metric"
	"servescope/analyzer/stat"
	"servescope/analyzer/trace"
)

// measure computes one metric of single requests. Values are int64: those of
// quotients are stat.Key of a float.
type measure struct {
	name     string
	quotient bool
	leaving  bool // belongs to the window of the request's end, not of its start
	of       func(*row, *metric.Definition) (int64, metric.Reason)
}

// measures are the metrics of single requests, by slot.
var measures = [...]measure{
	{name: "ttft", of: ttft},
	{name: "ttft_client_from_schedule", of: ttftFromSchedule},
	{name: "client_wait", of: clientWait},
	{name: "first_event", of: firstEvent},
	{name: "ttfot", of: ttfot},
	{name: "thinking_time", of: thinkingTime},
	{name: "tpot", of: tpot, quotient: true, leaving: true},
	{name: "tpot_from_total", of: tpotFromTotal, quotient: true, leaving: true},
	{name: "tpot_after_first_chunk", of: tpotAfterFirstChunk, quotient: true, leaving: true},
	{name: "e2e", of: e2e, leaving: true},
	{name: "e2e_stream_end", of: e2eStreamEnd, leaving: true},
	{name: "e2e_from_schedule", of: e2eFromSchedule, leaving: true},
	{name: "prompt_tokens", of: promptTokens},
	{name: "output_tokens", of: outputTokens, leaving: true},
	{name: "cached_tokens", of: cachedTokens},
	{name: "tps_request", of: tpsRequest, quotient: true, leaving: true},
	{name: "tps_e2e", of: tpsE2E, quotient: true, leaving: true},
	{name: "tps_decode", of: tpsDecode, quotient: true, leaving: true},
	{name: "computed_tokens", of: computedTokens},
	{name: "cached_share", of: cachedShare, quotient: true},
	{name: "reasoning_tokens", of: reasoningTokens, leaving: true},
	{name: "accept_length", of: acceptLength, quotient: true, leaving: true},
	{name: "accept_rate", of: acceptRate, quotient: true, leaving: true},
	{name: "preemptions", of: preemptions, leaving: true},
	{name: "ntpot", of: ntpot, quotient: true, leaving: true},
	{name: "ttft_engine", of: ttftEngine},
}

// Slots of measures that code names.
const (
	slotTTFT = iota
	slotFromSchedule
	slotClientWait
	slotFirstEvent
	slotTTFOT
	slotThinking
	slotTPOT
	slotFromTotal
	slotAfterFirst
	slotE2E
	slotStreamEnd

	slotEngine = len(measures) - 1
)

// slotOf returns the slot of a metric of single requests, and the side whose
// rows it is about, -1 for any.
func slotOf(name string) (slot int, side trace.Side, ok bool) {
	m, ok := metric.Lookup(name)
	if !ok {
		return 0, 0, false
	}
	switch m.Name {
	case "ttft_client":
		return slotTTFT, trace.Client, true
	case "ttft_server":
		return slotTTFT, trace.Server, true
	case "ttft_engine":
		return slotEngine, trace.Engine, true
	}
	for i := range measures {
		if measures[i].name == m.Name {
			return i, -1, true
		}
	}
	return 0, 0, false
}

// ttft is what a user sees: stamps of the engine and of its nodes never stand
// in for those of the server or the client.
func ttft(w *row, def *metric.Definition) (int64, metric.Reason) {
	if why := w.seen(def); why != metric.None {
		return 0, why
	}
	return w.toFirst(def)
}

func ttftEngine(w *row, def *metric.Definition) (int64, metric.Reason) {
	if why := w.cohort(def); why != metric.None {
		return 0, why
	}
	if w.side < trace.Engine {
		return 0, metric.NotRecorded
	}
	return w.toFirst(def)
}

// seen tells why a request takes no part in latencies that begin where it came
// in from outside.
func (w *row) seen(def *metric.Definition) metric.Reason {
	why := w.cohort(def)
	if why == metric.None && w.side >= trace.Engine {
		why = metric.NotRecorded
	}
	return why
}

// toFirst returns the time to the first token at the row's own side, of a
// request of the cohort.
func (w *row) toFirst(def *metric.Definition) (int64, metric.Reason) {
	if why := w.least(def); why != metric.None {
		return 0, why
	}
	end, why := w.mark(metric.AtFirst, def)
	if why != metric.None {
		return 0, why
	}
	return between(w.start, end)
}

// waited returns the wait inside the client.
func (w *row) waited() (int64, metric.Reason) {
	switch {
	case w.wait == none && (w.scheduled == none || w.side != trace.Client):
		return 0, metric.NotRecorded
	case w.wait == none:
		return between(w.scheduled, w.start)
	case w.wait < 0:
		return 0, metric.Order
	}
	return w.wait, metric.None
}

func clientWait(w *row, def *metric.Definition) (int64, metric.Reason) {
	if why := w.cohort(def); why != metric.None {
		return 0, why
	}
	return w.waited()
}

// plusWait adds the wait inside the client to a latency.
func (w *row) plusWait(v int64, why metric.Reason) (int64, metric.Reason) {
	wait, other := w.waited()
	if why == metric.None {
		why = other
	}
	return v + wait, why
}

func ttftFromSchedule(w *row, def *metric.Definition) (int64, metric.Reason) {
	return w.plusWait(ttft(w, def))
}

func e2eFromSchedule(w *row, def *metric.Definition) (int64, metric.Reason) {
	return w.plusWait(e2e(w, def))
}

func firstEvent(w *row, def *metric.Definition) (int64, metric.Reason) {
	if why := w.seen(def); why != metric.None {
		return 0, why
	}
	if w.stream == 0 {
		return 0, metric.NotStreamed
	}
	return between(w.start, w.event)
}

func ttfot(w *row, def *metric.Definition) (int64, metric.Reason) {
	if why := w.seen(def); why != metric.None {
		return 0, why
	}
	end, why := w.answerFor(def)
	if why != metric.None {
		return 0, why
	}
	return between(w.start, end)
}

func thinkingTime(w *row, def *metric.Definition) (int64, metric.Reason) {
	end, why := w.answerFor(def)
	if why != metric.None {
		return 0, why
	}
	return between(w.token, end)
}

// answerFor returns the first answer token of a streamed request of the cohort.
func (w *row) answerFor(def *metric.Definition) (int64, metric.Reason) {
	switch why := w.cohort(def); {
	case why != metric.None:
		return 0, why
	case w.status == trace.Empty:
		return 0, metric.NoToken
	case w.stream == 0:
		return 0, metric.NotStreamed
	}
	return w.answered()
}

func e2e(w *row, def *metric.Definition) (int64, metric.Reason) {
	if why := w.cohort(def); why != metric.None {
		return 0, why
	}
	return between(w.start, w.end(def))
}

func e2eStreamEnd(w *row, def *metric.Definition) (int64, metric.Reason) {
	if why := w.cohort(def); why != metric.None && w.status != trace.Empty {
		return 0, why
	}
	return between(w.start, w.finish)
}

func promptTokens(w *row, def *metric.Definition) (int64, metric.Reason) {
	return counted(w.asked(def), w.prompt, metric.NotRecorded)
}

func cachedTokens(w *row, def *metric.Definition) (int64, metric.Reason) {
	if w.asked(def) == metric.None && w.overCached() {
		return 0, metric.Inconsistent
	}
	return counted(w.asked(def), w.cached, metric.NotRecorded)
}

// asked tells why a request takes no part in metrics of its prompt, which is
// there whether or not a token came back.
func (w *row) asked(def *metric.Definition) metric.Reason {
	if w.status == trace.Empty {
		return metric.None
	}
	return w.cohort(def)
}

// overCached reports whether more of the prompt is said to be cached than there
// is.
func (w *row) overCached() bool { return w.prompt != none && w.cached > w.prompt }

func outputTokens(w *row, def *metric.Definition) (int64, metric.Reason) {
	return counted(w.cohort(def), w.tokens(def), w.uncounted(def))
}

func counted(why metric.Reason, n int64, unknown metric.Reason) (int64, metric.Reason) {
	switch {
	case why != metric.None:
		return 0, why
	case n == none || n < 0:
		return 0, unknown
	}
	return n, metric.None
}

func tpsRequest(w *row, def *metric.Definition) (int64, metric.Reason) {
	v, why := tpot(w, def)
	if why != metric.None {
		return 0, why
	}
	if v == 0 {
		return 0, metric.NoSpan
	}
	return stat.Key(1e9 / stat.Unkey(v)), metric.None
}

func tpsE2E(w *row, def *metric.Definition) (int64, metric.Reason) {
	d, why := e2e(w, def)
	n := w.tokens(def)
	switch {
	case why != metric.None:
	case n == none || n < 0:
		why = w.uncounted(def)
	case d == 0:
		why = metric.NoSpan
	default:
		return stat.Key(float64(n) * 1e9 / float64(d)), metric.None
	}
	return 0, why
}

// tpsDecode is about tokens under every definition.
func tpsDecode(w *row, def *metric.Definition) (int64, metric.Reason) {
	d, n, why := w.decoding(def)
	switch {
	case why != metric.None:
	case d == 0:
		why = metric.NoSpan
	default:
		return stat.Key(float64(n-1) * 1e9 / float64(d)), metric.None
	}
	return 0, why
}

// decoding returns the time from the first token to the last, and N.
func (w *row) decoding(def *metric.Definition) (d, n int64, why metric.Reason) {
	if why = w.cohort(def); why != metric.None {
		return 0, 0, why
	}
	if w.beam {
		return 0, 0, metric.Beam
	}
	if w.stream == 0 {
		return 0, 0, metric.NotStreamed
	}
	if n = w.tokens(def); n == none {
		return 0, 0, w.uncounted(def)
	}
	if n < 2 {
		return 0, 0, metric.NLessThan2
	}
	if d, why = between(or(w.token, w.event), w.last); why == metric.NotRecorded {
		d, why = w.measured(w.last)
	}
	return d, n, why
}

// RowMetric computes a metric of single requests for every row of a view: known
// says which values exist. Values are in base units. A name with a side is known
// for rows of that side only. Where the view has choices, each of the rows of a
// request has the request's value, but that of its own sequence in metrics of pace.
type RowMetric func(name string, v *View, values []float64, known []bool)

// Column returns the metrics of single requests under def, as filters need them.
func Column(def *metric.Definition) RowMetric {
	return func(name string, v *View, values []float64, known []bool) {
		slot, side, ok := slotOf(name)
		m := &measures[slot]
		at := v.reader()
		for i := range v.Rows {
			values[i], known[i] = 0, false
			w := at(i)
			if !ok || side >= 0 && w.side != side {
				continue
			}
			q := w
			if !m.ofSequence() {
				q = w.request()
			}
			number, why := m.of(q, def)
			if known[i] = why == metric.None; known[i] {
				values[i] = m.float(number)
			}
		}
	}
}

// reader returns what reads single rows of v: those that are read once for all, where
// the view has memory for them.
func (v *View) reader() func(i int) *row {
	if v.Memory != nil {
		if v.share(); v.read != nil {
			return func(i int) *row { return &v.read[i] }
		}
	}
	r, w := rowsOf(v), new(row)
	return func(i int) *row {
		*w = r.at(i)
		return w
	}
}

// float returns a value of the measure as a number.
func (m *measure) float(v int64) float64 {
	if m.quotient {
		return stat.Unkey(v)
	}
	return float64(v)
}
