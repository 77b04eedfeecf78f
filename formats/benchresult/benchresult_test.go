package benchresult

import (
	"context"
	"strings"
	"testing"

	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
	"servescope/formats"
	"servescope/formats/source"
)

func read(t *testing.T, text string) ([]*trace.RunMeta, formats.Account) {
	t.Helper()
	r, err := Format.Open(context.Background(), source.FromBytes("t", []byte(text)), formats.Whole, formats.Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for r.Next() {
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	return r.Runs(), r.Account()
}

// A line that was really written: -1 and null are unknown, times are in s.
func TestOneBatchServer(t *testing.T) {
	runs, a := read(t, `{"run_name": "default", "batch_size": 33, "input_len": 8192, "output_len": 65536, "latency": 3998.5722, "input_throughput": 3374.0, "output_throughput": 551.92, "overall_throughput": 608.47, "last_ttft": 80.1232, "last_gen_throughput": 66.18, "acc_length": -1.0, "cache_hit_rate": null}`)
	if len(runs) != 1 || a.Parsed != 1 || runs[0].NoRequests == "" {
		t.Fatalf("%+v %+v", runs, a)
	}
	want := map[string]trace.Reported{
		"latency": {Value: 3998572200000, Unit: unit.Nanosecond}, "last_ttft": {Value: 80123200000, Unit: unit.Nanosecond},
		"input_throughput": {Value: 3374, Unit: unit.TokenRate}, "output_throughput": {Value: 551.92, Unit: unit.TokenRate},
		"overall_throughput": {Value: 608.47, Unit: unit.TokenRate}, "last_gen_throughput": {Value: 66.18, Unit: unit.TokenRate},
	}
	for _, f := range runs[0].Reported {
		w, ok := want[f.Key]
		if !ok || f.Value != w.Value || f.Unit != w.Unit || f.Metric != "" {
			t.Errorf("%+v, want %+v", f, w)
		}
		delete(want, f.Key)
	}
	if len(want) > 0 {
		t.Errorf("missing %v", want)
	}
}

// The same results in other layouts, with damage between, are the same results.
func TestLayouts(t *testing.T) {
	const one = `{"elapsed_time": 12.5, "num_requests": 1000, "total_num_tokens": 384000, "requests_per_second": 80.0, "tokens_per_second": 30720.0}`
	for name, text := range map[string]string{
		"lines": one + "\n" + one, "glued": one + one, "array": "[" + one + ",\n " + one + "]", "pretty": strings.ReplaceAll(one, ", ", ",\n    ") + "\r\n\r\n" + one,
		"text between": one + "\nThroughput: 80.00 requests/s\n" + one,
	} {
		runs, a := read(t, text)
		if len(runs) != 2 || a.Parsed != 2 || len(runs[1].Reported) != 4 || !runs[1].HasDuration || runs[1].Duration != 12_500_000_000 {
			t.Errorf("%s: %d runs, %+v", name, len(runs), a)
		}
	}
}
