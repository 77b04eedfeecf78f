// Package dynamo reads the request trace of NVIDIA Dynamo's frontend
// (dynamo.request.trace.v1, 2026): an object per event, as JSON lines, bare or as
// its recorder wraps them ({"timestamp":…,"event":{…}}). Those at the end of
// requests become rows; events of tools carry no tokens.
//
// The receipt is on the frontend's wall clock, in whole ms; the rest are durations
// of a monotonic one, in ms.
//
//	request_received_ms   received
//	ttft_ms               receipt to the first token
//	total_time_ms         receipt to the end
//	prefill_wait_time_ms  receipt to the start of the prefill: d_queue, with what
//	                      tokenisation and dispatch took
//	prefill_time_ms       start of the prefill to the first token: d_prefill
//	avg_itl_ms            of the tokens after the first; reported only
//	kv_transfer_estimated_latency_ms  an estimate; reported only
//
// What the two parts leave of TTFT may be negative, and is shown. There is no stamp
// of the last token, so there is no TPOT: total_time_ms ends with the request.
package dynamo

import (
	"context"
	"strconv"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
	"servescope/formats"
	"servescope/formats/internal/assemble"
	"servescope/formats/internal/numx"
	"servescope/formats/internal/records"
)

// Format is the format's entry in formats/all.
var Format = formats.Format{
	Name:     "dynamo",
	Title:    "request trace of NVIDIA Dynamo (dynamo.request.trace.v1)",
	Priority: 96,
	Shape:    formats.Ordered,
	Sniff:    sniff,
	Open: func(ctx context.Context, src formats.Source, _ formats.Range, opt formats.Options) (formats.Reader, error) {
		return records.Open(ctx, src, opt, &dialect)
	},
}

func sniff(h *formats.Head) (formats.Score, string) {
	return records.Sniff(h, func(keys records.Keys) (formats.Score, string) {
		if keys.Has("event_type", "event_time_unix_ms") {
			return formats.Sure, "an event with event_time_unix_ms"
		}
		k, ok := formats.Find(keys, "event")
		if ok && k.Kind == formats.Object && keys.Has("timestamp") && len(keys) == 2 {
			return formats.Likely, "an object of timestamp and event"
		}
		return formats.No, "no event with event_time_unix_ms"
	})
}

const (
	kind = iota
	id
	clientID
	model
	prompt
	output
	cached
	received
	wait
	prefill
	ttft
	total
	itl
	transfer
	hitRate
	prefillWorker
	decodeWorker
	decodeRank
	finish
)

// members are those of an event.
var members = map[string]int{
	"event_type": kind, "request.request_id": id, "request.x_request_id": clientID, "request.model": model,
	"request.input_tokens": prompt, "request.output_tokens": output, "request.cached_tokens": cached,
	"request.request_received_ms": received, "request.prefill_wait_time_ms": wait, "request.prefill_time_ms": prefill,
	"request.ttft_ms": ttft, "request.total_time_ms": total, "request.avg_itl_ms": itl,
	"request.kv_transfer_estimated_latency_ms": transfer, "request.kv_hit_rate": hitRate,
	"request.worker.prefill_worker_id": prefillWorker, "request.worker.decode_worker_id": decodeWorker, "request.worker.decode_dp_rank": decodeRank,
	"request.finish_reason_metadata.finish_reason": finish,
}

var dialect = records.Dialect{
	Name: "dynamo",
	Run: trace.RunMeta{Engine: "dynamo", Side: trace.Server, Clock: trace.Clock{Kind: trace.Wall},
		Notes: []string{"queue_from_receipt: prefill_wait_time_ms begins at the receipt, so tokenisation and dispatch are in the queue"}},
	Fields: fields(),
	New:    func(w *records.Writer) records.Fold { return &fold{w} },
	HowTo:  "the trace has request_end events where Dynamo runs with its request trace enabled",
}

// fields are the members of an event, bare and wrapped.
func fields() map[string]int {
	out := make(map[string]int)
	for path, slot := range members {
		out[path], out["event."+path] = slot, slot
	}
	return out
}

// fold makes rows of requests. It has no state.
type fold struct{ *records.Writer }

// Line implements records.Fold.
func (f *fold) Line(_ []byte, at int64) { f.Skip(notJSON, at) }

// End implements records.Fold.
func (f *fold) End() {}

