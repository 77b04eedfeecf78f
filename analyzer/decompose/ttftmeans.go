package decompose

import (
	"fmt"

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
	several bool // more than one series: which is of which cannot be told
}

// Means takes the mean time to first token that an engine's counters tell apart,
// where a source holds no requests. TTFT is counted at the first token, the
// queue and the prefill when a request ends: they are of the same requests only
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
	d = report.Decomposition{Of: "ttft", Side: trace.Requests.Fields[trace.SideCol].Values[trace.Server], N: int64(total.n),
		Total: report.KnownInt(total.mean, unit.Nanosecond), Label: "as the engine counts"}
	var p Parts
	p.Total, p.Absent, p.Outside = total.mean, apart, Of(Network, Client, Proxy)
	if total.n == ended.n && total.n == queue.n && total.n == prefill.n {
		p.insert(Entry{Leaves: Of(Queue), NS: queue.mean})
		p.insert(Entry{Leaves: Of(Prefill), NS: prefill.mean})
		p.insert(Entry{Leaves: Of(Input, Ingress, Egress), NS: p.Residual()})
	} else {
		d.Notes = []string{fmt.Sprintf("population: TTFT is counted at the first token, of %.0f requests, the stages when a request ends, of %.0f: they cannot be compared", total.n, queue.n)}
	}
	d.Tables = []report.Breakdown{p.table(d.N)}
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

// table returns the table of n requests whose mean parts are p. Where there are
// none its stages are of other requests.
func (p *Parts) table(n int64) report.Breakdown {
	mean := func(ns int64) report.Value { return report.KnownInt(ns, unit.Nanosecond) }
	share := func(ns int64) report.Value { return report.Known(float64(ns)/float64(p.Total), unit.Ratio) }
	t := report.Breakdown{Signature: p.Signature.String(), N: n, Share: report.Known(1, unit.Ratio), Total: mean(p.Total)}
	for _, e := range p.Entries() {
		t.Entries = append(t.Entries, report.Entry{Leaves: e.Leaves.Names(), Term: TermOf(e.Leaves), Mean: mean(e.NS), Share: share(e.NS),
			Resolution: report.Null(metric.NotRecorded.String())})
	}
	t.Residual = report.Residual{Mean: mean(p.Residual()), Share: share(p.Residual()), MayContain: p.MayContain().Names()}
	for l := range Leaf(Leaves) {
		state, why := p.State(l)
		leaf := report.Leaf{Name: l.String(), State: state.String(), Reason: why.String()}
		if p.MayContain().Has(l) {
			leaf.Reason = metric.Population.String()
		}
		t.Leaves = append(t.Leaves, leaf)
	}
	for _, term := range Terms {
		leaves := term.Leaves &^ (p.Absent | p.Outside)
		if leaves == 0 {
			continue
		}
		low, high := p.Bounds(leaves)
		x := report.Term{Name: term.Name, Leaves: leaves.Names(), Mean: mean(low), Low: mean(low), High: mean(high)}
		switch {
		case p.N == 0:
			x.Mean = report.Null(metric.Population.String())
		case low != high:
			x.Mean = report.Null(metric.Inseparable.String())
		}
		t.Terms = append(t.Terms, x)
	}
	return t
}
