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
	"servescope/analyzer/trace"
)

// joined answers a query about sources that are joined.
func joined(t *testing.T, opt load.Options, q *query.Query, list ...textFile) *report.Report {
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
func pairSources() (client, server textFile) {
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
	return textFile{name: "client.jsonl", text: a.String()}, textFile{name: "server.jsonl", text: b.String()}
}

func serverLine(id string, at int64, i int) string {
	return fmt.Sprintf(`{"request_id":%q,"received_ms":%d,"queued_ms":%d,"admitted_ms":%d,"prefill_done_ms":%d,"token_timestamps_ms":[%d,%d,%d],"output_tokens":3,"prompt_tokens":10,"cached_tokens":%d,"replica":"n%d"}`+"\n",
		id, at, at+1, at+7, at+67, at+69, at+109, at+149, i, i%4)
}

func TestJoinedRequestsAreCountedOnce(t *testing.T) {
	client, server := pairSources()
	for _, list := range [][]textFile{{client, server}, {server, client}} {
		r := joined(t, load.Options{Workers: 2}, &query.Query{}, list...)
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
		p := joined(t, load.Options{Align: align}, &query.Query{}, client, server).Runs[0].Join.Pairs
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

// TestBenchmarkWithoutIDs: a result of vLLM's benchmark is joined by the numbers in
// the server's ids, if there are any; else the report says what to do.
func TestBenchmarkWithoutIDs(t *testing.T) {
	result := textFile{name: "result.json", text: `{"backend":"vllm","model_id":"m","num_prompts":3,"request_rate":"inf","duration":1.5,"completed":3,"total_input_tokens":30,"total_output_tokens":9,"input_lens":[10,10,10],"output_lens":[3,3,3],"ttfts":[0.1,0.2,0.3],"itls":[[0.01,0.01],[0.01,0.01],[0.01,0.01]],"start_times":[500.0,500.1,500.2],"generated_texts":["","",""],"errors":["","",""]}`}
	log := func(name string) textFile {
		var b strings.Builder
		for i := range 3 {
			id := fmt.Sprintf(name, i)
			fmt.Fprintf(&b, "(APIServer pid=1) INFO 02-05 14:22:33 [logger.py:57] Received request %s: params: SamplingParams(n=1, temperature=0.7, max_tokens=128), lora_request: None.\n(APIServer pid=1) INFO 02-05 14:22:33 [async_llm.py:360] Added request %s-a8a65d16.\n", id, id)
		}
		return textFile{name: "server.log", text: b.String()}
	}
	r := joined(t, load.Options{Years: map[string]int{"": 2026}}, &query.Query{}, result, log("chatcmpl-bench-1a2b3c4d-%d"))
	if j := r.Runs[0].Join; j.Joined != 3 || j.Requests != 3 || j.Pairs[0].Rules["position"] != 3 {
		t.Errorf("%+v", j)
	}
	r = joined(t, load.Options{Years: map[string]int{"": 2026}}, &query.Query{}, result, log("chatcmpl-00%d"))
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
		r := joined(t, load.Options{Workers: 3}, queryOf(t, flags...), client, server)
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
		g := joined(t, load.Options{}, &query.Query{SLO: slo}, client, server).Runs[0].Goodput
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
		for i, opt := range []load.Options{{Workers: 1}, {Workers: 3, Block: 700}, {Workers: 2, Memory: 1, Block: 300}} {
			opt.Join = true
			s, err := openAll(t, opt, client, server)
			if err != nil {
				t.Fatal(err)
			}
			if s.in.RangeSize, s.in.BatchRows = 900, 7; i == 0 {
				s.in.RangeSize, s.in.BatchRows = load.RangeSize, load.ResidentRows
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
	s, err := openAll(t, load.Options{Join: true}, client, server)
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

// TestChoicesOfJoinedRequests: the server logs the two choices of a request as
// requests of their own. They are one, with a pace each.
func TestChoicesOfJoinedRequests(t *testing.T) {
	client := textFile{name: "client.jsonl", text: `{"request_id":"r","side":"client","clock":"monotonic","sent_ms":100000,"token_timestamps_ms":[100110,100120,100130,100140],"output_tokens":6}` + "\n"}
	line := func(id string, tokens string) string {
		return fmt.Sprintf(`{"request_id":%q,"received_ms":1764428000000,"token_timestamps_ms":[%s],"output_tokens":3,"prompt_tokens":10}`+"\n", id, tokens)
	}
	server := textFile{name: "server.jsonl", text: line("cmpl-r-0", "1764428000100,1764428000110,1764428000120") + line("cmpl-r-1", "1764428000090,1764428000120,1764428000150")}
	run := joined(t, load.Options{}, &query.Query{}, client, server).Runs[0]
	if run.Requests.Total != 1 || run.Join.Joined != 1 {
		t.Fatalf("%d requests, %+v", run.Requests.Total, run.Join)
	}
	if m := run.Metrics["ttft_server"]; m.N != 1 || m.Mean != 90e6 {
		t.Errorf("TTFT ends at the earliest first token, after 90 ms: %+v", m)
	}
	if m := run.Metrics["tpot"]; m.N != 2 || m.Min != 10e6 || m.Max != 30e6 {
		t.Errorf("each choice has a TPOT, 10 and 30 ms: %+v", m)
	}
	for _, s := range run.Sides {
		if s.Requests.Total != 1 {
			t.Errorf("%d requests at the %s", s.Requests.Total, s.Side)
		}
	}
}

// TestBeamSearchOfJoinedRequests: the server alone says which of two requests was
// decoded by beam search. It has no TPOT on either side, nor in an export; the
// other one has one token every 40 ms.
func TestBeamSearchOfJoinedRequests(t *testing.T) {
	var client, server strings.Builder
	for i, beam := range []string{"", `,"beam_search":true`} {
		fmt.Fprintf(&client, `{"request_id":"r%d","side":"client","clock":"monotonic","sent_ms":100000,"token_timestamps_ms":[100080,100120,100160],"output_tokens":3}`+"\n", i)
		server.WriteString(strings.Replace(serverLine(fmt.Sprintf("chatcmpl-r%d", i), 1764428000_000, i), "}\n", beam+"}\n", 1))
	}
	list := []textFile{{name: "client.jsonl", text: client.String()}, {name: "server.jsonl", text: server.String()}}
	run := joined(t, load.Options{}, &query.Query{SLO: []query.Limit{{Metric: "tpot", Max: 50e6}}}, list...).Runs[0]
	for _, side := range run.Sides {
		if m := side.Metrics["tpot"]; m.N != 1 || m.Mean != 40e6 || m.Excluded["beam"] != 1 {
			t.Errorf("%s: %+v", side.Side, m)
		}
	}
	if len(run.Sides) != 2 || run.Goodput.Good != 1 || run.Goodput.Unknown != 1 {
		t.Errorf("%d sides, %+v", len(run.Sides), run.Goodput)
	}
	s, err := openAll(t, load.Options{Join: true}, list...)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	said := 0
	err = s.Rows(t.Context(), &query.Query{}, false, func(b *trace.Batch) error {
		for i := range b.Rows {
			if beam, ok := b.Bools(trace.BeamSearch).At(i); ok && beam {
				said++
			}
		}
		return nil
	})
	if err != nil || said != 2 {
		t.Errorf("%d rows of beam search, not those of the client and of the server: %v", said, err)
	}
}

// TestJoinSaysWhatIsWrong: a clock that was set between two requests, an id given
// twice and one with two candidates are diagnosed, and link or align nothing.
func TestJoinSaysWhatIsWrong(t *testing.T) {
	client := textFile{name: "client.jsonl", text: ""}
	server := textFile{name: "server.jsonl", text: ""}
	for i, id := range []string{"a", "b", "c", "d"} {
		sent := 1764428000_000 + 1000*i
		client.text += fmt.Sprintf(`{"request_id":%q,"side":"client","sent_ms":%d,"first_token_ms":%d,"last_token_ms":%d,"output_tokens":2}`+"\n", id, sent, sent+100, sent+200)
		jump := 500 * (i % 2) // the server's clock is set between a and b
		server.text += fmt.Sprintf(`{"request_id":%q,"received_ms":%d,"first_token_ms":%d,"last_token_ms":%d,"output_tokens":2}`+"\n", id, sent+5+jump, sent+90+jump, sent+190+jump)
	}
	server.text += strings.SplitAfter(server.text, "\n")[2]                                                              // c twice at the server: two candidates for the client's
	server.text += strings.Repeat(strings.Replace(strings.SplitAfter(server.text, "\n")[0], `"a"`, `"elsewhere"`, 1), 2) // an id twice, and nowhere else
	r := joined(t, load.Options{Align: true}, &query.Query{}, client, server)
	j := r.Runs[0].Join
	if j.Joined != 3 || j.Ambiguous != 1 || j.Duplicates != 1 || !slices.Equal(j.Examples.Ambiguous, []string{"c"}) || !slices.Equal(j.Examples.Duplicates, []string{"elsewhere"}) {
		t.Errorf("%+v", j)
	}
	if p := j.Pairs[0]; p.Offset.Note == "" || p.Offset.Low.Int != 490e6 || p.Offset.High.Int != 5e6 || p.Between != nil {
		t.Errorf("no offset fits, and none is applied: %+v", p)
	}
	counts := map[string]int64{}
	for _, d := range r.Diags {
		counts[d.Code+" "+d.File] = d.Count
	}
	for _, want := range []struct {
		key string
		n   int64
	}{{"clock_offset server.jsonl", 3}, {"join_ambiguous joined", 1}, {"join_duplicate joined", 1}, {"not_joined client.jsonl", 1}, {"not_joined server.jsonl", 4}} {
		if counts[want.key] != want.n {
			t.Errorf("%s: %d, want %d in %v", want.key, counts[want.key], want.n, counts)
		}
	}
}
