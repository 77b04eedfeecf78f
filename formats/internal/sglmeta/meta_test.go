package sglmeta

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"servescope/analyzer/trace"
)

// read gives the columns of the row that values make, and the codes of problems.
// Each word of meta and params is key=value.
func read(t *testing.T, m *Meta, meta, params string) (map[string]any, []string) {
	t.Helper()
	for _, w := range strings.Fields(meta) {
		k, v, _ := strings.Cut(w, "=")
		m.Set([]byte(k), []byte(v))
	}
	for _, w := range strings.Fields(params) {
		k, v, _ := strings.Cut(w, "=")
		m.Param([]byte(k), []byte(v))
	}
	b := trace.NewBuilder(trace.Requests)
	var codes []string
	m.Row(b, func(p *Problem) { codes = append(codes, p.Code) })
	b.EndRow()
	batch := b.Take(&trace.RunMeta{}, "")
	row := make(map[string]any)
	for c := range trace.Requests.Fields {
		f, col := &trace.Requests.Fields[c], trace.Col(c)
		switch f.Type {
		case trace.Int64:
			if v, ok := batch.Ints(col).At(0); ok {
				row[f.Name] = v
			}
		case trace.Bool:
			if v, ok := batch.Bools(col).At(0); ok {
				row[f.Name] = v
			}
		case trace.Text:
			if v, ok := batch.Texts(col).At(0); ok {
				row[f.Name] = string(v)
			}
		case trace.Dict:
			if v, ok := batch.Dicts(col).At(0); ok {
				row[f.Name] = batch.Dicts(col).Values[v]
			}
		}
	}
	return row, codes
}

func check(t *testing.T, got map[string]any, codes []string, want map[string]any, wantCodes ...string) {
	t.Helper()
	if !maps.Equal(got, want) {
		t.Errorf("row\n%v, want\n%v", got, want)
	}
	if !slices.Equal(codes, wantCodes) {
		t.Errorf("problems %v, want %v", codes, wantCodes)
	}
}

// The record of the reference: received 480900, dispatch 483900, forward entry
// 487400, queue 410, prefill finished 560100, sent 563300 µs: the stages are input
// 3000, ingress 3090, queue 410, prefill 72700 and egress 3200, together 82400.
func TestAllStagesV0512(t *testing.T) {
	row, codes := read(t, new(Meta), `id=r1 finish_reason.type=length prompt_tokens=5 num_retractions=0
		forward_entry_time=1780315200.4874 prefill_finished_time=1780315200.5601 queue_time=0.00041 reasoning_tokens=0
		completion_tokens=32 cached_tokens=2 cached_tokens_details.device=2 cached_tokens_details.host=0 dp_rank=null
		e2e_latency=0.6209 request_received_ts=1780315200.4809 api_server_dispatch_finish_ts=1780315200.4839
		response_sent_to_client_ts=1780315200.5633 request_finished_ts=1780315201.1018 decode_throughput=57.56`, "rid=r1 stream=true")
	const at = int64(1780315200_000000000)
	check(t, row, codes, map[string]any{
		"resolution": int64(238), "request_id": "r1", "status": "ok", "finish_reason": "length", "stream": true,
		"prompt_tokens": int64(5), "output_tokens": int64(32), "output_tokens_source": "server", "reasoning_tokens": int64(0),
		"cached_tokens": int64(2), "cached_device": int64(2), "cached_host": int64(0), "preemptions": int64(0),
		"received": at + 480900000, "dispatched": at + 483900000, "queued": at + 486990000, "admitted": at + 487400000,
		"prefill_end": at + 560100000, "first_token": at + 563300000, "last_token": at + 1101800000, "finished": at + 1101800000,
		"d_queue": int64(410000),
	})
	stages := []int64{3000, 3090, 410, 72700, 3200}
	bounds := []string{"received", "dispatched", "queued", "admitted", "prefill_end", "first_token"}
	for i, want := range stages {
		if d := row[bounds[i+1]].(int64) - row[bounds[i]].(int64); d != want*1000 {
			t.Errorf("%s to %s: %d ns, want %d µs", bounds[i], bounds[i+1], d, want)
		}
	}
}

