package analyzer

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"servescope/analyzer/query"
	"servescope/analyzer/report"
)

// client is a tokenlog record of a client whose clock begins with the run: sent
// at the first time, its chunks at the others, in ms, and more keys.
func client(id string, n int, more string, sent float64, chunks ...float64) string {
	var stamps []string
	for _, c := range chunks {
		stamps = append(stamps, fmt.Sprint(c/1000))
	}
	end := sent
	if len(chunks) > 0 {
		end = chunks[len(chunks)-1]
	}
	if more != "" {
		more = "," + more
	}
	return fmt.Sprintf(`{"request_id":%q,"side":"client","clock":"run","sent":%v,"first_event":%v,"token_timestamps":[%s],"output_tokens":%d,"client_tokens":%[5]d,"finished":%v%s}`+"\n",
		id, sent/1000, slices.Concat(chunks, []float64{end})[0]/1000, strings.Join(stamps, ","), n, end/1000, more)
}

// failed is a record of a request that failed at the given time.
func failed(id string, sent, end float64) string {
	return fmt.Sprintf(`{"request_id":%q,"side":"client","clock":"run","sent":%v,"finished":%v,"error":"TimeoutError: x"}`+"\n", id, sent/1000, end/1000)
}

// every returns n chunks, the first at start, the others step apart.
func every(n int, start, step float64) (chunks []float64) {
	for i := range n {
		chunks = append(chunks, start+step*float64(i))
	}
	return chunks
}

