package assemble

import (
	"testing"

	"servescope/analyzer/dataset"
	"servescope/analyzer/query"
	"servescope/analyzer/report"
	"servescope/analyzer/trace"
)

// TestReplicasThatDoNotReport: the log of one of two engines.
func TestReplicasThatDoNotReport(t *testing.T) {
	out := &report.Run{Cell: report.Cell{Throughput: report.Throughput{Values: map[string]report.Value{
		"replicas": report.Known(1, ""), "tps_replica_model": report.Known(100, ""), "tps_total_model": report.Known(100, "")}}}}
	r := &dataset.Run{Members: []*trace.RunMeta{{}, {Config: []trace.Pair{{Key: "dp_size", Value: "2"}}}}}
	given := new(query.Query)
	given.Replicas = 1
	checkReplicas(out, r, given)
	if !out.Throughput.Values["replicas"].Known {
		t.Error("a number that is given is not taken")
	}
	checkReplicas(out, r, new(query.Query))
	for name, known := range map[string]bool{"replicas": false, "tps_replica_model": false, "tps_total_model": true} {
		if v := out.Throughput.Values[name]; v.Known != known || !known && v.Reason != "coverage" {
			t.Errorf("%s: %+v", name, v)
		}
	}
}
