package analyzer

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"servescope/analyzer/load"
	"servescope/analyzer/query"
	"servescope/analyzer/report"
)

// TestP57ClockOfADecodeHost: see the same in package join; here the hosts are
// named by their logs, and nothing is corrected.
func TestP57ClockOfADecodeHost(t *testing.T) {
	const base = 1764428000000
	prefill := textFile{name: "prefill.jsonl", text: fmt.Sprintf(`{"request_id":"r","side":"prefill","clock":"wall/a","queued_ms":%d,"admitted_ms":%d,"prefill_done_ms":%d,"output_tokens":1}`+"\n", base+10, base+10, base+310)}
	decode := textFile{name: "decode.jsonl", text: fmt.Sprintf(`{"request_id":"r","side":"decode","clock":"wall/b","queued_ms":%d,"admitted_ms":%d,"token_timestamps_ms":[%d,%d],"output_tokens":2}`+"\n", base-200, base-110, base-40, base-20)}
	run := joined(t, load.Options{Align: true}, &query.Query{}, prefill, decode).Runs[0]
	if run.Requests.Total != 1 || run.Side != "decode" {
		t.Fatalf("%d requests at the %s: a prefill row is in no total", run.Requests.Total, run.Side)
	}
	o := run.Join.Pairs[0].Offset
	if o.Low.Int != 420e6 || o.High.Known || o.N != 1 || run.Join.Pairs[0].Between != nil {
		t.Errorf("offset %+v: the prefill host is ahead by at least 420 ms, and nothing bounds it above", o)
	}
	if m := run.Metrics["ttft_engine"]; m.N != 1 || m.Mean != 160e6 {
		t.Errorf("the decode node's own TTFT is %+v: stamps of two hosts are not subtracted", m)
	}
	if m := run.Metrics["ttft"]; m.N != 0 {
		t.Errorf("TTFT of nodes is that of no request: %+v", m)
	}
}

// TestP55BehindAProxy: a request of 460 ms passes through a prefill and a decode
// node. It is one request, and its first token is that of the proxy.
func TestP55BehindAProxy(t *testing.T) {
	line := func(side, rest string) string {
		return fmt.Sprintf(`{"request_id":"r","side":%q,"clock":"wall",%s}`+"\n", side, rest)
	}
	const base = 1764428000000
	text := line("proxy", fmt.Sprintf(`"arrival_ms":%d,"token_timestamps_ms":[%d,%d],"output_tokens":2,"d_proxy_ms":10`, base, base+460, base+480)) +
		line("prefill", fmt.Sprintf(`"received_ms":%d,"output_tokens":1,"d_prefill_ms":300`, base+10)) +
		line("decode", fmt.Sprintf(`"received_ms":%d,"token_timestamps_ms":[%d,%d],"output_tokens":2,"d_kv_transfer_ms":80,"d_decode_queue_ms":50,"d_first_decode_ms":20`, base+300, base+459, base+479))
	for what, list := range map[string][]textFile{
		"one log":    {{name: "all.jsonl", text: text}},
		"three logs": {{name: "a.jsonl", text: strings.SplitAfter(text, "\n")[0]}, {name: "b.jsonl", text: strings.SplitAfter(text, "\n")[1]}, {name: "c.jsonl", text: strings.SplitAfter(text, "\n")[2]}},
	} {
		run := joined(t, load.Options{}, &query.Query{}, list...).Runs[0]
		if run.Requests.Total != 1 || run.Side != "proxy" || run.Metrics["ttft"].Mean != 460e6 || run.Metrics["ttft"].N != 1 {
			t.Errorf("%s: %d requests at the %s, TTFT %v", what, run.Requests.Total, run.Side, run.Metrics["ttft"].Mean)
		}
		// 2 tokens in 480 ms: the prefill node's is none of the answer.
		if v := run.Throughput.Values["tps"].V; math.Abs(v-2/0.48) > 1e-9 {
			t.Errorf("%s: tps %v", what, v)
		}
		var got []string
		for _, d := range run.Decompositions {
			if d.Of == "ttft" && d.Side == "proxy" {
				for _, e := range d.Tables[0].Entries {
					got = append(got, fmt.Sprintf("%s %v", strings.Join(e.Leaves, "+"), e.Mean.V/1e6))
				}
				got = append(got, fmt.Sprintf("residual %v", d.Tables[0].Residual.Mean.V/1e6))
			}
		}
		if want := "proxy 10, prefill 300, kv_transfer 80, decode_queue 50, first_decode 20, residual 0"; strings.Join(got, ", ") != want {
			t.Errorf("%s: %v, want %s", what, got, want)
		}
	}
}

