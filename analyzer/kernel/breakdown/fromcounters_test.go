package breakdown

import (
	"strings"
	"testing"

	"servescope/analyzer/report"
	"servescope/analyzer/trace"
)

// counters are the means of an engine's histograms in ms, each over n
// observations.
func counters(means map[string]float64, n map[string]float64) *trace.RunMeta {
	m := new(trace.RunMeta)
	for _, metric := range []string{"ttft_server", "e2e", "d_queue", "d_prefill"} {
		if v, ok := means[metric]; ok {
			m.Reported = append(m.Reported, trace.Reported{Key: "engine:" + metric + "_count", Stat: "value", Value: n[metric]},
				trace.Reported{Key: "engine:" + metric, Metric: metric, Stat: "mean", Value: v * 1e6})
		}
	}
	return m
}

func TestMeansOfCounters(t *testing.T) {
	means := map[string]float64{"ttft_server": 147, "e2e": 1665, "d_queue": 31, "d_prefill": 61}
	all := map[string]float64{"ttft_server": 600, "e2e": 600, "d_queue": 600, "d_prefill": 600}
	d, ok := Means(counters(means, all))
	if !ok || d.N != 600 || d.Side != "server" || len(d.Tables) != 1 {
		t.Fatalf("%t, %+v", ok, d)
	}
	b := &d.Tables[0]
	var got []string
	for _, e := range b.Entries {
		got = append(got, strings.Join(e.Leaves, "+")+" "+string(e.Mean.Unit))
	}
	if s := strings.Join(got, ", "); s != "queue ns, prefill ns, input+ingress+egress ns" {
		t.Errorf("entries: %s", s)
	}
	if b.Entries[0].Mean.V != 31e6 || b.Entries[2].Mean.V != 55e6 || b.Residual.Mean.V != 0 || b.Terms[0].Low.V != 31e6 || b.Terms[0].High.V != 86e6 || b.N != 600 {
		t.Errorf("%+v", b)
	}
	all["ttft_server"] = 664
	d, ok = Means(counters(means, all))
	if !ok || len(d.Notes) != 1 || d.N != 664 || d.Total.Int != 147e6 || len(d.Tables[0].Entries) != 0 || d.Tables[0].Residual.Mean.V != 147e6 {
		t.Errorf("TTFT of requests that have not ended: %t, %+v", ok, d)
	}
	state := func(name string) report.Leaf {
		for _, l := range d.Tables[0].Leaves {
			if l.Name == name {
				return l
			}
		}
		return report.Leaf{}
	}
	if l := state("queue"); l.State != "null" || l.Reason != "population" {
		t.Errorf("%+v", l)
	}
	if l := state("kv_transfer"); l.State != "absent" {
		t.Errorf("%+v", l)
	}
	delete(means, "d_prefill")
	if _, ok := Means(counters(means, all)); ok {
		t.Error("there are parts without a prefill")
	}
	two := counters(map[string]float64{"ttft_server": 1, "e2e": 2, "d_queue": 3, "d_prefill": 4}, all)
	two.Reported = append(two.Reported, two.Reported...)
	if _, ok := Means(two); ok {
		t.Error("counters of two models are one decomposition")
	}
}
