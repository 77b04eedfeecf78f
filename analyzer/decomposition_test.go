package analyzer

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"servescope/analyzer/assemble"
	"servescope/analyzer/decompose"
	"servescope/analyzer/load"
	"servescope/analyzer/query"
	"servescope/analyzer/report"
	"servescope/analyzer/trace"
)

// TestRealSpans holds the spans of a real server to the sums that follow from
// their attributes: the file has the keys of the V1 engine.
func TestRealSpans(t *testing.T) {
	name := data(t, "vllm/otlp-llm_request-*.traces.json")[0]
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	in := textFile{name: "spans.json", text: string(text)}
	run, _ := ask(t, nil, in)
	if n := len(run.Decompositions); n != 2 || run.Decompositions[1].Of != "tpot" {
		t.Fatalf("%d decompositions", n)
	}
	d := &run.Decompositions[0]
	if d.Side != "server" || d.N != 280 || len(d.Tables) != 1 {
		t.Fatalf("%s, n %d, %d tables", d.Side, d.N, len(d.Tables))
	}
	b := &d.Tables[0]
	want := map[string]int64{"queue": 405762923629, "prefill": 137316895105, "input+ingress+egress": 8241055007}
	for _, e := range b.Entries {
		name := strings.Join(e.Leaves, "+")
		if e.Sum.Int != want[name] || e.Negative != 0 {
			t.Errorf("Σ %s = %d, not %d, negative in %d", name, e.Sum.Int, want[name], e.Negative)
		}
		delete(want, name)
	}
	if b.Sum.Int != 551320873741 || b.Residual.Sum.Int != 0 || len(want) > 0 {
		t.Errorf("Σ %d, residual %d, without %v", b.Sum.Int, b.Residual.Sum.Int, want)
	}
	s, err := openAll(t, load.Options{}, in)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	negative := 0
	var span, tokens int64
	err = s.Rows(t.Context(), new(query.Query), false, func(b *trace.Batch) error {
		for i := range b.Rows {
			first, _ := b.Ints(trace.FirstToken).At(i)
			finished, _ := b.Ints(trace.Finished).At(i)
			decode, ok := b.Ints(trace.DDecode).At(i)
			if ok && finished-first-decode < 0 {
				negative++
			}
			if n, known := b.Ints(trace.OutputTokens).At(i); ok && known && n > 1 {
				span, tokens = span+decode, tokens+n-1
			}
		}
		return nil
	})
	if err != nil || negative != 161 {
		t.Errorf("e2e - ttft - decode is negative in %d spans, not 161 (%v)", negative, err)
	}
	// The engine's own time from the first to the last token, of which nothing is known.
	d = &run.Decompositions[1]
	if b := &d.Tables[0]; len(d.Tables) != 1 || b.N != tokens || b.Sum.Int != span || b.Residual.Sum.Int != span || len(b.Entries) != 0 || tokens == 0 {
		t.Errorf("%d tokens in %d ns, %d of it left; want %d in %d", b.N, b.Sum.Int, b.Residual.Sum.Int, tokens, span)
	}
}

