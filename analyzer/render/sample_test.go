package render

import (
	"math"
	"strconv"

	"servescope/analyzer/diag"
	"servescope/analyzer/report"
	"servescope/analyzer/unit"
)

// dist is a metric with a distribution that widens towards its tail.
func dist(u unit.Unit, n int64, median float64, excluded map[string]int64) report.Metric {
	m := report.Metric{
		Definition: "default", Unit: u, Side: "client", N: n, Mean: median * 1.1, Std: median / 3, Min: median / 4,
		Max: median * 7.3, Exact: true, Excluded: excluded,
	}
	m.Quantiles = map[string]float64{"0.5": median, "0.9": median * 1.9, "0.95": median * 2.4, "0.99": median * 4.2, "0.999": median * 6.9}
	m.Intervals = map[string][2]any{"0.5": {median * 0.9, median * 1.1}, "0.9": {median * 1.6, median * 2.1},
		"0.95": {median * 2.2, median * 3}, "0.99": {median * 3.1, median * 7}, "0.999": {median * 5, nil}}
	return m
}

func nothing(u unit.Unit, why string, n int64) report.Metric {
	return report.Metric{Definition: "default", Unit: u, Reason: why, Excluded: map[string]int64{why: n}}
}

// cell is what a run, a group or a window holds; factor makes them differ.
func sampleCell(n int64, factor float64) report.Cell {
	left := map[string]int64{"failed": 8, "aborted": 2}
	few := map[string]int64{"failed": 8, "aborted": 2, "n_lt_2": 8}
	return report.Cell{
		Requests: report.Requests{Total: n, OK: n - 10, Failed: 8, Aborted: 2},
		Metrics: map[string]report.Metric{
			"ttft":                   dist(unit.Nanosecond, n-10, 101.234e6*factor, left),
			"tpot":                   dist(unit.NSPerToken, n-18, 12.3456e6*factor, few),
			"chunk_gap":              dist(unit.Nanosecond, 199*n, 11.9e6*factor, left),
			"token_latency":          nothing(unit.NSPerToken, "not_recorded", n),
			"e2e":                    dist(unit.Nanosecond, n-10, 2.6e9*factor, left),
			"ttft_server":            nothing(unit.Nanosecond, "not_recorded", n),
			"ttft_client":            dist(unit.Nanosecond, n-10, 101.234e6*factor, left),
			"prompt_tokens":          dist(unit.Token, n, 512, nil),
			"output_tokens":          dist(unit.Token, n-10, 128, left),
			"tpot_after_first_chunk": nothing(unit.NSPerToken, "not_recorded", n),
			"e2e_stream_end":         nothing(unit.Nanosecond, "not_streamed", n),
		},
		Throughput: report.Throughput{
			From: report.KnownInt(1764428000250e6, unit.Nanosecond), To: report.KnownInt(1764428042380e6, unit.Nanosecond),
			Window: report.KnownInt(42130e6, unit.Nanosecond),
			Values: map[string]report.Value{
				"request_rate": report.Known(23.4987, unit.PerSecond), "request_rate_ok": report.Known(23.2, unit.PerSecond),
				"tps": report.Known(4511.2*factor, unit.TokenRate), "tps_decode": report.Known(4501.7*factor, unit.TokenRate),
				"tps_end_to_end": report.Known(16123, unit.TokenRate), "tps_replica_model": report.Null("coverage"),
			},
		},
		Concurrency: report.Concurrency{Mean: report.Known(118.24, ""), Max: report.Known(128, ""),
			SteadyFrom: report.KnownInt(1764428003450e6, unit.Nanosecond), SteadyTo: report.KnownInt(1764428038900e6, unit.Nanosecond)},
	}
}

