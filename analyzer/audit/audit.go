// Package audit checks what the producer of a log claims about it: its figures
// against those computed from the requests, its figures against each other, and
// values that cannot be. It computes no metric: the caller brings cells that
// were computed under the producer's definitions, and under those of others to
// explain what differs.
package audit

import (
	"servescope/analyzer/metric"
	"servescope/analyzer/report"
	"servescope/analyzer/trace"
)

// Subject is what an audit looks at.
type Subject struct {
	Reported    []trace.Reported
	Doubts      []trace.Doubt
	Duration    int64              // of the run by the producer, in ns; 0: not recorded
	Definition  *metric.Definition // the producer's own; nil: not known
	Own         *report.Cell       // of the whole run under it; nil: there are no requests to compare with
	Why         string             // why Own is nil, in words; empty: there is no per-request data
	Definitions func() []Cell      // of the whole run under every set; called only to explain a difference
}

// Cell is a cell and the name of the definition set that it follows.
type Cell struct {
	Definition string
	*report.Cell
}

// Verdict is what the audit found about one figure.
type Verdict struct {
	Class string       // equal, explained, differs or unchecked
	Own   report.Value // the same figure from the requests, under the producer's definition
	Note  string       // why it is not equal
}

// The classes of figures, and kinds of findings.
const (
	Equal      = "equal"
	Explained  = "explained"
	Differs    = "differs"
	Unchecked  = "unchecked"
	Identity   = "identity"
	Impossible = "impossible"
)

// gravity orders findings.
var gravity = [...]string{Impossible, Differs, Identity, Explained}

// inquiry is an audit in the making.
type inquiry struct {
	*Subject
	out   *report.Audit
	list  []*report.Finding
	cells []Cell // under other definitions
	asked bool   // for them

	verified map[*trace.Reported]bool // the requests give these: no other figure can prove them wrong
}

// Run audits a subject. The verdicts are in the order of its figures.
func Run(s *Subject) (*report.Audit, []Verdict) {
	a := &inquiry{Subject: s, out: &report.Audit{Figures: int64(len(s.Reported))}, verified: make(map[*trace.Reported]bool)}
	if s.Definition != nil {
		a.out.Definition = s.Definition.Name
	}
	verdicts := make([]Verdict, len(s.Reported))
	for i := range s.Reported {
		v := &verdicts[i]
		a.verdict(&s.Reported[i], v)
		switch v.Class {
		case Equal:
			a.out.Equal++
			a.verified[&s.Reported[i]] = true
		case Explained:
			a.out.Explained++
		case Differs:
			a.out.Differs++
		default:
			a.out.Unchecked++
		}
	}
	a.impossible()
	a.identities()
	for _, kind := range gravity {
		for _, f := range a.list {
			if f.Kind == kind {
				a.out.Findings = append(a.out.Findings, *f)
			}
		}
	}
	return a.out, verdicts
}

// find adds a finding about a figure.
func (a *inquiry) find(kind string, c *trace.Reported, note string) *report.Finding {
	f := &report.Finding{Kind: kind, Key: c.Key, Metric: c.Metric, Stat: c.Stat, Unit: c.Unit, Note: note}
	f.Value.Known, f.Value.V, f.Value.Unit = true, c.Value, c.Unit
	f.Expected.Reason, f.Factor.Reason = notComparable, notComparable
	a.list = append(a.list, f)
	return f
}

// broken adds a finding about a figure that is not what others make it.
func (a *inquiry) broken(c *trace.Reported, want float64, note string) *report.Finding {
	a.out.Broken++
	f := a.find(Identity, c, note)
	expect(f, want)
	return f
}

// expect completes a finding with what the figure should be.
func expect(f *report.Finding, v float64) {
	f.Expected = report.Known(v, f.Unit)
	if f.Value.V != 0 && v != 0 {
		f.Factor = report.Known(v/f.Value.V, "")
	}
}

// again withdraws the latest finding, and counts it with an earlier one that
// says the same of another statistic of the same distribution. A mean goes
// before.
func (a *inquiry) again() {
	last := len(a.list) - 1
	f := a.list[last]
	for i, g := range a.list[:last] {
		if g.Kind != f.Kind || g.Metric != f.Metric || g.Cause != f.Cause || g.Count != 0 || f.Stat == "value" || g.Note != f.Note && f.Kind != Differs {
			continue
		}
		if f.Stat == "mean" {
			f.More, a.list[i] = g.More, f
		}
		a.list[i].More++
		a.list = a.list[:last]
		return
	}
}

// notComparable is the reason of a number that an audit has none of.
const notComparable = "no_counterpart"
