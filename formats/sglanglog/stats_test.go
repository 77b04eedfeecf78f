package sglanglog

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/internal/linelog"
	"servescope/formats/source"
	"servescope/testdata/generate/shapes"
)

// TestP55: a request that one node prefills and another decodes: on the decode
// node 9 + 11 + 400 + 1 ms pass before it goes on, of which 400 are a wait for the
// prefill node, that took 30 ms of queue and 365 for prefill and transfer. The 400
// contain these and are never added to them; both rows name the room they share.
func TestP55(t *testing.T) {
	res := readText(t, `[2026-03-01 09:00:01 DP0 TP0] ReqTimeStats(rid=p, bootstrap_room=42, input_len=100, cached_input_len=0, output_len=1, attempts=0, type=prefill): bootstrap_duration=18.00ms, queue_duration=30.00ms, forward_duration=365.00ms, entry_time=1772355600.000
[2026-03-01 09:00:02 DP0 TP0] ReqTimeStats(rid=d, bootstrap_room=42, input_len=100, cached_input_len=0, output_len=11, attempts=0, type=decode): bootstrap_duration=9.00ms, alloc_wait_duration=11.00ms, transfer_duration=400.00ms, queue_duration=1.00ms, forward_duration=100.00ms, entry_time=1772355600.000
`, given)
	const ms = int64(1_000_000)
	start := at("09:00:00")
	check(t, "row", res.requests,
		fmt.Sprintf("admitted=%d cached_tokens=0 d_merged=%d d_queue=%d d_resolution=10000 finished=%d join_group=42 merged_leaves=prefill+kv_transfer output_tokens=1 output_tokens_source=server preemptions=0 prompt_tokens=100 queued=%d received=%d replica=0 request_id=p resolution=1000000 side=prefill status=ok",
			start+48*ms, 365*ms, 30*ms, start+413*ms, start+18*ms, start),
		fmt.Sprintf("admitted=%d cached_tokens=0 d_decode=%d d_decode_queue=%d d_merged=%d d_resolution=10000 finished=%d first_token=%d join_group=42 last_token=%d merged_leaves=queue+prefill+kv_transfer output_tokens=11 output_tokens_source=server preemptions=0 prompt_tokens=100 queued=%d received=%d replica=0 request_id=d resolution=1000000 side=decode status=ok",
			start+421*ms, 100*ms, 21*ms, 400*ms, start+521*ms, start+421*ms, start+521*ms, start, start))
}

// TestP58: the start of v0.5.3–v0.5.11 counts from the host's boot; it is no date.
func TestP58(t *testing.T) {
	res := readText(t, "[2026-03-01 09:00:01] Req Time Stats(rid=a, input len=1, output len=2, type=unified): queue_duration=12.00ms, forward_duration=880.10ms, start_time=412345.678\n"+
		"[2026-03-01 09:00:02] Receive: obj=GenerateReqInput(rid='b', stream=True, received_time=412346.250)\n"+
		"Receive: obj=GenerateReqInput(rid='c', stream=True, received_time=412346.250)\n", given)
	if len(res.requests) != 3 {
		t.Fatal(res.requests)
	}
	a, b, c := res.requests[0], res.requests[1], res.requests[2]
	if a["clock"] != "monotonic" || a["queued"] != int64(412345_678_000_000) || a["finished"] != int64(412346_570_100_000) {
		t.Errorf("a: %v", a)
	}
	if b["clock"] != nil || b["received"] != at("09:00:02") || c["clock"] != "monotonic" || c["received"] != int64(412346_250_000_000) {
		t.Errorf("b: %v, c: %v", b, c)
	}
}