// A real record: aborted by the server's time limit, its first forward pass never
// stamped.
func TestAbortWithImpossibleInferenceTime(t *testing.T) {
	row, codes := read(t, new(Meta), `id=bf finish_reason.type=abort finish_reason.message=Request finish_reason.status_code=503 finish_reason.err_type=None
		prompt_tokens=32472 total_retractions=0 queue_time=0.0 prefill_waiting_latency=None prefill_launch_latency=None
		reasoning_tokens=23297 completion_tokens=23297 cached_tokens=32320 e2e_latency=1201.9242150001228
		request_received_ts=1779262962.6408873 api_server_dispatch_finish_ts=1779262962.8541057
		response_sent_to_client_ts=1779262965.4523866 request_finished_ts=1779264164.565102 inference_time=26520974.380779333`, "stream=True")
	check(t, row, codes, map[string]any{
		"resolution": int64(238), "request_id": "bf", "status": "aborted", "finish_reason": "abort", "error_class": "http_503", "abort_phase": "decode", "stream": true,
		"prompt_tokens": int64(32472), "output_tokens": int64(23297), "output_tokens_source": "server", "reasoning_tokens": int64(23297),
		"cached_tokens": int64(32320), "preemptions": int64(0),
		"received": int64(1779262962640887300), "dispatched": int64(1779262962854105700),
		"first_token": int64(1779262965452386600), "finished": int64(1779264164565102000),
		// Without the forward pass's stamp there is one entry from dispatch to the first chunk.
		"merged_leaves": "ingress+queue+prefill+egress", "d_merged": int64(1779262965452386600 - 1779262962854105700),
	}, "inference_time_rejected")
}

func TestP51NullNaNAndSeconds(t *testing.T) {
	row, codes := read(t, new(Meta), `id=a queue_time=0.01 prefill_launch_latency=null e2e_latency=1.2 request_received_ts=1767225600.25 spec_accept_rate=NaN`, "rid=a stream=true")
	check(t, row, codes, map[string]any{
		"resolution": int64(238), "request_id": "a", "status": "ok", "stream": true, "received": int64(1767225600250000000), "d_queue": int64(10_000_000),
		"finished": int64(1767225601450000000), "last_token": int64(1767225601450000000),
	})
}

// TestEndsByLatency: of two ends and e2e_latency, any two give the third.
func TestEndsByLatency(t *testing.T) {
	m := new(Meta)
	whole := map[string]any{"resolution": int64(238), "request_id": "a", "status": "ok", "received": int64(1767225600250000000),
		"finished": int64(1767225602750000000), "last_token": int64(1767225602750000000)}
	row, codes := read(t, m, `id=a e2e_latency=2.5 request_received_ts=1767225600.25`, "rid=a")
	check(t, row, codes, whole)
	row, codes = read(t, m, `id=a e2e_latency=2.5 request_finished_ts=1767225602.75`, "rid=a")
	check(t, row, codes, whole)
	row, codes = read(t, m, `id=a e2e_latency=9 request_received_ts=1767225600.25 request_finished_ts=1767225602.75`, "rid=a")
	check(t, row, codes, whole)
}

func TestP58PerfCounterIsNoEpoch(t *testing.T) {
	row, codes := read(t, new(Meta), `id=a completion_tokens=2 request_received_ts=412345.678 request_finished_ts=412346.250`, "stream=true")
	check(t, row, codes, map[string]any{
		"request_id": "a", "status": "ok", "clock": "monotonic", "stream": true, "output_tokens": int64(2), "output_tokens_source": "server",
		"received": int64(412345678000000), "finished": int64(412346250000000), "last_token": int64(412346250000000),
	}, "perf_counter_stamp")
	row, codes = read(t, new(Meta), `id=a completion_tokens=2 request_received_ts=1767225600.5 forward_entry_time=412346.250`, "stream=true")
	check(t, row, codes, map[string]any{
		"resolution": int64(238), "request_id": "a", "status": "ok", "stream": true, "output_tokens": int64(2), "output_tokens_source": "server",
		"received": int64(1767225600500000000),
	}, "perf_counter_stamp")
}

