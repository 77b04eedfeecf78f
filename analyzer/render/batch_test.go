package render

import (
	"fmt"
	"strings"
	"testing"

	"servescope/analyzer/report"
	"servescope/analyzer/unit"
)

// batchReport is a report of a run whose replicas and engines are known.
func batchReport(replicas int) *report.Report {
	r := sample()
	r.Query = report.Query{}
	run := &r.Runs[0]
	run.Groups, run.Windows = nil, nil
	t := &run.Throughput
	for name, v := range map[string]report.Value{
		"batch_decode": report.Known(12, ""), "batch_running": report.Known(13.5, ""), "batch_decode_active": report.Null("not_recorded"), "batch_logged": report.Known(11.75, ""),
		"tpot_weighted": report.Known(12e9/1400, unit.NSPerToken), "replicas": report.Known(float64(replicas), ""), "tps_total_model": report.Known(1400, unit.TokenRate),
		"identity_ratio": report.Known(0.9985, unit.Ratio), "cross_ratio": report.Known(0.978, unit.Ratio), "weighting_ratio": report.Known(1.14, unit.Ratio),
		"decode_capacity": report.Known(4000, unit.TokenRate), "decode_capacity_unused": report.Known(0.65, unit.Ratio),
	} {
		t.Values[name] = v
	}
	for i := range replicas {
		t.Replicas = append(t.Replicas, report.Replica{Name: fmt.Sprintf("host-%d", i), Tokens: 10, TPS: report.Known(1000, unit.TokenRate),
			Batch: report.Known(10, ""), TPOT: report.Known(10e6, unit.NSPerToken), Model: report.Known(1000, unit.TokenRate)})
	}
	t.Engines = []report.EngineLoad{
		{Replica: "0", Gauge: "batch_running", Lines: 223, Batch: report.Known(11.75, ""), Max: report.Known(32, ""), Coverage: report.Known(0.9996, unit.Ratio), Tokens: report.Known(91.1, unit.TokenRate)},
		{Replica: "1", Gauge: "batch_running", Lines: 1, Batch: report.Null("coverage"), Max: report.Null("coverage"), Coverage: report.Known(0, unit.Ratio), Tokens: report.Null("not_recorded")},
	}
	run.Concurrency.Little = &report.Little{InFlight: report.Known(7.5, ""), Rate: report.Known(10, unit.PerSecond), Residence: report.Known(0.7e9, unit.Nanosecond), Product: report.Known(7, ""), Difference: report.Known(0.5, "")}
	whole := sampleCell(400, 1)
	run.Steady = &whole
	return r
}

func TestTextOfTheBatch(t *testing.T) {
	text := textOf(t, batchReport(2))
	for _, want := range []string{
		"host-0 10 10 ms/tok 1000 tok/s 1000 tok/s", "all (R = 2) 12 8.571 ms/tok 1400 tok/s 4502 tok/s",
		"B with prefill 13.50, as engines log it 11.75", "model ÷ measured identity 99.85 %, cross 97.80 %, weighting 114 %",
		"decode capacity 4000 tok/s, unused 65 %", "0 batch_running 223 11.75 32 99.96 % 91.10 tok/s",
		"Little's law 10 req/s × 700 ms = 7; counted over time 7.500", "steady window 400 requests, over 42.13 s",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	// What the section shows is not among the other rates.
	if strings.Contains(text, "batch_decode 12") || strings.Contains(text, "tps_total_model") {
		t.Errorf("the batch is there twice in\n%s", text)
	}
	if text := textOf(t, sample()); strings.Contains(text, "batch and model") || strings.Contains(text, "load as engines log it") || strings.Contains(text, "decode_capacity") {
		t.Errorf("a batch where there is none:\n%s", text)
	}
	if text := textOf(t, batchReport(20)); !strings.Contains(text, "4 replicas; JSON output lists them") || strings.Contains(text, "host-16") {
		t.Error(text)
	}
	both := batchReport(1)
	both.Runs = append(both.Runs, batchReport(2).Runs[0])
	both.Runs[1].Label = "other.json"
	flat := textOf(t, both)
	for _, want := range []string{"batch and model model ÷ measured as identity, cross and weighting run B logged TPOT B / TPOT identity cross weighting unused",
		"other.json 12 11.75 8.571 ms/tok 1400 tok/s 99.85 % 97.80 % 114 % 65 %", "batch and model other.json replica B TPOT", "load as engines log it bench-c128.json: means over time"} {
		if !strings.Contains(flat, want) {
			t.Errorf("%q is not in\n%s", want, flat)
		}
	}
	for _, r := range []*report.Report{batchReport(2), both} {
		for _, line := range strings.Split(string(render(t, text80, r)), "\n") {
			if columns(line) > 80 {
				t.Errorf("%d columns: %s", columns(line), line)
			}
		}
	}
	if strings.Contains(flat, "batch and model bench-c128.json replica") {
		t.Errorf("one replica has a table of its own in\n%s", flat)
	}
	if md := string(render(t, Markdown, batchReport(2))); !strings.Contains(md, "| `host-0` |") || !strings.Contains(md, "**batch and model**") {
		t.Error(md)
	}
	csv := string(render(t, CSV, batchReport(2)))
	for _, want := range []string{",replica.host-1.tps_replica_model,value,1000,tokens/s,", ",engine.0.batch_running.batch_logged,mean,11.75,,223,", ",engine.1.batch_running.batch_logged,mean,,,1,coverage", ",little,difference,0.5,", "bench-c128.json,steady,,,requests,total,400,"} {
		if !strings.Contains(csv, want) {
			t.Errorf("%q is not in the CSV", want)
		}
	}
}
