package analyzer

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"servescope/analyzer/query"
	"servescope/analyzer/report"
	"servescope/analyzer/trace"
)

// joined answers a query about sources that are joined.
func joined(t *testing.T, opt Options, q *query.Query, list ...source) *report.Report {
	t.Helper()
	opt.Join = true
	s, err := openAll(t, opt, list...)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r, err := s.Run(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// pairSources are the records of 40 requests by the client, on a clock of its
// own, and of 36 of them by the server, together with 4 that another client sent.
// Milliseconds: the client waits 69 for the first token at the server and 8 + i%7
// + 6 more; tokens come every 40.
func pairSources() (client, server source) {
	var a, b strings.Builder
	for i := range 40 {
		sent := 100_000 + 500*i
		fmt.Fprintf(&a, `{"request_id":"r%d","side":"client","clock":"monotonic","sent_ms":%d,"token_timestamps_ms":[%d,%d,%d],"output_tokens":3,"prompt_tokens":10,"tenant":"t%d"}`+"\n",
			i, sent, sent+80+i%7, sent+120+i%7, sent+160+i%7, i%2)
		if i%10 != 3 {
			b.WriteString(serverLine(fmt.Sprintf("chatcmpl-r%d", i), 1764428000_000+int64(500*i)+3, i))
		}
	}
	for i := range 4 {
		b.WriteString(serverLine(fmt.Sprintf("chatcmpl-other%d", i), 1764427000_000+int64(500*i), i))
	}
	return source{name: "client.jsonl", text: a.String()}, source{name: "server.jsonl", text: b.String()}
}

func serverLine(id string, at int64, i int) string {
	return fmt.Sprintf(`{"request_id":%q,"received_ms":%d,"queued_ms":%d,"admitted_ms":%d,"prefill_done_ms":%d,"token_timestamps_ms":[%d,%d,%d],"output_tokens":3,"prompt_tokens":10,"cached_tokens":%d,"replica":"n%d"}`+"\n",
		id, at, at+1, at+7, at+67, at+69, at+109, at+149, i, i%4)
}

func TestJoinedRequestsAreCountedOnce(t *testing.T) {
	client, server := pairSources()
	for _, list := range [][]source{{client, server}, {server, client}} {
		r := joined(t, Options{Workers: 2}, &query.Query{}, list...)
		if len(r.Runs) != 1 {
			t.Fatalf("%d runs", len(r.Runs))
		}
		run := r.Runs[0]
		if run.Requests.Total != 40 || run.Side != "client" || run.Join == nil || run.Join.Joined != 36 {
			t.Fatalf("%d requests at the %s, join %+v", run.Requests.Total, run.Side, run.Join)
		}
		mean := 0.0
		for i := range 40 {
			mean += float64(80+i%7) / 40
		}
		for name, want := range map[string]struct {
			n    int64
			mean float64
			side string
		}{"ttft": {36, 69e6, "server"}, "ttft_server": {36, 69e6, "server"}, "ttft_client": {40, mean * 1e6, "client"}, "tpot": {36, 40e6, "server"}} {
			m := run.Metrics[name]
			if m.N != want.n || math.Abs(m.Mean-want.mean) > 1 || m.Side != want.side {
				t.Errorf("%s: %d values, mean %v at the %s; want %+v", name, m.N, m.Mean, m.Side, want)
			}
			excluded := int64(0)
			for _, n := range m.Excluded {
				excluded += n
			}
			if m.N+excluded != 40 {
				t.Errorf("%s: %d values and %v do not add up to the requests", name, m.N, m.Excluded)
			}
		}
		for _, name := range []string{"ttft", "chunk_gap"} {
			if n := run.Metrics[name].Excluded["not_joined"]; n != 4 {
				t.Errorf("%s: %d requests are not joined", name, n)
			}
		}
		// 40 requests of 3 tokens from the first send to the last token.
		if v, want := run.Throughput.Values["tps"].V, 120/(19.5+0.16+0.004); math.Abs(v-want) > 1e-9*want {
			t.Errorf("tps %v, want %v", v, want)
		}
		if s := run.Sides; len(s) != 2 || s[0].Side != "client" || !s[0].Counts || s[0].Apart != 0 || s[1].Requests.Total != 40 || s[1].Apart != 4 || s[1].Metrics["ttft"].N != 40 {
			t.Errorf("sides %+v", s)
		}
		checkNetwork(t, &run)
	}
}

// checkNetwork holds that of the client's TTFT what the server does not account
// for is network and client, a difference of durations.
func checkNetwork(t *testing.T, run *report.Run) {
	t.Helper()
	for _, d := range run.Decompositions {
		if d.Of != "ttft" || d.Side != "client" {
			continue
		}
		sum, n := 0.0, 0
		for i := range 40 {
			if i%10 != 3 {
				sum += float64(80 + i%7 - 69)
				n++
			}
		}
		e := d.Tables[0].Entries[0]
		if got := strings.Join(e.Leaves, "+"); got != "network+client" || math.Abs(e.Mean.V-sum/float64(n)*1e6) > 1 {
			t.Errorf("%s is %v ns, want %v", got, e.Mean.V, sum/float64(n)*1e6)
		}
		return
	}
	t.Errorf("the client's total is not taken apart: %d decompositions", len(run.Decompositions))
}

// TestOffsetIsShownAndNotApplied: the server's clock is 1764327900 s ahead of the
// client's, whose requests take 3 ms; tokens take at least 8 ms back.
func TestOffsetIsShownAndNotApplied(t *testing.T) {
	client, server := pairSources()
	const ahead = 1764428000e9 - 100e9
	for _, align := range []bool{false, true} {
		p := joined(t, Options{Align: align}, &query.Query{}, client, server).Runs[0].Join.Pairs
		if len(p) != 1 || p[0].Joined != 36 || p[0].Rules["prefix"] != 36 {
			t.Fatalf("%+v", p)
		}
		o := p[0].Offset
		if o.Low.Int != ahead-8e6 || o.High.Int != ahead+3e6 || o.N != 36 || o.Same || o.Note != "" {
			t.Errorf("offset %+v, want [%d, %d]", o, int64(ahead-8e6), int64(ahead+3e6))
		}
		w := p[0].Between
		if (w != nil) != align {
			t.Fatalf("aligned %t: %+v", align, w)
		}
		if w != nil && (w.Wrong.V != 5.5e6 || w.There.V != 5.5e6) {
			t.Errorf("%+v: the middle of the offset is 2.5 ms too little", w)
		}
	}
}

// TestP57ClockOfADecodeHost: see the same in package join; here the hosts are
// named by their logs, and nothing is corrected.
func TestP57ClockOfADecodeHost(t *testing.T) {
	const base = 1764428000000
	prefill := source{name: "prefill.jsonl", text: fmt.Sprintf(`{"request_id":"r","side":"prefill","clock":"wall/a","queued_ms":%d,"admitted_ms":%d,"prefill_done_ms":%d,"output_tokens":1}`+"\n", base+10, base+10, base+310)}
	decode := source{name: "decode.jsonl", text: fmt.Sprintf(`{"request_id":"r","side":"decode","clock":"wall/b","queued_ms":%d,"admitted_ms":%d,"token_timestamps_ms":[%d,%d],"output_tokens":2}`+"\n", base-200, base-110, base-40, base-20)}
	run := joined(t, Options{Align: true}, &query.Query{}, prefill, decode).Runs[0]
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
	for what, list := range map[string][]source{
		"one log":    {{name: "all.jsonl", text: text}},
		"three logs": {{name: "a.jsonl", text: strings.SplitAfter(text, "\n")[0]}, {name: "b.jsonl", text: strings.SplitAfter(text, "\n")[1]}, {name: "c.jsonl", text: strings.SplitAfter(text, "\n")[2]}},
	} {
		run := joined(t, Options{}, &query.Query{}, list...).Runs[0]
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
	prefill := source{name: "prefill.log", text: "[2026-09-24 08:47:50.616 TP0] ReqTimeStats(rid=p1, bootstrap_room=2043453, input_len=40, cached_input_len=0, output_len=1, attempts=0, type=prefill): bootstrap_duration=18.00ms, queue_duration=30.00ms, forward_duration=365.00ms, entry_time=1790239662.267, transfer_speed=0.00 GB/s, transfer_total=0.00 MB\n"}
	decode := source{name: "decode.log", text: "[2026-09-24 08:47:52.616 TP0] ReqTimeStats(rid=d1, bootstrap_room=2043453, input_len=40, cached_input_len=0, output_len=19, attempts=0, type=decode): bootstrap_duration=9.00ms, alloc_wait_duration=11.00ms, transfer_duration=400.00ms, queue_duration=1.00ms, forward_duration=1321.16ms, entry_time=1790239662.260\n"}
	run := joined(t, Options{}, &query.Query{}, prefill, decode).Runs[0]
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
	prefill := source{name: "prefill.json", text: v1Span("cmpl-"+name+"-0", 1764428001000, 30, 300, 12, 0, 1, 1)}
	decode := source{name: "decode.json", text: v1Span("cmpl-"+name+"-0", 1764428001350, 90, 20, 8, 500, 64, 50)}
	client := source{name: "client.jsonl", text: fmt.Sprintf(`{"request_id":%q,"side":"client","clock":"monotonic","sent_ms":100000,"first_token_ms":100500,"last_token_ms":101000,"output_tokens":50}`+"\n", name)}
	run := joined(t, Options{}, &query.Query{}, prefill, decode, client).Runs[0]
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
	for node, in := range map[string]source{"prefill": prefill, "decode": decode} {
		lone := analyze(t, &query.Query{}, in).Runs[0]
		if lone.Side != node || lone.Metrics["ttft"].N != 0 {
			t.Errorf("the %s node alone: %s side, TTFT %+v", node, lone.Side, lone.Metrics["ttft"])
		}
	}
}

// TestBenchmarkWithoutIDs: a result of vLLM's benchmark is joined by the numbers in
// the server's ids, if there are any; else the report says what to do.
func TestBenchmarkWithoutIDs(t *testing.T) {
	result := source{name: "result.json", text: `{"backend":"vllm","model_id":"m","num_prompts":3,"request_rate":"inf","duration":1.5,"completed":3,"total_input_tokens":30,"total_output_tokens":9,"input_lens":[10,10,10],"output_lens":[3,3,3],"ttfts":[0.1,0.2,0.3],"itls":[[0.01,0.01],[0.01,0.01],[0.01,0.01]],"start_times":[500.0,500.1,500.2],"generated_texts":["","",""],"errors":["","",""]}`}
	log := func(name string) source {
		var b strings.Builder
		for i := range 3 {
			id := fmt.Sprintf(name, i)
			fmt.Fprintf(&b, "(APIServer pid=1) INFO 02-05 14:22:33 [logger.py:57] Received request %s: params: SamplingParams(n=1, temperature=0.7, max_tokens=128), lora_request: None.\n(APIServer pid=1) INFO 02-05 14:22:33 [async_llm.py:360] Added request %s-a8a65d16.\n", id, id)
		}
		return source{name: "server.log", text: b.String()}
	}
	r := joined(t, Options{Years: map[string]int{"": 2026}}, &query.Query{}, result, log("chatcmpl-bench-1a2b3c4d-%d"))
	if j := r.Runs[0].Join; j.Joined != 3 || j.Requests != 3 || j.Pairs[0].Rules["position"] != 3 {
		t.Errorf("%+v", j)
	}
	r = joined(t, Options{Years: map[string]int{"": 2026}}, &query.Query{}, result, log("chatcmpl-00%d"))
	if j := r.Runs[0].Join; j.Joined != 0 || len(j.Pairs) != 0 {
		t.Errorf("%+v: the order of requests is no name", j)
	}
	for _, d := range r.Diags {
		if d.Code == "nothing_joined" && d.File == "result.json" {
			if d.Fix == "" || d.Count != 3 {
				t.Errorf("%+v", d)
			}
			return
		}
	}
	t.Errorf("nothing says that nothing was joined: %+v", r.Diags)
}

// TestQueriesOfJoinedRuns: what one side tells of a request holds for all of it.
func TestQueriesOfJoinedRuns(t *testing.T) {
	client, server := pairSources()
	run := func(flags ...string) *report.Run {
		t.Helper()
		r := joined(t, Options{Workers: 3}, queryOf(t, flags...), client, server)
		return &r.Runs[0]
	}
	// cached_tokens is the server's, tenant the client's; requests 3, 13, … are not joined.
	r := run("filter=cached_tokens >= 30")
	if r.Requests.Total != 9 || r.Requests.Filtered != 31 || r.Removed.Filter != 31 || r.Metrics["ttft"].N != 9 || r.Metrics["ttft_client"].N != 9 {
		t.Errorf("by a column of the server: %+v, %+v, TTFT %d", r.Requests, r.Removed, r.Metrics["ttft"].N)
	}
	if r = run("filter=tenant = t1"); r.Requests.Total != 20 || r.Metrics["ttft"].N != 16 || r.Metrics["ttft"].Excluded["not_joined"] != 4 {
		t.Errorf("by a column of the client: %+v, TTFT %+v", r.Requests, r.Metrics["ttft"])
	}
	r = run("by=replica")
	total, timed := int64(0), int64(0)
	for _, g := range r.Groups {
		total += g.Requests.Total
		timed += g.Metrics["ttft"].N
		if name := g.By["replica"]; name != "" && g.Requests.Total != g.Metrics["ttft"].N || name == "" && g.Requests.Total != 4 {
			t.Errorf("replica %q: %d requests, %d TTFTs", name, g.Requests.Total, g.Metrics["ttft"].N)
		}
	}
	if len(r.Groups) != 5 || total != 40 || timed != 36 {
		t.Errorf("%d groups of %d requests, %d TTFTs", len(r.Groups), total, timed)
	}
	// Windows are those of the client's clock, and the server's figures lie in them.
	r = run("window=5s")
	total, timed = 0, 0
	for _, w := range r.Windows {
		total += w.Requests.Total
		timed += w.Metrics["ttft"].N
		if w.From < 100e9 || w.To > 125e9 {
			t.Errorf("a window from %d", w.From)
		}
	}
	if len(r.Windows) != 4 || total != 40 || timed != 36 {
		t.Errorf("%d windows of %d requests, %d TTFTs", len(r.Windows), total, timed)
	}
	if r = run("from=+5s", "to=+10s"); r.Requests.Total != 10 || r.Metrics["ttft"].N != 9 || r.Removed.Interval != 30 {
		t.Errorf("in an interval: %+v, %+v, TTFT %d", r.Requests, r.Removed, r.Metrics["ttft"].N)
	}
	if r = run("trim=warmup=10"); r.Requests.Total != 30 || r.Metrics["ttft"].N != 27 || r.Removed.Trim != 10 {
		t.Errorf("without the first: %+v, %+v, TTFT %d", r.Requests, r.Removed, r.Metrics["ttft"].N)
	}
}

// TestGoodputOfJoinedRuns: a request is judged by the row of the side that a limit
// is about, and by how it ended at the side that counts it.
func TestGoodputOfJoinedRuns(t *testing.T) {
	client, server := pairSources()
	client.text = strings.Replace(client.text, `"tenant":"t0"`, `"tenant":"t0","error":"timeout"`, 1) // request 0
	for flags, want := range map[string][3]int64{
		"ttft=70ms":                         {35, 1, 4},  // at the server: 69 ms, but request 0 failed; 4 are not joined
		"ttft.client=84ms":                  {29, 11, 0}, // of 80 + i%7: 10 are 85 or 86; and request 0
		"ttft.client=84ms,ttft=60ms":        {0, 38, 2},  // the 36 of the server; and 13 and 33 at the client
		"ttft.client=84ms,ttft.server=70ms": {27, 11, 2},
	} {
		slo, err := query.ParseSLO(flags)
		if err != nil {
			t.Fatal(err)
		}
		g := joined(t, Options{}, &query.Query{SLO: slo}, client, server).Runs[0].Goodput
		good, missed, unknown := judge(flags)
		if want != [3]int64{good, missed, unknown} {
			t.Fatalf("%s: the table says %v, the definition %d, %d, %d", flags, want, good, missed, unknown)
		}
		if g.Good != good || g.Missed != missed || g.Unknown != unknown || g.Denominator != 40 {
			t.Errorf("%s: %d good, %d missed, %d unknown of %d; want %d, %d, %d", flags, g.Good, g.Missed, g.Unknown, g.Denominator, good, missed, unknown)
		}
	}
}

// judge counts verdicts on the requests of pairSources by definition, where
// request 0 has failed.
func judge(slo string) (good, missed, unknown int64) {
	for i := range 40 {
		client, joined := 80+i%7, i%10 != 3
		miss, dark := i == 0, false
		for limit := range strings.SplitSeq(slo, ",") {
			side, value, _ := strings.Cut(limit, "=")
			var most int
			fmt.Sscanf(value, "%dms", &most)
			switch {
			case side == "ttft.client":
				miss = miss || client > most
			case !joined:
				dark = true
			default:
				miss = miss || 69 > most
			}
		}
		switch {
		case miss:
			missed++
		case dark:
			unknown++
		default:
			good++
		}
	}
	return good, missed, unknown
}

// TestJoinDoesNotDependOnCuts holds the reports and rows of joined sources to the
// same bytes whatever the workers, cuts and memory.
func TestJoinDoesNotDependOnCuts(t *testing.T) {
	client, server := pairSources()
	for _, flags := range [][]string{nil, {"filter=cached_tokens > 7", "by=replica,tenant", "window=4s"}, {"trim=warmup=7", "by=tenant"}} {
		q := queryOf(t, flags...)
		want := ""
		for i, opt := range []Options{{Workers: 1}, {Workers: 3, Block: 700}, {Workers: 2, Memory: 1, Block: 300}} {
			opt.Join = true
			s, err := openAll(t, opt, client, server)
			if err != nil {
				t.Fatal(err)
			}
			if s.cut, s.size = 900, 7; i == 0 {
				s.cut, s.size = rangeSize, residentRows
			}
			r, err := s.Run(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			got := jsonOf(t, r) + joinedRows(t, s, q)
			s.Close()
			if want == "" {
				want = got
			}
			if got != want {
				t.Errorf("%v, %+v: %s", flags, opt, firstDifference(got, want))
			}
		}
	}
}

// joinedRows prints what an export holds of joined rows.
func joinedRows(t *testing.T, s *Session, q *query.Query) string {
	t.Helper()
	var b strings.Builder
	err := s.Rows(t.Context(), q, true, func(batch *trace.Batch) error {
		for i := range batch.Rows {
			id, _ := batch.Texts(trace.RequestID).At(i)
			group, ok := batch.Texts(trace.JoinGroup).At(i)
			side, _ := batch.Dicts(trace.SideCol).At(i)
			gaps, _ := batch.Lists(trace.ChunkGaps).At(i)
			fmt.Fprintf(&b, "%s %s %t %d %d\n", id, group, ok, side, gaps)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestExportOfJoinedRows: linked rows have one join_group, and stay rows of their
// own.
func TestExportOfJoinedRows(t *testing.T) {
	client, server := pairSources()
	s, err := openAll(t, Options{Join: true}, client, server)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	rows := joinedRows(t, s, &query.Query{})
	lines := strings.Split(strings.TrimSpace(rows), "\n")
	if len(lines) != 80 {
		t.Fatalf("%d rows, not 80", len(lines))
	}
	for _, want := range []string{"r0 r0 true 0 [40000000 40000000]", "chatcmpl-r0 r0 true 2 [40000000 40000000]", "r3  false 0 [40000000 40000000]", "chatcmpl-other1  false 2 [40000000 40000000]"} {
		if !slices.Contains(lines, want) {
			t.Errorf("no row %q in\n%s", want, strings.Join(lines[:4], "\n"))
		}
	}
}
