package kernel

import (
	"fmt"

	"servescope/analyzer/metric"
	"servescope/analyzer/report"
	"servescope/analyzer/unit"
)

// model writes B, TPOT in the model, R and what follows from them, beside what
// was measured.
func (s *ratesState) model(p *putter) {
	f, w := p.f, p.w
	names := []string{"batch_decode", "tps_replica_model", "tps_total_model", "identity_ratio", "weighting_ratio"}
	p.ratio("tpot_weighted", float64(f.timed), float64(f.steps), unit.NSPerToken, metric.NotRecorded)
	s.replicas(p)
	if w.why != metric.None || f.span == 0 {
		why := w.why
		if why == metric.None {
			why = metric.NotRecorded
		}
		for _, name := range names {
			p.null(name, why)
		}
		return
	}
	b := float64(f.span) / float64(w.dt)
	setValue(p.c, "batch_decode", report.Known(b, unit.None))
	total := 0.0
	if f.timed > 0 {
		total = b * 1e9 * float64(f.steps) / float64(f.timed)
	}
	s.replicaModel(p, total)
	measured := float64(f.tokens) * 1e9 / float64(w.dt)
	if s.def.OKOnly {
		measured = float64(f.tokensOK) * 1e9 / float64(w.dt)
	}
	identity := p.ratio("identity_ratio", total, measured, unit.Ratio, metric.NoToken)
	if want := 1 - float64(f.firsts)/float64(max(f.tokens, 1)); identity.Known && (identity.V-want > 1e-6 || want-identity.V > 1e-6) {
		identity.Note = fmt.Sprintf("%s expected: stamps or counts of some requests are missing or contradict each other", unit.Format(unit.Ratio, want))
		setValue(p.c, "identity_ratio", identity)
	}
	if f.tpots == 0 || f.tpot == 0 {
		p.null("weighting_ratio", metric.NotRecorded)
		return
	}
	mean := float64(f.tpot) / fraction / float64(f.tpots)
	p.ratio("weighting_ratio", b*1e9/mean, measured, unit.Ratio, metric.NoToken)
}

// named reports whether all tokens came from replicas with a name.
func (f *flow) named() bool { return f.unnamed == 0 && !f.crowd && len(f.replicas) > 0 }

// replicas writes R.
func (s *ratesState) replicas(p *putter) {
	switch {
	case s.q.Replicas > 0:
		v := report.Known(float64(s.q.Replicas), unit.None)
		v.Note = "as given"
		setValue(p.c, "replicas", v)
	case !p.f.named():
		p.null("replicas", metric.Coverage)
	default:
		n := 0
		for _, r := range p.f.replicas {
			if r.tokens > 0 {
				n++
			}
		}
		setValue(p.c, "replicas", report.Known(float64(n), unit.None))
	}
}

// replicaModel writes B/TPOT of one replica and of all.
func (s *ratesState) replicaModel(p *putter, total float64) {
	if p.f.timed == 0 {
		p.null("tps_replica_model", metric.NotRecorded)
		p.null("tps_total_model", metric.NotRecorded)
		return
	}
	one := report.Null(metric.Coverage.String())
	r := p.c.Throughput.Values["replicas"]
	if p.f.named() {
		total = 0
		for _, name := range sortedKeys(p.f.replicas) {
			if r := p.f.replicas[name]; r.timed > 0 {
				total += float64(float64(r.span) / float64(p.w.dt) * 1e9 * float64(r.steps) / float64(r.timed))
			}
		}
	}
	if r.Known && r.V > 0 {
		one = report.Known(total/r.V, unit.TokenRate)
	}
	setValue(p.c, "tps_replica_model", one)
	setValue(p.c, "tps_total_model", report.Known(total, unit.TokenRate))
}