// TestTimeStatsStyles reads the numbers of every punctuation.
func TestTimeStatsStyles(t *testing.T) {
	for body, want := range map[string]map[int]float64{ // ms, or s of start
		"queue_duration=12.34ms, forward_duration=245.67ms, start_time=812345.118":                                                                                                        {statQueue: 12.34, statForward: 245.67, statStart: 812345118},
		"bootstrap_duration=1.50ms, queue_duration=2.00ms, forward_duration=3.00ms, start_time=5.000":                                                                                     {statBootstrap: 1.5, statQueue: 2, statForward: 3, statStart: 5000},
		"bootstrap_queue_duration(5.00ms) = alloc_wait(1.00ms) + bootstrap(3.00ms) + other(1.00ms); queue_duration=2.00ms, forward_duration=3.00ms, start=5.000, transfer_speed=1.23GB/s": {statBootstrapQueue: 5, statAllocWait: 1, statBootstrap: 3, statOther: 1, statQueue: 2, statForward: 3, statStart: 5000},
		"bootstrap_queue_duration(5.00ms) queue_duration=2.00ms, forward_duration=3.00ms, start=5.000":                                                                                    {statBootstrapQueue: 5, statQueue: 2, statForward: 3, statStart: 5000},
		"bootstrap_queue_duration(5.00ms) = bootstrap(3.00ms) + alloc_wait(2.00ms); queue_duration=2.00ms, forward_duration=3.00ms, start=5.000":                                          {statBootstrapQueue: 5, statBootstrap: 3, statAllocWait: 2, statQueue: 2, statForward: 3, statStart: 5000},
		"prealloc_queue_duration(2.00ms) transfer_duration=80.00ms; queue_duration=50.00ms, forward_duration=900.00ms, start=5.000":                                                       {statPreallocQueue: 2, statTransfer: 80, statQueue: 50, statForward: 900, statStart: 5000},
		"prealloc_queue_duration(4.00ms) = alloc_wait(1.00ms) + bootstrap(2.00ms) + other(1.00ms); transfer_duration=8.00ms; queue_duration=5.00ms, forward_duration=9.00ms, start=5.000": {statPreallocQueue: 4, statAllocWait: 1, statBootstrap: 2, statOther: 1, statTransfer: 8, statQueue: 5, statForward: 9, statStart: 5000},
		"prealloc_duration=4.00ms, transfer_duration=8.00ms, queue_duration=5.00ms, forward_duration=9.00ms, start_time=5.000":                                                            {statPrealloc: 4, statTransfer: 8, statQueue: 5, statForward: 9, statStart: 5000},
		"bootstrap_duration=9.05ms, alloc_wait_duration=11.50ms, transfer_duration=22297.77ms, queue_duration=0.71ms, forward_duration=1321.16ms, entry_time=7.500":                       {statBootstrap: 9.05, statAllocWait: 11.5, statTransfer: 22297.77, statQueue: 0.71, statForward: 1321.16, statEntry: 7500},
	} {
		s, ok := parse(t, "ReqTimeStats(rid=r, bootstrap_room=3, input_len=4, cached_input_len=1, output_len=5, attempts=2, type=prefill): "+body)
		got := make(map[int]float64)
		for stat := statQueue; stat < statEnd; stat++ {
			if s.has(stat) {
				got[stat] = float64(s.value(stat)) / 1e6
			}
		}
		if !ok || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s:\n got %v\nwant %v", body, got, want)
		}
		if string(s.rid) != "r" || string(s.room) != "3" || string(s.kind) != "prefill" || s.value(statInput) != 4 || s.value(statCachedInput) != 1 || s.value(statOutput) != 5 || s.value(statAttempts) != 2 {
			t.Errorf("%s: head %+v", body, s)
		}
	}
	for _, line := range []string{"ReqTimeStats(rid=r, input_len=4", "ReqTimeStats()", "Req Time Stats(rid=, type=unified): x", "ReqTimeStats(input_len=4, type=x): "} {
		if _, ok := parse(t, line); ok {
			t.Errorf("%q is torn", line)
		}
	}
}

// parse reads one line of time stats; ok is false where it is not whole.
func parse(t *testing.T, line string) (s stats, ok bool) {
	t.Helper()
	r, err := linelog.Open(t.Context(), source.FromBytes("x", []byte(line+"\n")), formats.Whole, given, table, new(trace.RunMeta),
		func(*linelog.Log) linelog.Fold { return capture{func(r *linelog.Record) { s, ok = statsOf(r), true }} })
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for r.Next() {
	}
	s.rid, s.room, s.kind = bytes.Clone(s.rid), bytes.Clone(s.room), bytes.Clone(s.kind)
	return s, ok
}

// capture is a fold that hands records on.
type capture struct{ record func(*linelog.Record) }

func (c capture) Record(r *linelog.Record) *linelog.Problem { c.record(r); return nil }
func (capture) Batch(bool) *trace.Batch                     { return nil }
func (capture) End()                                        {}