// TestEveryRowAddsUp takes the rows of every fixture, and of every real file,
// apart: parts and residual make the total that the row's own stamps or
// durations give, no stage is in two parts, and where all parts are intervals the
// residual is the time that they leave uncovered.
func TestEveryRowAddsUp(t *testing.T) {
	list := fixtures(t)
	for _, dir := range []string{os.Getenv("SERVESCOPE_DATA"), "../../shared/data", "../../../shared/data"} {
		names, _ := filepath.Glob(filepath.Join(dir, "*", "*"))
		for _, name := range names {
			if info, err := os.Stat(name); dir != "" && err == nil && info.Mode().IsRegular() && info.Size() < 8<<20 {
				text, err := os.ReadFile(name)
				if err != nil {
					t.Fatal(err)
				}
				list = append(list, textFile{name: name, text: string(text)})
			}
		}
	}
	parted, measured := 0, 0
	for _, in := range list {
		s, err := openAll(t, load.Options{}, in)
		if err != nil || strings.HasSuffix(in.name, ".gz") {
			continue
		}
		err = s.Rows(t.Context(), new(query.Query), false, func(b *trace.Batch) error {
			columns := decompose.ColumnsOf(b)
			for i := range b.Rows {
				var r decompose.Row
				var p decompose.Parts
				columns.Row(i, &r)
				if r.Parts(&p) {
					addsUp(t, in.name, b, i, &r, &p)
					if p.N > 0 {
						parted++
					}
					if p.Measured && p.N > 0 {
						measured++
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Errorf("%s: %v", in.name, err)
		}
		s.Close()
	}
	if parted < 200 || measured < 20 { // the fixtures alone have more
		t.Errorf("%d rows have parts, %d of stamps alone", parted, measured)
	}
}

// addsUp checks the parts of row i.
func addsUp(t *testing.T, name string, b *trace.Batch, i int, r *decompose.Row, p *decompose.Parts) {
	t.Helper()
	from, to := trace.Received, trace.FirstToken
	switch {
	case r.Side == trace.Client:
		from = trace.Sent
	case r.Side >= trace.Engine:
		from = trace.Queued
	}
	start, started := b.Ints(from).At(i)
	first, ok := b.Ints(to).At(i)
	if !ok {
		first, ok = b.Ints(trace.FirstEvent).At(i)
	}
	if started && ok && p.Total != first-start {
		t.Errorf("%s row %d: the total is %d, not %d", name, i, p.Total, first-start)
	}
	sum, covered, open, at := int64(0), decompose.Set(0), int64(0), start
	for _, e := range p.Entries() {
		sum += e.NS
		if covered&e.Leaves != 0 {
			t.Errorf("%s row %d: %s is in two parts", name, i, covered&e.Leaves)
		}
		covered |= e.Leaves
		open += e.From - at
		at = e.To
	}
	if sum+p.Residual() != p.Total {
		t.Errorf("%s row %d: %d + %d is not %d", name, i, sum, p.Residual(), p.Total)
	}
	if p.Measured && open+first-at != p.Residual() {
		t.Errorf("%s row %d: %d are uncovered, the residual is %d", name, i, open+first-at, p.Residual())
	}
	for l := decompose.Proxy; int(l) < decompose.Leaves; l++ {
		own, ok := b.Ints(trace.DProxy + trace.Col(l-decompose.Proxy)).At(i)
		if !ok || p.Outside.Has(l) {
			continue
		}
		for _, e := range p.Entries() {
			if e.Leaves == decompose.Of(l) && e.NS != own {
				t.Errorf("%s row %d: %s is %d, its source says %d", name, i, l, e.NS, own)
			}
		}
	}
}

// export is a line of SGLang's metric export with the given members of meta_info.
func export(stream bool, members string) textFile {
	line := `{"request_parameters": "{\"rid\": \"a\", \"stream\": ` + map[bool]string{true: "true", false: "false"}[stream] +
		`}", "id": "a", "finish_reason": {"type": "length", "length": 32}, "prompt_tokens": 5, "completion_tokens": 32, "e2e_latency": 0.62, ` +
		`"request_received_ts": 1780315200.4809, "request_finished_ts": 1780315201.1018, ` + members + "}\n"
	return textFile{name: "export.log", text: line}
}

// records is a log of the product's own format.
func records(text string) textFile { return textFile{name: "log.jsonl", text: text + "\n"} }

// fixture is an input of testdata/formats.
func fixture(t *testing.T, name string) textFile {
	t.Helper()
	text, err := os.ReadFile("../testdata/formats/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return textFile{name: filepath.Base(name), text: string(text)}
}

// TestSourcesOfTTFT holds what each source gives to what it measures: the
// entries of one request of each, in µs, with the stages that the residual may
// contain.
func TestSourcesOfTTFT(t *testing.T) {
	const g4 = `"api_server_dispatch_finish_ts": 1780315200.4839, "forward_entry_time": 1780315200.4874, "prefill_finished_time": 1780315200.5601, "response_sent_to_client_ts": 1780315200.5633`
	for _, c := range []struct {
		name string
		in   textFile
		want string
	}{
		{"G4", export(true, g4+`, "queue_time": 0.00041`), "server 82400 = input 3000 + ingress 3090 + queue 410 + prefill 72700 + egress 3200 + residual 0"},
		{"G3", export(true, g4+`, "queue_time": 0.00041, "prefill_launch_latency": 0.02, "prefill_waiting_latency": 0.001`),
			"server 82400 = input 3000 + ingress 3090 + queue 410 + prefill 72700 + egress 3200 + residual 0"},
		{"G4, retracted", export(true, g4+`, "queue_time": 0.00041, "num_retractions": 1`), "server 82400 = input 3000 + ingress+queue 3500 + prefill 72700 + egress 3200 + residual 0"},
		{"G4, a negative queue", export(true, g4+`, "queue_time": -2.5`), "server 82400 = input 3000 + ingress+queue 3500 + prefill 72700 + egress 3200 + residual 0"},
		{"G4, not streamed", export(false, g4+`, "queue_time": 0.00041`), "engine 73110 = queue 410 + prefill 72700 + residual 0"},
		{"G2", export(true, `"request_sent_to_scheduler_ts": 1780315200.4839, "queue_time": 0.00041, "response_sent_to_client_ts": 1780315200.5633, "prefill_finished_ts": 1780315200.5601`),
			"server 82400 = input 3000 + queue 410 + ingress+prefill+egress 78990 + residual 0"},
		{"G2 of v0.5.9", export(true, `"request_sent_to_scheduler_ts": 1780315200.4839, "queue_time": 0.00041, "response_sent_to_client_ts": 1780315200.5633, "prefill_finished_ts": 1780315200.5601, "cached_tokens_details": {"device": 2, "host": 0}`),
			"server 82400 = input 3000 + queue 410 + ingress+prefill 75790 + egress 3200 + residual 0"},
		{"G1", export(true, `"response_sent_ts": 1780315200.5633, "queue_time": 0.00041, "prefill_delay": 0.01, "prefill_latency": 0.06`),
			"server 82400 = queue 410 + input+ingress+prefill+egress 81990 + residual 0"},
		{"vLLM metrics of an answer", fixture(t, "apilog/vllm-v0.25-metrics/input.jsonl"), "engine 97500 = queue 12300 + prefill 85200 + residual 0"},
		{"vLLM V0 metrics", fixture(t, "apilog/vllm-v0.5-request-metrics/input.jsonl"), "server 36874.5 = ingress+queue 2723.4 + prefill+egress 34151.1 + residual 0"},
		{"vLLM V0 spans", fixture(t, "otlp/v0-engine/input.json"), "server 55400 = ingress+queue 21050 + prefill+egress 34350 + residual 0"},
		{"SGLang spans", fixture(t, "otlp/sglang-v0.5.12/input.json"), "server 82400 = input 3500 + ingress 3090 + queue 410 + prefill 72200 + egress 3200 + residual 0"},
		{"SGLang spans of v0.5.7", fixture(t, "otlp/sglang-v0.5.7/input.json"), "engine 49500 = queue 1500 + prefill 48000 + residual 0"},
		{"SGLang spans of v0.5.4", fixture(t, "otlp/sglang-v0.5.4/input.json"), "engine 49500 = queue+prefill 49500 + residual 0"},
		{"tokenlog, all boundaries", records(`{"arrival":1764428000,"dispatched":1764428000.01,"queued":1764428000.02,"admitted":1764428000.05,"prefill_done":1764428000.09,"token_timestamps":[1764428000.1],"output_tokens":1}`),
			"server 100000 = input 10000 + ingress 10000 + queue 30000 + prefill 40000 + egress 10000 + residual 0"},
		{"tokenlog, an event is missing", records(`{"arrival":1764428000,"queued":1764428000.02,"admitted":1764428000.05,"token_timestamps":[1764428000.1],"output_tokens":1}`),
			"server 100000 = input+ingress 20000 + queue 30000 + prefill+egress 50000 + residual 0"},
		{"tokenlog of a client", records(`{"side":"client","arrival":1764428000,"token_timestamps":[1764428000.1],"output_tokens":1}`),
			"client 100000 =  + residual 100000 (network, client, proxy, input, ingress, queue, prefill, kv_transfer, decode_queue, first_decode, egress)"},
	} {
		run, _ := ask(t, nil, c.in)
		if len(run.Decompositions) == 0 || len(run.Decompositions[0].Tables) == 0 {
			t.Errorf("%s: no decomposition", c.name)
			continue
		}
		d := &run.Decompositions[0]
		if got := d.Side + " " + inShort(&d.Tables[0]); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// inShort prints a table with its means in µs.
func inShort(b *report.Breakdown) string {
	var parts []string
	for _, e := range b.Entries {
		parts = append(parts, fmt.Sprintf("%s %.8g", strings.Join(e.Leaves, "+"), e.Mean.V/1000))
	}
	s := fmt.Sprintf("%.8g = %s + residual %.8g", b.Total.V/1000, strings.Join(parts, " + "), b.Residual.Mean.V/1000)
	if may := b.Residual.MayContain; len(may) > 0 {
		s += " (" + strings.Join(may, ", ") + ")"
	}
	return s
}

// TestDecompositionAgreesWithTTFT: in every cell of every fixture, whatever the
// query, what is taken apart is the metric: the same requests, with the same
// mean, and the same are left out.
func TestDecompositionAgreesWithTTFT(t *testing.T) {
	compared := 0
	queries := [][]string{{"by=status,replica", "window=1s"}, {"from=+1s", "to=+5m", "window=2s"}, nil, {"filter=status = ok and output_tokens > 3"}, {"trim=warmup=1", "by=model"}}
	if testing.Short() {
		queries = queries[:1]
	}
	for _, in := range fixtures(t) {
		s, err := openAll(t, load.Options{Workers: 2}, in)
		if err != nil || strings.HasSuffix(in.name, ".gz") || strings.HasSuffix(in.name, ".zst") {
			continue
		}
		defer s.Close()
		for _, flags := range queries {
			r, err := s.Run(t.Context(), queryOf(t, flags...))
			if err != nil {
				continue // the fixture's clock has no place for the interval
			}
			for i := range r.Runs {
				assemble.EachCell(&r.Runs[i], func(c *report.Cell) {
					for j := range c.Decompositions {
						d := &c.Decompositions[j]
						m, ok := c.Metrics["ttft_"+d.Side]
						if d.Of != "ttft" || !ok || m.Side != d.Side || d.Side == "engine" {
							continue // a server's row may give the engine's total
						}
						compared++
						if m.N != d.N || m.Mean != d.Total.V || fmt.Sprint(m.Excluded) != fmt.Sprint(d.Excluded) {
							t.Errorf("%s %v: %d of %s with mean %v without %v; the metric is of %d, %v without %v",
								in.name, flags, d.N, d.Side, d.Total.V, d.Excluded, m.N, m.Mean, m.Excluded)
						}
					}
				})
			}
		}
	}
	least := 100
	if testing.Short() {
		least = 40
	}
	if compared < least {
		t.Errorf("%d decompositions were compared", compared)
	}
}