func TestRetractedRequestsHaveNoQueueStamp(t *testing.T) {
	for _, meta := range []string{"queue_time=-3.5 num_retractions=0", "queue_time=0.2 num_retractions=1"} {
		row, _ := read(t, new(Meta), `id=a completion_tokens=2 request_received_ts=1767225600.5 api_server_dispatch_finish_ts=1767225600.6 forward_entry_time=1767225600.9 `+meta, "stream=true")
		if _, ok := row["queued"]; ok || row["d_queue"] != nil || row["admitted"] != int64(1767225600900000000) ||
			row["merged_leaves"] != "ingress+queue" || row["d_merged"] != int64(300_000_000) {
			t.Errorf("%s: %v", meta, row)
		}
	}
	row, codes := read(t, new(Meta), `id=a queue_time=-3.5 request_received_ts=1767225600.5`, "stream=true")
	if row["d_queue"] != int64(-3_500_000_000) || !slices.Equal(codes, []string{"negative_queue_time"}) {
		t.Errorf("a negative queue time of no stage is kept, with its reason: %v %v", row, codes)
	}
}

func TestFirstChunkOfAnswersThatAreNotStreamed(t *testing.T) {
	for params, code := range map[string]string{"stream=False": "not_streamed", "": "stream_unknown"} {
		row, codes := read(t, new(Meta), `id=a completion_tokens=2 request_received_ts=1767225600.5 response_sent_to_client_ts=1767225601.5`, params)
		if row["first_token"] != nil || row["first_event"] != int64(1767225601500000000) || !slices.Equal(codes, []string{code}) {
			t.Errorf("%q: %v %v", params, row, codes)
		}
	}
}

// TestMergedStages: of the older generations some stages are known together only.
// Received .5, dispatched .6, queue .05, prefill finished .8, first chunk .9 s.
func TestMergedStages(t *testing.T) {
	const at = "id=a completion_tokens=2 request_received_ts=1767225600.5 queue_time=0.05 "
	for _, c := range []struct {
		meta, params, leaves string
		ms                   int64
	}{
		{at + "request_sent_to_scheduler_ts=1767225600.6 prefill_finished_ts=1767225600.8 response_sent_to_client_ts=1767225600.9", "stream=true", "ingress+prefill+egress", 250},
		{at + "request_sent_to_scheduler_ts=1767225600.6 prefill_finished_ts=1767225600.8 response_sent_to_client_ts=1767225600.9 cached_tokens_details=None", "stream=true", "ingress+prefill", 150},
		{at + "request_scheduled_ts=1767225600.6 response_sent_ts=1767225600.9", "stream=true", "input+ingress+prefill+egress", 350},
		{at + "request_sent_to_scheduler_ts=1767225600.6 response_sent_to_client_ts=1767225600.9 total_retractions=1", "stream=true", "ingress+queue+prefill+egress", 300},
	} {
		row, codes := read(t, new(Meta), c.meta, c.params)
		if row["merged_leaves"] != c.leaves || row["d_merged"] != c.ms*1_000_000 || len(codes) > 0 {
			t.Errorf("%s: %v of %v, want %d ms of %s %v", c.meta, row["d_merged"], row["merged_leaves"], c.ms, c.leaves, codes)
		}
	}
	if row, _ := read(t, new(Meta), at+"request_sent_to_scheduler_ts=1767225600.6 response_sent_to_client_ts=1767225600.9", "stream=false"); row["d_merged"] != nil || row["d_queue"] != int64(50_000_000) {
		t.Errorf("not streamed: %v", row)
	}
}

// The tokenizer's stamp until v0.5.6 and the scheduler's in v0.5.9 have one name.
func TestPrefillFinishedByVersion(t *testing.T) {
	const g2 = "id=a completion_tokens=2 request_received_ts=1767225600.5 request_sent_to_scheduler_ts=1767225600.6 prefill_finished_ts=1767225600.8 "
	for extra, want := range map[string]any{"": nil, "cached_tokens_details=null": int64(1767225600800000000), "cached_tokens_details.device=2": int64(1767225600800000000)} {
		if row, _ := read(t, new(Meta), g2+extra, "stream=true"); row["prefill_end"] != want {
			t.Errorf("%q: prefill_end %v, want %v", extra, row["prefill_end"], want)
		}
	}
}