// TestP55SGLangNodes is the worked example of SGLang's nodes, as their logs tell
// it: the decode node waits 421 ms, 400 of them for the other one.
func TestP55SGLangNodes(t *testing.T) {
	prefill := textFile{name: "prefill.log", text: "[2026-09-24 08:47:50.616 TP0] ReqTimeStats(rid=p1, bootstrap_room=2043453, input_len=40, cached_input_len=0, output_len=1, attempts=0, type=prefill): bootstrap_duration=18.00ms, queue_duration=30.00ms, forward_duration=365.00ms, entry_time=1790239662.267, transfer_speed=0.00 GB/s, transfer_total=0.00 MB\n"}
	decode := textFile{name: "decode.log", text: "[2026-09-24 08:47:52.616 TP0] ReqTimeStats(rid=d1, bootstrap_room=2043453, input_len=40, cached_input_len=0, output_len=19, attempts=0, type=decode): bootstrap_duration=9.00ms, alloc_wait_duration=11.00ms, transfer_duration=400.00ms, queue_duration=1.00ms, forward_duration=1321.16ms, entry_time=1790239662.260\n"}
	run := joined(t, load.Options{}, &query.Query{}, prefill, decode).Runs[0]
	if run.Requests.Total != 1 || run.Side != "decode" || run.Join.Joined != 1 || run.Join.Pairs[0].Rules["join_group"] != 1 {
		t.Fatalf("%d requests at the %s, %+v", run.Requests.Total, run.Side, run.Join)
	}
	i := slices.IndexFunc(run.Decompositions, func(d report.Decomposition) bool { return d.Of == "ttft" })
	if i < 0 {
		t.Fatalf("TTFT is not taken apart: %+v", run.Decompositions)
	}
	d := run.Decompositions[i]
	var got []string
	for _, e := range d.Tables[0].Entries {
		got = append(got, fmt.Sprintf("%s %v", strings.Join(e.Leaves, "+"), e.Mean.V/1e6))
	}
	want := "queue 30, prefill+kv_transfer 365, decode_queue 21"
	if strings.Join(got, ", ") != want || d.Total.V != 421e6 || d.Tables[0].Residual.Mean.V != 5e6 {
		t.Errorf("%v of %v, residual %v; want %s of 421, residual 5", got, d.Total.V/1e6, d.Tables[0].Residual.Mean.V/1e6, want)
	}
	lone := analyze(t, &query.Query{}, prefill).Runs[0]
	if lone.Side != "prefill" || !slices.ContainsFunc(lone.Notes, func(n string) bool { return strings.HasPrefix(n, "node_level: ") }) {
		t.Errorf("the prefill node alone: %s side, notes %q", lone.Side, lone.Notes)
	}
	if v := lone.Throughput.Values["tps"]; v.Known || v.Reason != "node_level" {
		t.Errorf("its tokens per second are %+v: the decode node sends its token", v)
	}
}

// v1Span is a span of vLLM's V1 engine. Times are in ms.
func v1Span(id string, start, queue, prefill, rest, decode, asked, tokens int) string {
	total := queue + prefill + rest
	return fmt.Sprintf(`{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"vllm"}}]},"scopeSpans":[{"scope":{"name":"vllm.llm_engine"},"spans":[{"traceId":"316892c4e298cfae98165ab7397de5e9","spanId":"a344cb0604e5288f","name":"llm_request","kind":2,"startTimeUnixNano":"%d000000","endTimeUnixNano":"%d000000","attributes":[{"key":"gen_ai.latency.time_to_first_token","value":{"doubleValue":%g}},{"key":"gen_ai.latency.e2e","value":{"doubleValue":%g}},{"key":"gen_ai.latency.time_in_queue","value":{"doubleValue":%g}},{"key":"gen_ai.latency.time_in_model_prefill","value":{"doubleValue":%g}},{"key":"gen_ai.latency.time_in_model_decode","value":{"doubleValue":%g}},{"key":"gen_ai.latency.time_in_model_inference","value":{"doubleValue":%g}},{"key":"gen_ai.usage.prompt_tokens","value":{"intValue":"40"}},{"key":"gen_ai.usage.completion_tokens","value":{"intValue":"%d"}},{"key":"gen_ai.request.id","value":{"stringValue":%q}},{"key":"gen_ai.request.max_tokens","value":{"intValue":"%d"}}],"status":{}}]}]}]}`+"\n",
		start, start+total+decode, float64(total)/1e3, float64(total+decode)/1e3, float64(queue)/1e3, float64(prefill)/1e3, float64(decode)/1e3, float64(prefill+decode)/1e3, tokens, id, asked)
}

