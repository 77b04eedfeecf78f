package rates

import (
	"fmt"
	"maps"
	"slices"

	"servescope/analyzer/kernel/cell"
	"servescope/analyzer/kernel/request"
	"servescope/analyzer/metric"
	"servescope/analyzer/report"
	"servescope/analyzer/unit"
)

// model writes B, TPOT in the model, R and what follows from them, beside what
// was measured. The model is about the sequences whose N is known: those whose
// tokens are in what was measured.
func (p *putter) model() {
	f, w := p.f, p.w
	without := f.without(p.lack.untimed)
	instant := cell.Counted(f.instant, "the tokens of 1 request came at one instant and take no time", "the tokens of %d requests came at one instant and take no time")
	late, idle := f.undated, p.idle()
	why := f.timeless(p.lack.untimed)
	occupied := metric.None
	switch {
	case idle:
		if late = p.all.undated; f.tokens == 0 { // of the whole group: when these came is unknown
			why = metric.NoToken
		}
	case f.span == 0:
		occupied = why
	}
	undated := cell.Counted(late, "1 request does not tell when its tokens came and is left out", "%d requests do not tell when their tokens came and are left out")
	span := float64(f.timed)
	steps := float64(f.steps)
	if f.timed == 0 {
		steps = 0
	}
	p.ratio("tpot_weighted", span, steps, unit.NSPerToken, why, without, undated, instant)
	p.setReplicas()
	if n := len(p.allNames.replicas); p.whole || n > 1 && n <= listedReplicas {
		p.replicaList()
	}
	p.occupancy(occupied, undated)
	if w.Reason != metric.None || f.span == 0 && !idle {
		if w.Reason != metric.None {
			why = w.Reason
		}
		for _, name := range []string{"batch_decode", "tps_replica_model", "tps_total_model", "identity_ratio", "weighting_ratio"} {
			p.null(name, why)
		}
		return
	}
	b := report.Known(float64(f.span)/float64(w.Length), unit.None)
	b.Note = cell.Joined(w.Note, undated)
	cell.SetValue(p.c, "batch_decode", b)
	if f.timed == 0 || f.steps == 0 {
		for _, name := range []string{"tps_replica_model", "tps_total_model", "identity_ratio", "weighting_ratio"} {
			p.null(name, why)
		}
		return
	}
	timed := span / float64(w.Length) // B of the sequences in the model
	total := p.replicaModel(timed*1e9*steps/span, cell.Joined(without, undated))
	tokens := f.tokens
	if p.def.OKOnly {
		tokens = f.tokensOK
	}
	measured := float64(tokens) * 1e9 / float64(w.Length)
	identity := p.ratio("identity_ratio", total, measured, unit.Ratio, metric.NoToken, without, undated)
	if want := 1 - float64(f.firsts)/float64(max(tokens, 1)); identity.Known && (identity.V-want > 1e-6 || want-identity.V > 1e-6) {
		identity.Note = cell.Joined(fmt.Sprintf("%s expected: stamps or counts of some requests are missing or contradict each other", unit.Format(unit.Ratio, want)), without, undated)
		cell.SetValue(p.c, "identity_ratio", identity)
	}
	p.weighting(timed, measured, without, undated, instant)
}

// weighting compares the model whose TPOT is the mean over sequences with what was
// measured.
func (p *putter) weighting(timed, measured float64, notes ...string) {
	f := p.f
	if f.tpots == 0 || f.tpot == 0 {
		p.null("weighting_ratio", metric.NoSpan)
		return
	}
	mean := float64(f.tpot) / request.Fraction / float64(f.tpots)
	p.ratio("weighting_ratio", timed*1e9/mean, measured, unit.Ratio, metric.NoToken, notes...)
}

// setReplicas writes R.
func (p *putter) setReplicas() {
	switch {
	case p.query.Replicas > 0:
		v := report.Known(float64(p.query.Replicas), unit.None)
		v.Note = "as given"
		cell.SetValue(p.c, "replicas", v)
	case p.prefill, !p.names.named(): // prefill nodes decode nothing: they are figures of nodes, not of the deployment
		p.null("replicas", metric.Coverage)
	default:
		n := 0
		for _, r := range p.names.replicas {
			if r.tokens > 0 || r.span > 0 {
				n++
			}
		}
		cell.SetValue(p.c, "replicas", report.Known(float64(n), unit.None))
	}
}

// listedReplicas is up to how many replicas windows list: a report must not hold
// thousands in each of thousands of windows.
const listedReplicas = 64

// replicaList writes the rates of each replica that requests name; in a window,
// of all that they name elsewhere too.
func (p *putter) replicaList() {
	f, w := p.names, p.w
	if f.crowd {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(p.allNames.replicas)) {
		r := f.replicas[name]
		x := report.Replica{Name: name, Side: request.SideName(p.side), Tokens: r.tokens}
		per := func(n float64, u unit.Unit) report.Value {
			if w.Reason != metric.None {
				return report.Null(w.Reason.String())
			}
			v := report.Known(n/float64(w.Length), u)
			v.Note = w.Note
			return v
		}
		x.TPS = per(float64(r.tokens)*1e9, unit.TokenRate)
		x.Batch, x.TPOT, x.Model = report.Null(f.timeless(f.untimed).String()), report.Null(f.timeless(f.untimed).String()), report.Null(f.timeless(f.untimed).String())
		if p.allNames.replicas[name].span > 0 {
			x.Batch = per(float64(r.span), unit.None) // 0 while it is idle
		}
		if r.timed > 0 && r.steps > 0 {
			x.TPOT = report.Known(float64(r.timed)/float64(r.steps), unit.NSPerToken)
			x.Model = per(float64(r.steps)*1e9, unit.TokenRate) // (timed / Δt) / (timed / steps)
		}
		p.c.Throughput.Replicas = append(p.c.Throughput.Replicas, x)
	}
}

// replicaModel writes B/TPOT of all replicas and its mean over them, and returns
// that of all. B/TPOT of each is its tokens after the first per second, so that
// the sum over replicas is that of all taken together.
func (p *putter) replicaModel(total float64, note string) float64 {
	one := report.Null(metric.Coverage.String())
	r := p.c.Throughput.Values["replicas"]
	if r.Known && r.V > 0 {
		one = report.Known(total/r.V, unit.TokenRate)
		one.Note = note
	}
	cell.SetValue(p.c, "tps_replica_model", one)
	all := report.Known(total, unit.TokenRate)
	all.Note = note
	cell.SetValue(p.c, "tps_total_model", all)
	return total
}