func TestSentinelsAndEmpty(t *testing.T) {
	row, codes := read(t, new(Meta), `id=a completion_tokens=0 request_received_ts=-1 request_finished_ts=0 cached_tokens=-1`, "")
	check(t, row, codes, map[string]any{"request_id": "a", "status": "empty", "output_tokens": int64(0), "output_tokens_source": "server"}, "unknown_stamp")
}

// Without --enable-metrics there is e2e_latency and the time of the line.
func TestLineStamps(t *testing.T) {
	m := &Meta{Finished: Stamp{1767225600_000000000, 1e9, true}, Received: Stamp{1767225599_000000000, 1e9, true}}
	row, codes := read(t, m, `id=a completion_tokens=2 e2e_latency=0.25`, "")
	check(t, row, codes, map[string]any{"request_id": "a", "status": "ok", "output_tokens": int64(2), "output_tokens_source": "server",
		"received": int64(1767225599_750000000), "finished": int64(1767225600_000000000)}, "coarse_finish")
	m.Reset()
	m.Finished, m.Received = Stamp{1767225600_000000000, 1e9, true}, Stamp{1767225599_000000000, 1e9, true}
	row, codes = read(t, m, `id=a completion_tokens=2`, "")
	check(t, row, codes, map[string]any{"request_id": "a", "status": "ok", "output_tokens": int64(2), "output_tokens_source": "server",
		"received": int64(1767225599_000000000), "finished": int64(1767225600_000000000), "resolution": int64(1e9)})
}

func TestSince(t *testing.T) {
	for text, want := range map[string]string{
		"api_server_dispatch_finish_ts=1780315200.4839":                             "v0.5.12",
		"api_server_dispatch_finish_ts=1780315200.4839 prefill_launch_latency=None": "v0.5.10",
		"request_sent_to_scheduler_ts=1780315200.4839 prefill_launch_latency=0.1":   "v0.5.5",
		"response_sent_ts=1780315200.4839":                                          "v0.5.5",
		"e2e_latency=1":                                                             "",
	} {
		m := new(Meta)
		read(t, m, text, "")
		if m.Since() != want {
			t.Errorf("%s: %q, want %q", text, m.Since(), want)
		}
	}
}

// Until v0.3 the reason is a text, which may quote a stop string of the user.
func TestFinishReasonQuotesNothing(t *testing.T) {
	m := new(Meta)
	m.Set([]byte("finish_reason"), []byte("FINISH_MATCHED_STR: secret"))
	if row, _ := read(t, m, "id=a completion_tokens=2", ""); row["finish_reason"] != "FINISH_MATCHED_STR" || row["status"] != "ok" {
		t.Error(row)
	}
	m.Reset()
	if row, _ := read(t, m, "id=a finish_reason=FINISH_ABORT", ""); row["status"] != "aborted" {
		t.Error(row)
	}
}

func TestHealthCheck(t *testing.T) {
	for id, want := range map[string]bool{"HEALTH_CHECK_1": true, "17_HEALTH_CHECK_1": true, "abc": false} {
		if HealthCheck([]byte(id)) != want {
			t.Errorf("%q: not %v", id, want)
		}
	}
}

// TestValuesWithoutColumn: what no column holds is named, unless it is null.
func TestValuesWithoutColumn(t *testing.T) {
	var m Meta
	_, codes := read(t, &m, "id=a finish_reason.type=stop prefill_delay=0.1 prefill_latency=0.2 forward_time=0.3 time_per_token=0.01 request_received_ts=1780315200.5", "stream=true")
	if !slices.Contains(codes, "unused_values") {
		t.Errorf("problems %v", codes)
	}
	m.Reset()
	if _, codes = read(t, &m, "id=a finish_reason.type=stop prefill_waiting_latency=None prefill_launch_latency=None request_received_ts=1780315200.5", "stream=true"); slices.Contains(codes, "unused_values") {
		t.Errorf("problems %v", codes)
	}
}