// Object implements records.Fold.
func (f *fold) Object(v *records.Fields, _ []byte, at int64) {
	switch {
	case !v.Has(kind):
		f.Skip(notAnEvent, at)
		return
	case !v.Is(kind, "request_end"):
		f.Noise()
		return
	}
	b := f.Builder
	f.identity(v)
	start, placed := v.Span(received, numx.Millisecond)
	if placed && start > 0 {
		b.Int(trace.Resolution, 1e6)
	} else {
		b.Dict(trace.ClockCol, []byte(trace.RequestClock.String()))
		start = 0
	}
	b.Int(trace.Received, start)
	f.times(v, start, at)
	f.EndRow(at)
	f.Parsed("request")
}

// identity sets who the request is, its lengths and how it ended.
func (f *fold) identity(v *records.Fields) {
	b := f.Builder
	for _, slot := range [...]int{clientID, id} {
		if name := v.Text(slot); len(name) > 0 {
			b.Text(trace.RequestID, name)
			break
		}
	}
	if name := v.Text(model); len(name) > 0 {
		b.Dict(trace.Model, name)
	}
	worker := v.Text(decodeWorker)
	if rank, ok := v.Count(decodeRank); ok && len(worker) > 0 {
		worker = strconv.AppendInt(append(worker[:len(worker):len(worker)], "/dp"...), rank, 10)
	}
	if len(worker) > 0 {
		b.Dict(trace.Replica, worker)
	}
	for _, c := range [...]struct {
		slot int
		col  trace.Col
	}{{prompt, trace.PromptTokens}, {cached, trace.CachedTokens}, {output, trace.OutputTokens}} {
		if n, ok := v.Count(c.slot); ok {
			b.Int(c.col, n)
		}
	}
	status := trace.OK
	if n, ok := v.Count(output); ok {
		b.Code(trace.OutputTokensSource, int32(trace.FromServer))
		if n == 0 {
			status = trace.Empty
		}
	}
	if why := v.Text(finish); len(why) > 0 {
		b.Dict(trace.FinishReason, why)
		switch {
		case v.Is(finish, "error"):
			status = trace.Failed
		case v.Is(finish, "cancelled"), v.Is(finish, "abort"):
			status = trace.Aborted
		}
	}
	b.Code(trace.StatusCol, int32(status))
}

const day = int64(86400e9)

// span is a duration in ms. One that is negative or longer than a day is unknown,
// except for the parts, which are shown as they are.
func (f *fold) span(v *records.Fields, slot int, at int64) (int64, bool) {
	d, ok := v.Span(slot, numx.Millisecond)
	if ok && (d < 0 || d > day) {
		f.Note(impossible, at)
		return 0, false
	}
	return d, ok
}

// times sets what the frontend measured.
func (f *fold) times(v *records.Fields, start, at int64) {
	b := f.Builder
	whole, ended := f.span(v, total, at)
	if ended {
		b.Int(trace.Finished, start+whole)
	}
	first, known := f.span(v, ttft, at)
	if known && first > 0 {
		b.Int(trace.FirstToken, start+first)
		b.Bool(trace.Stream, true)
	}
	for _, c := range [...]struct {
		slot int
		col  trace.Col
	}{{wait, trace.DQueue}, {prefill, trace.DPrefill}} {
		if d, ok := f.span(v, c.slot, at); ok {
			b.Int(c.col, d)
		}
	}
	if d, ok := f.span(v, itl, at); ok {
		f.Claim("avg_itl_ms", "tpot", unit.Nanosecond, float64(d), 0)
	}
	if d, ok := f.span(v, transfer, at); ok {
		f.Claim("kv_transfer_estimated_latency_ms", "", unit.Nanosecond, float64(d), 0)
	}
	if r, ok := v.Number(hitRate); ok {
		f.Claim("kv_hit_rate", "", unit.Ratio, r, 0)
	}
}

var (
	notJSON = &assemble.Problem{Code: "bad_json", Severity: diag.DataLoss,
		Msg: "a line is not a JSON object and was skipped"}
	notAnEvent = &assemble.Problem{Code: "not_an_event", Severity: diag.DataLoss,
		Msg: "an object has no event_type and was skipped"}
	impossible = &assemble.Problem{Code: "impossible_duration", Severity: diag.Notice,
		Msg: "a duration is negative or longer than a day: it counts as unknown"}
)
