package assemble

import (
	"servescope/analyzer/dataset"
	"servescope/analyzer/kernel/loads"
	"servescope/analyzer/metric"
	"servescope/analyzer/query"
	"servescope/analyzer/report"
	"servescope/analyzer/unit"
)

// checkReplicas takes back the number of replicas of a run that is configured to
// have more than emitted a token: not all of them are in the input.
func checkReplicas(out *report.Run, r *dataset.Run, q *query.Query) {
	exist := int64(0)
	for _, m := range r.Members {
		exist = max(exist, loads.Configured(m))
	}
	if v := out.Throughput.Values["replicas"]; q.Replicas > 0 || !v.Known || v.V >= float64(exist) {
		return
	}
	EachCell(out, func(c *report.Cell) {
		for _, name := range []string{"replicas", "tps_replica_model"} {
			if v := c.Throughput.Values[name]; v.Known {
				c.Throughput.Values[name] = report.Null(metric.Coverage.String())
			}
		}
	})
}

// noRequests says of a run without any row of a request that nothing is known of
// their numbers but what its producer claims.
func noRequests(out *report.Run, r *dataset.Run) {
	if out.Requests.Total > 0 || out.Requests.Filtered > 0 {
		return
	}
	claimed := report.ClaimedRequests{OK: report.Null("not_recorded"), Failed: report.Null("not_recorded")}
	some := false
	for _, m := range r.Members {
		for _, f := range m.Reported {
			switch v := report.KnownInt(int64(f.Value), unit.Request); {
			case f.Stat != "value" || len(r.Members) > 1:
			case f.Metric == "requests.ok":
				claimed.OK, some = v, true
			case f.Metric == "requests.failed":
				claimed.Failed, some = v, true
			}
		}
	}
	EachCell(out, func(c *report.Cell) { c.Requests.Reason = metric.NoRequests.String() })
	if some {
		out.Requests.Claimed = &claimed
	}
}