func sampleRun(label string, factor float64) report.Run {
	return report.Run{
		Label: label, Format: "vllm-bench", Engine: "vllm", Version: "≥v0.8", Model: "meta-llama/Llama-3.1-8B-Instruct",
		Side: "client", Clock: "wall", Duration: report.Known(42.5e9, unit.Nanosecond), Cell: sampleCell(1000, factor),
		Reported: []report.Reported{
			{Key: "mean_ttft_ms", Metric: "ttft", Stat: "mean", Unit: unit.Nanosecond, Value: 111.3574e6 * factor, Ours: report.Known(111.3574e6*factor, unit.Nanosecond)},
			{Key: "p99_tpot_ms", Metric: "tpot", Stat: "0.99", Unit: unit.NSPerToken, Value: 53e6, Ours: report.Known(51.85152e6, unit.NSPerToken), Note: "the producer counts from the first event"},
			{Key: "mean_itl_ms", Metric: "chunk_gap", Stat: "mean", Unit: unit.Nanosecond, Value: 13e6, Ours: report.Null("not_recorded")},
			{Key: "num_prompts", Stat: "value", Unit: unit.Request, Value: 1000},
		},
		Audit: &report.Audit{Definition: "vllm-2026", Figures: 4, Equal: 1, Explained: 1, Differs: 1, Unchecked: 1, Checks: 3, Broken: 1, Findings: []report.Finding{
			{Kind: "impossible", Key: "ttfts", Metric: "ttft", Unit: unit.Nanosecond, Count: 8, Value: report.Known(0, unit.Nanosecond), Expected: report.Null("not_recorded"),
				Factor: report.Known(1.008, ""), Note: "a failed request carries 0"},
			{Kind: "differs", Key: "mean_itl_ms", Metric: "chunk_gap", Stat: "mean", Unit: unit.Nanosecond, Value: report.Known(13e6, unit.Nanosecond),
				Expected: report.Known(26e6, unit.Nanosecond), Factor: report.Known(2, ""), More: 3, Note: "the requests give 2 times this"},
			{Kind: "explained", Cause: "definition", Key: "p99_tpot_ms", Metric: "tpot", Stat: "0.99", Unit: unit.NSPerToken, Value: report.Known(53e6, unit.NSPerToken),
				Expected: report.Known(51.85152e6, unit.NSPerToken), Factor: report.Known(0.97833, ""), Note: "the producer counts from the first event"},
		}},
		Notes: []string{"first_event: the producer records the role chunk as the first token."},
	}
}

func sample() *report.Report {
	r := &report.Report{
		Schema:     report.Schema,
		Query:      report.Query{By: []string{"tenant"}, Window: 10e9, SLO: []string{"ttft=500ms", "tpot=50ms"}},
		Definition: report.Definition{Name: "default", Title: "first generated token, last token, server counts", Percentile: "linear"},
		Runs:       []report.Run{sampleRun("bench-c128.json", 1)},
		Diags: []diag.Diag{
			{Code: "no_start_times", Severity: diag.Info, File: "bench-c128.json", Offset: -1, Count: 1, Msg: "the file has no start times: rates come from the producer's own duration"},
			{Code: "truncated_record", Severity: diag.DataLoss, File: "bench-c128.json", Offset: 436001, Line: 14, Count: 3, Msg: "the record is cut off", Fix: "wait for the benchmark to finish, or copy the file again"},
		},
	}
	run := &r.Runs[0]
	run.Goodput = &report.Goodput{SLO: r.Query.SLO, Denominator: 1000, Good: 912, Missed: 88, Share: report.Known(0.912, unit.Ratio),
		Rate: report.Known(21.4, unit.PerSecond), MissedBy: map[string]int64{"ttft": 80, "tpot": 10, "failed": 8}}
	for i, tenant := range []string{"team-a", "team-b with quite a long name that goes on", ""} {
		g := report.Group{By: map[string]string{"tenant": tenant}, Cell: sampleCell(100*int64(i+1), 1+float64(i)/3)}
		g.Goodput = &report.Goodput{Share: report.Known(0.9-float64(i)/10, unit.Ratio)}
		run.Groups = append(run.Groups, g)
	}
	for i := range int64(4) {
		w := report.Window{From: 1764428000250e6 + i*10e9, To: 1764428010250e6 + i*10e9, Cell: sampleCell(250, 1+float64(i)/7)}
		run.Windows = append(run.Windows, w)
	}
	return r
}

// several is a report of runs side by side, one of which has nothing to show.
func several() *report.Report {
	r := sample()
	r.Query = report.Query{}
	r.Runs = nil
	for i := range 4 {
		run := sampleRun("llama-70b-tp4-concurrency-"+strconv.Itoa(32<<i)+".json", math.Ldexp(1, i-1))
		if i == 3 {
			for name, m := range run.Metrics {
				run.Metrics[name] = nothing(m.Unit, "not_streamed", 1000)
			}
		}
		r.Runs = append(r.Runs, run)
	}
	return r
}

// aggregates is a report of n files that hold no per-request data.
func aggregates(n int) *report.Report {
	r := &report.Report{Schema: report.Schema, Definition: report.Definition{Name: "default"}}
	for i := range n {
		run := sampleRun("aggregates-"+strconv.Itoa(i)+".json", 1)
		run.Cell = report.Cell{Metrics: map[string]report.Metric{"ttft": {Unit: unit.Nanosecond, Reason: "no_requests"}}}
		for j := range run.Reported {
			run.Reported[j].Ours = report.Null("no_requests")
			run.Reported[j].Value *= float64(i + 1)
		}
		r.Runs = append(r.Runs, run)
	}
	return r
}
