package analyzer

import (
	"servescope/analyzer/kernel"
	"servescope/analyzer/metric"
	"servescope/analyzer/query"
	"servescope/analyzer/report"
)

// checkReplicas takes back the number of replicas of a run that is configured to
// have more than emitted a token: not all of them are in the input.
func checkReplicas(out *report.Run, r *run, q *query.Query) {
	exist := int64(0)
	for _, m := range r.members {
		exist = max(exist, kernel.Configured(m))
	}
	if v := out.Throughput.Values["replicas"]; q.Replicas > 0 || !v.Known || v.V >= float64(exist) {
		return
	}
	eachCell(out, func(c *report.Cell) {
		for _, name := range []string{"replicas", "tps_replica_model"} {
			if v := c.Throughput.Values[name]; v.Known {
				c.Throughput.Values[name] = report.Null(metric.Coverage.String())
			}
		}
	})
}
