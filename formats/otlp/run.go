package otlp

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
)

// runKey tells runs apart: a file may hold the spans of several engines and
// deployments.
type runKey struct {
	engine, service string
	side            trace.Side
}

// maxRuns is how many runs are told apart. The rest is the last one.
const maxRuns = 64

// run holds the requests and figures of one service of one engine.
type run struct {
	meta     trace.RunMeta
	rows     *trace.Builder
	any      bool          // it has had a row
	engines  [2]generation // of vLLM
	releases between       // of SGLang, by the names of its slices

	lag      int64 // sum over requests of the end of the span less its finish
	lags     int64
	reported [slots]total // what is not used otherwise
	calls    bool         // of models, as clients and servers of any kind trace them
	pd       bool         // a node of a disaggregated deployment
	steps    bool         // some request has decode steps

	engine     engineSteps
	engineRows *trace.Builder // of the steps table, once the requests are complete
}

type total struct{ n, sum int64 }

// run returns the run of an engine's spans from one place.
func (f *fold) run(engine string, from *place, scope string, s *span) *run {
	return f.runOf(runKey{engine: engine, side: trace.Server}, from, scope, s)
}

func (f *fold) runOf(key runKey, from *place, scope string, s *span) *run {
	if from.resource != nil {
		key.service = from.resource.service
	}
	if f.latest != nil && f.latestKey == key {
		return f.latest
	}
	r := f.byName[key]
	if r == nil && len(f.runs) < maxRuns {
		r = &run{rows: trace.NewBuilder(trace.Requests)}
		r.meta = trace.RunMeta{Key: int64(len(f.runs)), Format: name, Engine: key.engine, Side: key.side}
		r.config("service.name", key.service)
		r.config("scope", scope)
		if from.resource != nil {
			r.config("telemetry.sdk.version", from.resource.sdk)
		}
		f.runs = append(f.runs, r)
		f.byName[key] = r
	}
	if r == nil {
		r = f.runs[maxRuns-1]
		f.note(&probManyRuns, s.offset)
	}
	f.latest, f.latestKey = r, key
	return r
}

func (r *run) config(key, value string) {
	if value != "" {
		r.meta.Config = append(r.meta.Config, trace.Pair{Key: key, Value: value})
	}
}

// claim adds a duration that the producer states and that is in no column.
func (r *run) claim(k slot, s *span) {
	if v, ok := s.number(k); ok && v >= 0 && v < limit(s) {
		r.reported[k].n++
		r.reported[k].sum += v
	}
}

// claims names the means that a run reports.
var claims = []struct {
	slot        slot
	key, metric string
}{
	{inScheduler, "gen_ai.latency.time_in_scheduler", ""},
	{inForward, "gen_ai.latency.time_in_model_forward", ""},
	{inExecute, "gen_ai.latency.time_in_model_execute", ""},
	{inPrefill, "ttft_after_dispatch", ""}, // what SGLang calls time_in_model_prefill
	{perToken, "gen_ai.server.time_per_output_token", "tpot"},
}

// finish completes the description of a run once all spans have been read.
func (r *run) finish() {
	m := &r.meta
	switch m.Engine {
	case "vllm":
		m.Version = versions(&r.engines)
	case "sglang":
		m.Version = r.releases.String()
	}
	for _, c := range claims {
		if t := r.reported[c.slot]; t.n > 0 {
			m.Reported = append(m.Reported, trace.Reported{Key: c.key, Metric: c.metric, Stat: "mean", Value: float64(t.sum) / float64(t.n), Unit: unit.Nanosecond})
		}
	}
	note := func(when bool, format string, args ...any) {
		if when {
			m.Notes = append(m.Notes, fmt.Sprintf(format, args...))
		}
	}
	note(r.lag > r.lags && m.Engine != "sglang", "span_end: a span ends when its last output was processed, here %d ns after the request's latency on average; the request ends with its latency", r.lag/max(r.lags, 1))
	note(m.Engine == "vllm", "finished_only: aborted and rejected requests leave no span, and exporters drop spans under load; without the server's log the coverage is unknown")
	note(r.engines[0].any, "arrival_after_input: the V0 engine stamps the arrival behind tokenisation, so d_input lies outside of these times")
	note(r.engines[1].any && r.engines[1].scopes.first < 16_00, "arrival_maybe_after_input: V1 engines up to about v0.10 stamp the arrival behind tokenisation; then input lies outside of these times")
	note(r.reported[inScheduler].n+r.reported[inForward].n+r.reported[inExecute].n > 0, "whole_request: time_in_scheduler, _model_forward and _model_execute are of the whole request and are no parts of its TTFT")
	note(r.steps, "gaps_are_steps: chunk gaps are the times between the ends of decode steps in the scheduler, not between chunks sent; first_token is stamped by the frontend")
	note(r.reported[inPrefill].n > 0, "ttft_after_dispatch: what SGLang calls time_in_model_prefill runs from the dispatch to the first token, queueing included; what vLLM calls so does not")
	note(r.calls, "model_calls: spans of the semantic conventions; chunks with a role, the finish or the usage alone are among those of a stream, and the end of a span is that of the stream: without a stamp of the last token there is no TPOT")
	note(r.pd, "node_level: rows of prefill and decode nodes; join_group is the bootstrap room that they share")
	if !r.any {
		m.NoRequests = "the file holds spans of this service, but none of a whole request"
	}
}

// finish completes the runs.
func (f *fold) finish() {
	if f.done {
		return
	}
	f.done = true
	if len(f.runs) == 0 {
		f.runs = append(f.runs, f.none())
	}
	for _, r := range f.runs {
		r.finish()
	}
}

// none is the run of a file without any request.
func (f *fold) none() *run {
	r := &run{meta: trace.RunMeta{Format: name, Side: trace.Server}, rows: trace.NewBuilder(trace.Requests), any: true}
	what := "no spans"
	if f.account.Noise > 0 {
		kinds := slices.Sorted(maps.Keys(f.account.Kinds))
		what = "spans of other kinds only (" + strings.Join(kinds, ", ") + ")"
	}
	r.meta.NoRequests = "the file holds " + what + "; start vLLM with --otlp-traces-endpoint, or SGLang with --enable-trace"
	return r
}
