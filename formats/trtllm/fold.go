package trtllm

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
	"servescope/formats/internal/assemble"
	"servescope/formats/internal/numx"
	"servescope/formats/internal/records"
)

func cut(path string) (string, bool) { return strings.CutPrefix(path, "perf_metrics.") }

// fold makes rows of records. It has no state but memory.
type fold struct {
	*records.Writer
	step *records.Fields
	gaps []int64

	iterations iterations
	apart      bool // the steps of the record at hand may count from another zero than its request
}

// Line implements records.Fold.
func (f *fold) Line(_ []byte, at int64) { f.Skip(notJSON, at) }

// End implements records.Fold.
func (f *fold) End() {
	slices.SortFunc(f.iterations.list, func(a, b step) int {
		return cmp.Or(cmp.Compare(a.till, b.till), cmp.Compare(a.rank, b.rank), cmp.Compare(a.offset, b.offset))
	})
}

// Object implements records.Fold.
func (f *fold) Object(v *records.Fields, text []byte, at int64) {
	switch {
	case v.Has(disArrival) || has(v, prefiller) || has(v, decoder):
		f.disaggregated(v, at)
		f.Parsed("disaggregated request")
	case has(v, own):
		f.request(v, text, at)
		f.Parsed("request")
	case v.Has(ranked) && (bytes.Contains(text, []byte(`"step_metrics"`)) || bytes.Contains(text, []byte(`"ctx_chunk_metrics"`))):
		f.events(v, text, at)
	default:
		f.Skip(notARecord, at)
	}
}

// has reports whether a record has stamps of its executor.
func has(v *records.Fields, base int) bool {
	return v.Has(base+arrival) || v.Has(base+firstToken) || v.Has(base+serverArrival)
}

// stamp is a point in time. 0 is none: the field was never set.
func stamp(v *records.Fields, slot int) (int64, bool) {
	t, ok := v.Span(slot, numx.Second)
	return t, ok && t > 0
}

func (f *fold) set(v *records.Fields, c trace.Col, slot int) {
	if t, ok := stamp(v, slot); ok {
		f.Builder.Int(c, t)
	}
}

// begin sets what the rows of a record share; base is -1 where it has none of its
// own.
func (f *fold) begin(v *records.Fields, side trace.Side, key []byte, base int) {
	b := f.Builder
	b.Code(trace.SideCol, int32(side))
	if len(key) > 0 {
		b.Text(trace.JoinGroup, key)
	}
	name := key
	if base >= 0 && len(v.Text(base+id)) > 0 {
		name = v.Text(base + id)
	}
	if len(name) > 0 {
		b.Text(trace.RequestID, name)
	}
	b.Code(trace.StatusCol, int32(ended(v)))
	if base < 0 {
		return
	}
	for _, c := range [...]struct {
		slot int
		col  trace.Col
	}{{drafted, trace.SpecDrafted}, {accepted, trace.SpecAccepted}} {
		if n, ok := v.Count(base + c.slot); ok {
			b.Int(c.col, n)
		}
	}
}

// ended returns how a record says that its request has ended. Those of v1.x say
// that they are complete.
func ended(v *records.Fields) trace.Status {
	for _, word := range [...]string{"", "ok", "success", "complete", "completed"} {
		if v.Is(status, word) {
			return trace.OK
		}
	}
	if v.Is(status, "cancelled") || v.Is(status, "aborted") {
		return trace.Aborted
	}
	return trace.Failed
}

// engine sets the stamps of an executor.
func (f *fold) engine(v *records.Fields, base int) {
	f.set(v, trace.Queued, base+arrival)
	f.set(v, trace.Admitted, base+scheduled)
	f.set(v, trace.FirstToken, base+firstToken)
	f.set(v, trace.LastToken, base+lastToken)
}

// request makes the rows of a request of one server.
func (f *fold) request(v *records.Fields, text []byte, at int64) {
	b := f.Builder
	key := v.Text(id)
	n := f.steps(v, text)
	f.iterate(text, -1, at, f.apart)
	if v.Has(drafted) {
		n = 0
	}
	if received, ok := stamp(v, serverArrival); ok {
		f.begin(v, trace.Server, key, own)
		b.Int(trace.Received, received)
		f.set(v, trace.Queued, arrival)
		f.set(v, trace.Admitted, scheduled)
		f.set(v, trace.PrefillEnd, firstToken)
		f.first(v, at)
		f.count(n)
		f.EndRow(at)
	}
	f.begin(v, trace.Engine, key, own)
	f.engine(v, own)
	f.count(n)
	if f.Lists && len(f.gaps) > 0 {
		b.List(trace.ChunkGaps, f.gaps)
	}
	f.EndRow(at)
	for _, c := range [...]struct {
		slot int
		key  string
	}{{gpuForward, "ctx_gpu_forward_time"}, {gpuSample, "ctx_gpu_sample_time"}} {
		if d, ok := v.Span(c.slot, numx.Millisecond); ok && d >= 0 {
			f.Claim(c.key, "", unit.Nanosecond, float64(d), 0)
		}
	}
}

func (f *fold) count(n int64) {
	if n > 0 {
		f.Builder.Int(trace.OutputTokens, n)
		f.Builder.Code(trace.OutputTokensSource, int32(trace.FromChunks))
	}
}

