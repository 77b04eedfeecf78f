package breakdown

import (
	"fmt"

	"servescope/analyzer/decompose"
	"servescope/analyzer/kernel/request"
	"servescope/analyzer/metric"
	"servescope/analyzer/report"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
)

// observed is a mean that an engine counts itself, in ns, over n observations.
type observed struct {
	mean    int64
	n       float64
	known   bool
	several bool // more than one series: they cannot be matched
}

// Means takes the mean time to first token that an engine's counters tell apart,
// where a source holds no requests. TTFT is counted at the first token, the
// queue and the prefill when a request ends: they cover the same requests only
// where as many have had a first token as have ended. ok is false where the
// counters tell no stage.
func Means(m *trace.RunMeta) (d report.Decomposition, ok bool) {
	var total, ended, queue, prefill observed
	for _, o := range [...]struct {
		metric string
		into   *observed
	}{{"ttft_server", &total}, {"e2e", &ended}, {"d_queue", &queue}, {"d_prefill", &prefill}} {
		o.into.find(m, o.metric)
		if !o.into.known || o.into.several {
			return d, false
		}
	}
	d = report.Decomposition{Of: "ttft", Side: request.SideName(trace.Server), N: int64(total.n),
		Total: report.KnownInt(total.mean, unit.Nanosecond), Label: "as the engine counts"}
	var c cohort
	c.signature.Absent = decompose.Of(decompose.KVTransfer, decompose.DecodeQueue, decompose.FirstDecode)
	c.signature.Outside = decompose.Of(decompose.Network, decompose.Client, decompose.Proxy)
	why := metric.None
	if total.n == ended.n && total.n == queue.n && total.n == prefill.n {
		c.values.Add([]int64{queue.mean, prefill.mean, total.mean - queue.mean - prefill.mean, 0})
		c.signature.N = 3
		copy(c.signature.Sets[:], []decompose.Set{decompose.Of(decompose.Queue), decompose.Of(decompose.Prefill),
			decompose.Of(decompose.Input, decompose.Ingress, decompose.Egress)})
	} else {
		c.values.Add([]int64{total.mean})
		why = metric.Population
		d.Notes = []string{fmt.Sprintf("population: TTFT is counted at the first token, of %.0f requests, the stages when a request ends, of %.0f: they cannot be compared", total.n, queue.n)}
	}
	d.Tables = []report.Breakdown{c.meanTable(d.N, why)}
	return d, true
}

// find finds the mean of a metric, and how many observations it is over.
func (o *observed) find(m *trace.RunMeta, metric string) {
	for _, r := range m.Reported {
		if r.Metric != metric || r.Stat != "mean" {
			continue
		}
		o.several, o.known = o.known, true
		o.mean = int64(r.Value + 0.5)
		for _, c := range m.Reported {
			if c.Key == r.Key+"_count" {
				o.n = c.Value
			}
		}
	}
}