// TestP55VLLMSpans: both nodes export spans under the router's id, as if each was
// a server. Neither's TTFT is the user's.
func TestP55VLLMSpans(t *testing.T) {
	const name = "___prefill_addr_10.0.1.2:21001___decode_addr_10.0.1.3:22001_93923d63113b4b338973f24d19d4bf11"
	prefill := textFile{name: "prefill.json", text: v1Span("cmpl-"+name+"-0", 1764428001000, 30, 300, 12, 0, 1, 1)}
	decode := textFile{name: "decode.json", text: v1Span("cmpl-"+name+"-0", 1764428001350, 90, 20, 8, 500, 64, 50)}
	client := textFile{name: "client.jsonl", text: fmt.Sprintf(`{"request_id":%q,"side":"client","clock":"monotonic","sent_ms":100000,"first_token_ms":100500,"last_token_ms":101000,"output_tokens":50}`+"\n", name)}
	run := joined(t, load.Options{}, &query.Query{}, prefill, decode, client).Runs[0]
	if run.Requests.Total != 1 || run.Side != "client" || run.Metrics["ttft"].Side != "client" || run.Metrics["ttft"].Mean != 500e6 || run.Metrics["ttft_server"].N != 0 {
		t.Errorf("%d requests at the %s, TTFT %+v", run.Requests.Total, run.Side, run.Metrics["ttft"])
	}
	var got []string
	for _, d := range run.Decompositions {
		if d.Of != "ttft" {
			continue
		}
		if d.Side != "client" {
			t.Errorf("the total of the %s is shown", d.Side)
			continue
		}
		for _, e := range d.Tables[0].Entries {
			got = append(got, fmt.Sprintf("%s %v", strings.Join(e.Leaves, "+"), e.Mean.V/1e6))
		}
		got = append(got, fmt.Sprintf("residual %v", d.Tables[0].Residual.Mean.V/1e6))
	}
	if want := "queue 30, prefill 300, kv_transfer+decode_queue 90, first_decode 20, input+ingress+egress 20, residual 40"; strings.Join(got, ", ") != want {
		t.Errorf("%v, want %s", got, want)
	}
	for node, in := range map[string]textFile{"prefill": prefill, "decode": decode} {
		lone := analyze(t, &query.Query{}, in).Runs[0]
		if lone.Side != node || lone.Metrics["ttft"].N != 0 {
			t.Errorf("the %s node alone: %s side, TTFT %+v", node, lone.Side, lone.Metrics["ttft"])
		}
	}
}

// TestP57WindowsOfTwoHosts: the server's clock is 700 ms behind the client's, who
// sends 20 requests in 2 s. Each of them is in the window of its send, and cut
// with it, on both sides.
func TestP57WindowsOfTwoHosts(t *testing.T) {
	for _, clocks := range [][2]string{{"wall/c", "wall/s"}, {"wall", "wall"}, {"wall", "wall/s"}} { // two files that name no host are not of one
		windowsOfTwoHosts(t, clocks[0], clocks[1])
	}
}

func windowsOfTwoHosts(t *testing.T, clientClock, serverClock string) {
	t.Helper()
	const base = 1764428000000
	var client, server strings.Builder
	for i := range 20 {
		sent := base + 100*i
		fmt.Fprintf(&client, `{"request_id":"r%d","side":"client","clock":%q,"sent_ms":%d,"token_timestamps_ms":[%d,%d],"output_tokens":2}`+"\n", i, clientClock, sent, sent+50, sent+60)
		fmt.Fprintf(&server, `{"request_id":"r%d","side":"server","clock":%q,"received_ms":%d,"token_timestamps_ms":[%d,%d],"output_tokens":2}`+"\n", i, serverClock, sent+5-700, sent+45-700, sent+55-700)
	}
	inputs := []textFile{{name: "client.jsonl", text: client.String()}, {name: "server.jsonl", text: server.String()}}
	run := joined(t, load.Options{}, &query.Query{Window: 500e6}, inputs...).Runs[0]
	for _, w := range run.Windows {
		for _, name := range []string{"ttft_client", "ttft_server", "tpot", "e2e"} {
			if n := w.Metrics[name].N; n != w.Requests.Total {
				t.Errorf("window from %v: %s of %d requests, %d were sent in it", w.From, name, n, w.Requests.Total)
			}
		}
	}
	if len(run.Windows) < 4 || run.Windows[0].Requests.Total != 5 || run.Windows[3].Metrics["ttft_server"].N != 5 {
		t.Errorf("%d windows", len(run.Windows))
	}
	for _, q := range []*query.Query{{Trim: query.Trim{Warmup: 1e9}}, {Trim: query.Trim{Count: 10}}, {From: &query.Instant{Relative: true, NS: 1e9}}} {
		run := joined(t, load.Options{}, q, inputs...).Runs[0]
		if c, s := run.Metrics["ttft_client"], run.Metrics["ttft_server"]; c.N != 10 || s.N != 10 || c.Mean != 50e6 || s.Mean != 40e6 {
			t.Errorf("%+v: ttft of %d at the client, of %d at the server, want 10", q, c.N, s.N)
		}
	}
}