func is(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9*math.Max(1, math.Abs(want)) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

func isRate(t *testing.T, r *report.Run, name string, want float64) {
	t.Helper()
	v := r.Throughput.Values[name]
	if !v.Known {
		t.Errorf("%s is null (%s), want %v", name, v.Reason, want)
		return
	}
	is(t, name, v.V, want)
}

func meanMS(r *report.Run, name string) float64 { return r.Metrics[name].Mean / 1e6 }

func TestD1PooledAndPerRequest(t *testing.T) {
	log := client("r1", 2, "", 0, 50, 150) + client("r2", 101, "", 0, every(101, 50, 10)...)
	r := under(t, "", log)
	is(t, "chunk_gap", meanMS(r, "chunk_gap"), 1100.0/101) // 10.89
	is(t, "tpot", meanMS(r, "tpot"), 55)
	is(t, "tpot under vllm-2026", meanMS(under(t, "vllm-2026", log), "tpot"), 55)
	// GuideLLM's ITL is per request and weighted: as if it were pooled.
	is(t, "itl under guidellm", meanMS(under(t, "guidellm", log), "chunk_gap"), 1100.0/101)
}

func TestD2Goodput(t *testing.T) {
	var log string
	for i := range 5 {
		log += client(fmt.Sprint("good", i), 11, "", float64(i)*1000, every(11, float64(i)*1000+500, 20)...)
	}
	log += client("one", 1, "", 0, 600) + client("late", 11, "", 0, every(11, 1500, 20)...) + client("slow", 11, "", 0, every(11, 500, 5950)...)
	log += failed("f1", 0, 100) + failed("f2", 0, 100)
	slo := []query.Limit{{Metric: "ttft", Max: 1e9}, {Metric: "tpot", Max: 50e6}}
	for name, want := range map[string][3]float64{ // good, of how many, per second
		"": {6, 10, 0.1}, "vllm-2024": {6, 8, 0.1}, "vllm-2026": {6, 8, 0.1},
		"aiperf": {5, 8, 5.0 / 60}, "genai-perf": {5, 8, 5.0 / 60}, "inference-perf": {5, 8, 5.0 / 60},
	} {
		r := analyze(t, &query.Query{Definition: name, SLO: slo}, textFile{name: "log.jsonl", text: log}).Runs[0]
		g := r.Goodput
		if float64(g.Good) != want[0] || float64(g.Denominator) != want[1] || g.Good+g.Missed+g.Unknown != g.Denominator {
			t.Errorf("%q: %d of %d", name, g.Good, g.Denominator)
		}
		is(t, name+" share", g.Share.V, want[0]/want[1])
		is(t, name+" rate", g.Rate.V, want[2])
	}
}

func TestD3Concurrency(t *testing.T) {
	apart := client("a", 2, "", 0, 100, 400) + client("b", 2, "", 500, 600, 900)
	touching := client("a", 2, "", 0, 100, 500) + client("b", 2, "", 500, 600, 1000)
	for name, want := range map[string]float64{"": 1, "vllm-2024": 2, "vllm-2026": 1} {
		is(t, name, under(t, name, apart).Concurrency.Max.V, want)
	}
	is(t, "touching", under(t, "", touching).Concurrency.Max.V, 1)
	isRate(t, under(t, "", apart), "concurrency_little", 0.8/0.9)
	isRate(t, under(t, "sglang", apart), "concurrency_little", 0.8/0.9)
}

func TestD4Percentiles(t *testing.T) {
	var log string
	for _, ttft := range []float64{10, 20, 30, 40, 50, 60, 70, 80, 90, 1000} {
		log += client(fmt.Sprint(ttft), 2, "", 0, ttft, ttft+10)
	}
	for name, want := range map[string][3]float64{"": {55, 181, 918.1}, "guidellm": {50, 90, 1000}, "mlperf": {60, 1000, 1000}, "llmperf": {55, 181, 918.1}} {
		q := under(t, name, log).Metrics["ttft"].Quantiles
		for i, rank := range []string{"0.5", "0.9", "0.99"} {
			is(t, name+" p"+rank, q[rank]/1e6, want[i])
		}
	}
}

func TestD5Duration(t *testing.T) {
	log := client("first", 1, "", 0, 10_000) + client("last", 599, "", 50_000, 55_000, 60_000) + failed("timeout", 0, 110_000)
	isRate(t, under(t, "", log), "tps", 10)
	isRate(t, under(t, "", log), "tps_whole", 600.0/110)
	for name, want := range map[string]float64{"aiperf": 10, "genai-perf": 10, "inference-perf": 600.0 / 110, "mlperf": 60} {
		isRate(t, under(t, name, log), "tps_decode", want)
	}
}

func TestD6TokenWeighted(t *testing.T) {
	log := client("r1", 2, "", 0, 100, 110) + client("r2", 1001, "", 0, 100, 20_100)
	r := under(t, "", log)
	is(t, "tpot", meanMS(r, "tpot"), 15)
	isRate(t, r, "tpot_weighted", 20_010e6/1001) // 19.99 ms
}

func TestD7FromSchedule(t *testing.T) {
	log := client("r", 2, `"scheduled_send":0`, 1500, 1700, 1720)
	is(t, "ttft under vllm-2026", meanMS(under(t, "vllm-2026", log), "ttft"), 200)
	r := under(t, "", log)
	is(t, "ttft", meanMS(r, "ttft"), 200)
	is(t, "ttft_client_from_schedule", meanMS(r, "ttft_client_from_schedule"), 1700)
}

func TestD8Identity(t *testing.T) {
	for _, n := range []int{10, 1000} {
		log := client("r", n, "", 0, every(n, 120, 10)...)
		r := under(t, "", log)
		is(t, "ttft + tpot (n - 1)", meanMS(r, "ttft")+meanMS(r, "tpot")*float64(n-1), meanMS(r, "e2e"))
		is(t, "tpot with n", meanMS(under(t, "databricks", log), "tpot"), meanMS(r, "tpot")*(1-1/float64(n)))
	}
	// Ends that are not the same event break it: the response ends later.
	r := under(t, "vllm-2024", fmt.Sprintf(workedRequest, ""))
	if sum := meanMS(r, "ttft") + meanMS(r, "tpot")*9; math.Abs(sum-261) > 1e-9 {
		t.Errorf("vllm-2024: %v, by its own ends 261", sum)
	}
	if ours := under(t, "", fmt.Sprintf(workedRequest, "")); meanMS(ours, "tpot_from_total") == meanMS(ours, "tpot") {
		t.Error("the two forms of TPOT agree though the response ends later")
	}
}

// TestD9Queue: what vLLM calls queue begins in the engine; the request has waited
// before.
func TestD9Queue(t *testing.T) {
	r := under(t, "", `{"request_id":"r","clock":"run","arrival":0,"queued":0.25,"admitted":0.26,"token_timestamps":[0.4,0.41],"output_tokens":2}`+"\n")
	for _, d := range r.Decompositions {
		if d.Of != "ttft" {
			continue
		}
		got := map[string]float64{}
		for _, e := range d.Tables[0].Entries {
			got[strings.Join(e.Leaves, "+")] = e.Mean.V / 1e6
		}
		is(t, "the engine's queue", got["queue"], 10)
		is(t, "since arrival", got["queue"]+got["input+ingress"], 260)
		return
	}
	t.Error("ttft is not taken apart")
}

func TestD10TwoSpeeds(t *testing.T) {
	r := under(t, "", client("r", 101, "", 0, every(101, 1000, 10)...))
	is(t, "1/TPOT", r.Metrics["tps_request"].Mean, 100)
	is(t, "n/E2E", r.Metrics["tps_e2e"].Mean, 50.5)
}

func TestD11StaticBatch(t *testing.T) {
	var log string
	for i := range 10 {
		log += client(fmt.Sprint(i), 2, "", 0, 1000, 1100)
	}
	is(t, "ttft", meanMS(under(t, "", log), "ttft"), 1000)
}

// TestD12Histogram: a histogram gives bounds; the values that interpolation
// would make up lie between them, and so does the truth, 1.05 s.
func TestD12Histogram(t *testing.T) {
	const name = "vllm:time_to_first_token_seconds"
	log := "# TYPE " + name + " histogram\n" + name + `_bucket{le="1.0"} 0` + "\n" + name + `_bucket{le="2.5"} 100` + "\n" +
		name + `_bucket{le="+Inf"} 100` + "\n" + name + "_sum 105\n" + name + "_count 100\n"
	r := analyze(t, new(query.Query), textFile{name: "metrics.prom", text: log}).Runs[0]
	told := map[string]float64{}
	for _, f := range r.Reported {
		told[strings.TrimPrefix(f.Key, name)] = f.Value / 1e9
	}
	for rank, made := range map[string]float64{"p50": 1 + 1.5*0.5, "p99": 1 + 1.5*0.99} { // 1.75, 2.485
		is(t, rank, told[" "+rank+" is above"], 1)
		is(t, rank, told[" "+rank+" is at most"], 2.5)
		for key, v := range told {
			if v == made {
				t.Errorf("%s is made up: %v", key, v)
			}
		}
	}
	is(t, "the mean", told[""], 1.05)
	if m := r.Metrics["ttft"]; m.N != 0 {
		t.Errorf("a histogram gives %d values of ttft", m.N)
	}
}

func TestD14SpeculativeDecoding(t *testing.T) {
	log := client("r", 10, `"chunk_tokens":[1,3,3,3],"spec_accepted":6,"verify_steps":3`, 0, every(4, 100, 30)...)
	r := under(t, "", log)
	is(t, "a step", meanMS(r, "chunk_gap"), 30)
	is(t, "a token", meanMS(r, "token_latency"), 10)
	is(t, "tokens per step", r.Metrics["accept_length"].Mean, 3)
	is(t, "itl under sglang", meanMS(under(t, "sglang", log), "chunk_gap"), 10)
}

// TestD15Disaggregated: of a request that one node prefills and another decodes,
// TTFT is what lies between the proxy's receipt and its first token. The nodes'
// own are 300 and 160 ms; they are not added, and the prefill node's token is not
// one more.
func TestD15Disaggregated(t *testing.T) {
	log := `{"request_id":"r","side":"proxy","clock":"run","arrival":0,"token_timestamps":[0.46,0.48],"output_tokens":2}
{"request_id":"r","side":"prefill","clock":"run","queued":0.01,"token_timestamps":[0.31],"output_tokens":1,"finished":0.31}
{"request_id":"r","side":"decode","clock":"run","queued":0.3,"token_timestamps":[0.46,0.48],"output_tokens":2}
`
	r := under(t, "", log)
	is(t, "ttft", meanMS(r, "ttft"), 460)
	is(t, "of the decode node", meanMS(r, "ttft_engine"), 160)
	if m := r.Metrics["ttft"]; m.Side != "proxy" || m.N != 1 || r.Requests.Total != 1 {
		t.Errorf("%d of the %s side, %d requests", m.N, m.Side, r.Requests.Total)
	}
	is(t, "output_tokens", r.Metrics["output_tokens"].Mean, 2)
	lines := strings.SplitAfter(log, "\n")
	is(t, "of the prefill node", prefillTTFT(t, lines[1]), 300)
}

// prefillTTFT is the TTFT of a prefill node alone, in ms, as its decomposition has it.
func prefillTTFT(t *testing.T, log string) float64 {
	for _, d := range under(t, "", log).Decompositions {
		if d.Of == "ttft" && d.Side == "prefill" {
			return d.Total.V / 1e6
		}
	}
	t.Error("the prefill node's ttft is not taken apart")
	return 0
}