// first sets when the first token was at the server. Where that is no earlier than
// the last one at the executor, the response was not streamed.
func (f *fold) first(v *records.Fields, at int64) {
	b := f.Builder
	first, ok := stamp(v, serverFirst)
	if !ok {
		return
	}
	last, ended := stamp(v, lastToken)
	begun, timed := stamp(v, firstToken)
	if ended && timed && last > begun && first >= last {
		f.Note(notStreamed, at)
		b.Bool(trace.Stream, false)
		b.Int(trace.Finished, first)
		return
	}
	b.Int(trace.FirstToken, first)
}

// steps reads the steps of a request into gaps, and returns how many tokens they
// and the prefill made, 0 where that is unknown. The steps are those of decoding,
// behind the first token, which the last part of the prefill made; its stamp is of
// their clock, which may be another than that of the request.
func (f *fold) steps(v *records.Fields, text []byte) int64 {
	f.gaps = f.gaps[:0]
	f.apart = true
	var from, last int64
	n := int64(0)
	whole := true
	take := func(element []byte, _ int) {
		t, ok := int64(0), f.step.Read(element)
		if ok {
			t, ok = stamp(f.step, 0)
		}
		if !ok {
			whole = false
			return
		}
		if last > 0 {
			f.gaps = append(f.gaps, t-last)
		} else {
			from = t
		}
		last = t
		n++
		for slot, key := range [...]string{1: "gpu_forward_time", 2: "gpu_sample_time"} {
			if d, ok := f.step.Span(slot, numx.Millisecond); ok && slot > 0 && d >= 0 {
				f.Claim(key, "", unit.Nanosecond, float64(d), 0)
			}
		}
	}
	records.Elements(text, "step_metrics", take)
	if !whole || n == 0 {
		f.gaps = f.gaps[:0]
		return 0
	}
	if end, ok := stamp(v, lastToken); ok && max(end-last, last-end) <= sameClock {
		f.apart = false
	}
	first, known := stamp(v, firstToken)
	if known && first == from { // the steps begin with that of the prefill
		return n
	}
	if t, ok := f.prefilled(text); ok {
		first = t
	} else if f.apart {
		first = 0
	}
	if first > 0 && first < from {
		f.gaps = slices.Insert(f.gaps, 0, from-first)
	} else {
		f.gaps = f.gaps[:0]
	}
	return n + 1
}

// sameClock is how far apart the last step and the last token may be stamped, in ns.
const sameClock = int64(50e6)

// prefilled returns when the last part of the prefill made the first token.
func (f *fold) prefilled(text []byte) (t int64, ok bool) {
	records.Elements(text, "ctx_chunk_metrics", func(element []byte, _ int) {
		if ok = f.step.Read(element); ok {
			t, ok = stamp(f.step, 0)
		}
	})
	return t, ok
}

// disaggregated makes the rows of a request that two servers have served.
func (f *fold) disaggregated(v *records.Fields, at int64) {
	b := f.Builder
	key := v.Text(diskey)
	if len(key) == 0 {
		if key = v.Text(prefiller + id); len(key) == 0 {
			key = v.Text(decoder + id)
		}
	}
	key = append([]byte(nil), key...)
	if received, ok := stamp(v, disArrival); ok {
		f.begin(v, trace.Proxy, key, -1)
		b.Dict(trace.ClockCol, []byte("monotonic/disagg"))
		b.Int(trace.Received, received)
		f.set(v, trace.Dispatched, disDispatch)
		f.set(v, trace.FirstToken, disFirst)
		f.EndRow(at)
	}
	if has(v, prefiller) {
		f.begin(v, trace.Prefill, key, prefiller)
		b.Dict(trace.ClockCol, []byte("monotonic/ctx"))
		f.set(v, trace.Queued, prefiller+arrival)
		f.set(v, trace.Admitted, prefiller+scheduled)
		f.set(v, trace.PrefillEnd, prefiller+firstToken)
		f.EndRow(at)
	}
	if has(v, decoder) {
		f.begin(v, trace.Decode, key, decoder)
		b.Dict(trace.ClockCol, []byte("monotonic/gen"))
		f.engine(v, decoder)
		f.transfer(v)
		f.EndRow(at)
	}
}

// transfer sets what the decode node waited for: the KV cache on its way, and
// itself before and behind that.
func (f *fold) transfer(v *records.Fields) {
	from, began := stamp(v, decoder+kvStart)
	till, ended := stamp(v, decoder+kvEnd)
	if !began || !ended {
		return
	}
	f.Builder.Int(trace.DKVTransfer, till-from)
	queued, ok := stamp(v, decoder+arrival)
	if admitted, known := stamp(v, decoder+scheduled); ok && known {
		f.Builder.Int(trace.DDecodeQueue, from-queued+admitted-till)
	}
}

var (
	notJSON = &assemble.Problem{Code: "bad_json", Severity: diag.DataLoss,
		Msg: "a line is not a JSON object and was skipped"}
	notARecord = &assemble.Problem{Code: "not_a_record", Severity: diag.DataLoss,
		Msg: "an object has no timing_metrics of a request and was skipped"}
	notStreamed = &assemble.Problem{Code: "not_streamed", Severity: diag.Notice,
		Msg: "the server's first token is no earlier than the executor's last one: the response was not streamed, and has no TTFT at the server"}
)