// TestOneRequestInThreeLines: Receive, Finish and time stats of one request make a
// row of the server and one of the engine, which are not added up.
func TestOneRequestInThreeLines(t *testing.T) {
	res := readText(t, `[2026-03-01 09:00:00] Receive: obj=GenerateReqInput(rid='a', stream=True)
[2026-03-01 09:00:01] ReqTimeStats(rid=a, input_len=1, cached_input_len=0, output_len=2, attempts=0, type=unified): queue_duration=1.00ms, forward_duration=2.00ms, entry_time=1772355600.100
[2026-03-01 09:00:01] Finish: obj=GenerateReqInput(rid='a'), out={'meta_info': {'id': 'a', 'finish_reason': {'type': 'stop'}, 'completion_tokens': 2, 'response_sent_to_client_ts': 1772355600.3, 'request_received_ts': 1772355600.05, 'request_finished_ts': 1772355601.0}}
`, given)
	if len(res.requests) != 2 || res.requests[0]["side"] != "engine" || res.requests[1]["side"] != nil || res.run.Side != trace.Server {
		t.Fatalf("rows %v", res.requests)
	}
	// That the request was streamed only Receive tells.
	if r := res.requests[1]; r["first_token"] != at("09:00:00.3") || r["stream"] != true || res.account.Parsed != 3 {
		t.Errorf("row %v", r)
	}
}

// TestTornRecords: records that end too early are diagnosed, and their requests
// stay open.
func TestTornRecords(t *testing.T) {
	const receive, finish = "[2026-03-01 09:00:00] Receive: obj=GenerateReqInput(rid='a', stream=True)\n", "[2026-03-01 09:00:01] Finish: obj=GenerateReqInput(rid='a', stream=True), out={'meta_info': {'id': 'a', 'completion_tokens': 2}}"
	for n := strings.Index(finish, "obj=") + 4; n < len(finish); n++ {
		res := readText(t, receive+finish[:n]+"\n", given)
		if len(res.requests) != 1 || res.requests[0]["status"] != "open" {
			t.Errorf("%q: %v", finish[:n], res.requests)
		}
	}
}

// BenchmarkRead reads scheduler lines, access lines and request logs, as a busy
// server writes them.
func BenchmarkRead(b *testing.B) {
	var text strings.Builder
	prompt := strings.Repeat("word ", 300)
	for i := range 4000 {
		text.WriteString(prefillLine("03-01 09:00:00", i, "1.0"))
		fmt.Fprintf(&text, "[2026-03-01 09:00:00 TP0] Decode batch, #running-req: %d, #token: 90, token usage: 0.02, cuda graph: True, gen throughput (token/s): 150.00, #queue-req: 1\n", i%100)
		text.WriteString("[2026-03-01 09:00:00] INFO:     127.0.0.1:38310 - \"POST /v1/chat/completions HTTP/1.1\" 200 OK\n")
		fmt.Fprintf(&text, "[2026-03-01 09:00:00] Receive: obj=GenerateReqInput(rid='%032d', text='%s', sampling_params={'max_new_tokens': 32}, stream=True)\n", i, prompt)
		fmt.Fprintf(&text, "[2026-03-01 09:00:01] Finish: obj=GenerateReqInput(rid='%032d', text='%s', sampling_params={'max_new_tokens': 32}, stream=True), out={'text': '%s', 'meta_info': {'id': '%032d', 'finish_reason': {'type': 'length', 'length': 32}, 'prompt_tokens': 5, 'num_retractions': 0, 'forward_entry_time': 1780315200.4874, 'prefill_finished_time': 1780315200.5601, 'queue_time': 0.00041, 'completion_tokens': 32, 'cached_tokens': 2, 'e2e_latency': 0.6209, 'request_received_ts': 1780315200.4809, 'response_sent_to_client_ts': 1780315200.5633, 'request_finished_ts': 1780315201.1018}}\n", i, prompt, prompt, i)
	}
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			b.SetBytes(int64(text.Len()))
			b.ReportAllocs()
			src := source.FromBytes("server.log", []byte(text.String()))
			for b.Loop() {
				if res := bench(b, src, workers); res < 8000 {
					b.Fatal(res)
				}
			}
		})
	}
}

// BenchmarkDense reads scheduler lines, access lines and time stats: a line in which
// every number counts for each 200 bytes.
func BenchmarkDense(b *testing.B) {
	var text bytes.Buffer
	if err := shapes.SGLangLog(&text, shapes.Config{Seed: 1, Count: 50_000, Tokens: 200, Open: 200}); err != nil {
		b.Fatal(err)
	}
	src := source.FromBytes("server.log", text.Bytes())
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			b.SetBytes(int64(text.Len()))
			b.ReportAllocs()
			for b.Loop() {
				if rows := bench(b, src, workers); rows < 100_000 {
					b.Fatal(rows)
				}
			}
		})
	}
}
