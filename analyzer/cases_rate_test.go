package analyzer

import (
	"fmt"
	"strings"
	"testing"

	"servescope/analyzer/query"
	"servescope/analyzer/report"
)

func slo(t *testing.T, text string) []query.Limit {
	t.Helper()
	l, err := query.ParseSLO(text)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestP12TTFTIsNoGap(t *testing.T) {
	run, _ := ask(t, nil, bench(2024, `"completed":3,"input_lens":[9,9,9],"output_lens":[3,3,3],"ttfts":[0.2,0.3,0.4],"itls":[[0.2,0.01,0.01],[0.3,0.01,0.01],[0.4,0.01,0.01]],"errors":["","",""]`))
	wants(t, &run.Cell, "chunk_gap", 6, "mean", 10.0, "max", 10.0)
	wants(t, &run.Cell, "ttft", 3, "mean", 300.0)
	wants(t, &run.Cell, "tpot", 3, "mean", 10.0)
}

func TestP13ChunksOfSeveralTokens(t *testing.T) {
	run, _ := ask(t, nil, lines(`"sent":0,"token_timestamps":[0.1,0.13,0.16],"chunk_tokens":[1,4,3],"output_tokens":8`))
	wants(t, &run.Cell, "chunk_gap", 2, "min", 30.0, "max", 30.0)
	wants(t, &run.Cell, "tpot", 1, "mean", 60.0/7)
	wants(t, &run.Cell, "token_latency", 7, "mean", 60.0/7, "0.5", 7.5, "max", 10.0)
	wants(t, &run.Cell, "tokens_per_chunk", 2, "mean", 3.5)
}

func TestP15RequestedLengthIsNoCount(t *testing.T) {
	run, _ := ask(t, nil, lines(`"sent":0,"max_tokens":1000,"output_tokens":11,"first_token":0.1,"last_token":0.3`))
	wants(t, &run.Cell, "tpot", 1, "mean", 20.0)
	run, _ = ask(t, nil, lines(`"sent":0,"max_tokens":1000,"first_token":0.1,"last_token":0.3`))
	nothing(t, &run.Cell, "tpot", "n_unknown", 1)
}

func TestP16ZeroOneAndTwoTokens(t *testing.T) {
	run, _ := ask(t, nil, lines(`"sent":0,"token_timestamps":[],"output_tokens":0,"finished":0.05`, `"sent":0,"token_timestamps":[0.08],"output_tokens":1`, `"sent":0,"token_timestamps":[0.08,0.1],"output_tokens":2`))
	wants(t, &run.Cell, "tpot", 1, "mean", 20.0, "min", 20.0, "max", 20.0)
	if e := run.Metrics["tpot"].Excluded; e["no_token"] != 1 || e["n_lt_2"] != 1 {
		t.Errorf("excluded %v", e)
	}
}

func TestP17ClientCountIsNotTheServers(t *testing.T) {
	record := `"sent":0,"first_token":0.1,"last_token":6.1,"output_tokens":1000,"client_tokens":%d`
	for _, clients := range []int{1000, 125} {
		run, r := ask(t, nil, lines(fmt.Sprintf(record, clients)))
		wants(t, &run.Cell, "tpot", 1, "mean", 6000.0/999)
		if clients == 125 {
			says(t, r, "the client counts 12.5")
		} else if text := jsonOf(t, r); strings.Contains(text, "the client counts") {
			t.Error("a difference where there is none")
		}
	}
}

func TestP21PooledAndPerRequest(t *testing.T) {
	var stamps []string
	for i := range 101 {
		stamps = append(stamps, fmt.Sprintf("%.2f", 1+float64(i)/100))
	}
	run, _ := ask(t, nil, lines(`"sent":0,"token_timestamps":[1,1.1],"output_tokens":2`, `"sent":0,"token_timestamps":[`+strings.Join(stamps, ",")+`],"output_tokens":101`))
	wants(t, &run.Cell, "chunk_gap", 101, "mean", 1100.0/101, "0.99", 10.0, "max", 100.0)
	wants(t, &run.Cell, "tpot", 2, "mean", 55.0)
}

func TestP24PeakIsNotBelowTheMean(t *testing.T) {
	var stamps, tokens []string
	for i := range 20 {
		stamps, tokens = append(stamps, fmt.Sprintf("%.1f", float64(i+1)/10)), append(tokens, "5")
	}
	run, _ := ask(t, nil, lines(`"sent":0,"token_timestamps":[`+strings.Join(stamps, ",")+`],"chunk_tokens":[`+strings.Join(tokens, ",")+`],"output_tokens":100`))
	rate(t, &run.Cell, "tps", 50)
	rate(t, &run.Cell, "tps_peak", 50)
	run, _ = ask(t, nil, lines(`"sent":0,"token_timestamps":[0.1,0.2],"output_tokens":2`))
	if v := run.Throughput.Values["tps_peak"]; v.Known || v.Reason != "bucket_longer_than_run" {
		t.Errorf("a run of 0.2 s has a peak of one second: %+v", v)
	}
}

func TestP25SpeedsOfARequest(t *testing.T) {
	run, _ := ask(t, nil, lines(`"sent":0,"first_token":1,"last_token":2,"output_tokens":101`))
	wants(t, &run.Cell, "tps_e2e", 1, "mean", 50.5)
	wants(t, &run.Cell, "tps_decode", 1, "mean", 100.0)
	wants(t, &run.Cell, "tps_request", 1, "mean", 100.0)
}

func TestP26ThroughputOverWhichTime(t *testing.T) {
	var records []string
	for i := range 10 {
		records = append(records, fmt.Sprintf(`"sent":0,"token_timestamps":[%d],"output_tokens":1,"finished":%d`, 10+i, 10+i))
	}
	run, _ := ask(t, nil, lines(records...))
	rate(t, &run.Cell, "request_rate_ok", 10.0/19)
	rate(t, &run.Cell, "request_rate_completions", 1)
	th := run.Throughput
	if th.From.Int != 0 || th.To.Int != 19e9 || th.Window.Int != 19e9 {
		t.Errorf("W is not printed: %+v", th)
	}
	if c := run.Concurrency; c.SteadyFrom.Known || c.SteadyFrom.Reason == "" {
		t.Errorf("ten requests at once have a steady window: %+v", c)
	}
}

func TestP58SecondsSinceBootAreNoDate(t *testing.T) {
	in := bench(2026, `"completed":2,"input_lens":[9,9],"output_lens":[2,2],"ttfts":[0.1,0.1],"itls":[[0.02],[0.02]],"start_times":[412345.678,412346.250],"errors":["",""]`)
	run, r := ask(t, nil, in)
	if run.Clock != "monotonic" || strings.Contains(jsonOf(t, r), "1970") {
		t.Errorf("clock %s", run.Clock)
	}
	if th := run.Throughput; th.From.Int != 412345678e6 || th.Window.Int != 692e6 {
		t.Errorf("W %+v", th)
	}
	run, _ = ask(t, []string{"from=+500ms"}, in)
	if run.Requests.Total != 1 || run.Requests.Filtered != 1 {
		t.Errorf("from the middle: %+v", run.Requests)
	}
	run, r = ask(t, []string{"from=2026-03-05T08:30:00Z"}, in)
	if run.Requests.Total != 0 {
		t.Errorf("calendar time selects %+v", run.Requests)
	}
	says(t, r, "no_common_clock")
}

func TestP85FailuresAreInNoLatency(t *testing.T) {
	var records []string
	for i := range 8 {
		records = append(records, fmt.Sprintf(`"sent":%d,"token_timestamps":[%d.5,%d],"output_tokens":2,"finished":%d`, i, i, i+1, i+1))
	}
	for range 2 {
		records = append(records, `"sent":0,"error":"timeout","finished":60`)
	}
	q := queryOf(t)
	q.SLO = slo(t, "e2e=2s")
	run := analyze(t, q, lines(records...)).Runs[0]
	wants(t, &run.Cell, "e2e", 8, "mean", 1000.0, "max", 1000.0)
	rate(t, &run.Cell, "request_rate_ok", 1)            // active: [0, 8 s]
	rate(t, &run.Cell, "request_rate_ok_whole", 8.0/60) // until the last time-out
	if r := run.Requests; r.Total != 10 || r.Failed != 2 {
		t.Errorf("requests %+v", r)
	}
	if g := run.Goodput; g.Denominator != 10 || g.Good != 8 || g.Missed != 2 || g.Share.V != 0.8 {
		t.Errorf("goodput %+v", g)
	}
}

func TestP88StartBurstOfAClosedLoop(t *testing.T) {
	// 64 users; the first requests wait for each other, 20 ms each; later ones
	// take 1.28 s with a TTFT of 100 ms, one finishing every 20 ms.
	var records []string
	add := func(sent, first, end float64) {
		records = append(records, fmt.Sprintf(`"sent":%.3f,"token_timestamps":[%.3f,%.3f],"output_tokens":2,"finished":%.3f`, sent, first, end, end))
	}
	for i := range 64 {
		end := 1.28 + 0.02*float64(i)
		add(0, 0.02*float64(i+1), end)
		for k := 0; k < 9; k++ {
			add(end, end+0.1, end+1.28)
			end += 1.28
		}
	}
	run, _ := ask(t, []string{"trim=steady"}, lines(records...))
	if run.Untrimmed == nil {
		t.Fatal("the figures before the trim are missing")
	}
	whole := run.Untrimmed
	if !whole.Concurrency.SteadyFrom.Known || whole.Concurrency.Max.V != 64 {
		t.Fatalf("no steady window: %+v", whole.Concurrency.SteadyFrom)
	}
	if whole.Requests.Total != 640 || run.Removed.Trim < 64 || run.Requests.Total+run.Removed.Trim != 640 || run.Requests.Filtered != run.Removed.Trim {
		t.Errorf("%+v of %+v, removed %+v", run.Requests, whole.Requests, run.Removed)
	}
	wants(t, &run.Cell, "ttft", run.Requests.Total, "0.99", 100.0, "max", 100.0)
	// numpy.percentile of 64 burst TTFTs and 576 of 100 ms, at 99 %
	if got := whole.Metrics["ttft"].Quantiles["0.99"] / ms; got < 1000 {
		t.Errorf("p99 of the whole run is %v", got)
	}
}

func TestP90Percentiles(t *testing.T) {
	var records []string
	for _, ttft := range []int{10, 20, 30, 40, 50, 60, 70, 80, 90, 1000} {
		records = append(records, fmt.Sprintf(`"sent":0,"token_timestamps":[%.3f],"output_tokens":1`, float64(ttft)/1000))
	}
	run, r := ask(t, nil, lines(records...))
	wants(t, &run.Cell, "ttft", 10, "0.5", 55.0, "0.9", 181.0, "0.95", 590.5, "0.99", 918.1)
	m := run.Metrics["ttft"]
	if r.Definition.Percentile != "linear" || len(m.Intervals) == 0 || !few(m) {
		t.Errorf("method %q, intervals %v, notes %v", r.Definition.Percentile, m.Intervals, m.Notes)
	}
}

// few reports whether a metric says that it has too few values for its p99.
func few(m report.Metric) bool {
	for _, n := range m.Notes {
		if strings.Contains(n, "99") {
			return true
		}
	}
	return false
}
