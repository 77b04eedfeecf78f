// Package audit checks the figures that the producer of a log reports: against
// the figures computed from the requests, against each other, and for values
// that cannot be true. It computes no metric. The caller provides cells that
// were computed under the producer's definitions, and under other definitions
// to explain differences.
package audit

import (
	"servescope/analyzer/metric"
	"servescope/analyzer/report"
	"servescope/analyzer/trace"
)

// Subject is the input of an audit.
type Subject struct {
	Reported    []trace.Reported
	Doubts      []trace.Doubt
	Duration    int64              // of the run by the producer, in ns; 0: not recorded
	Definition  *metric.Definition // the producer's own; nil: not known
	Own         *report.Cell       // of the whole run under it; nil: there are no requests to compare with
	Why         string             // why Own is nil, in words; empty: there is no per-request data
	Definitions func() []Cell      // of the whole run under every set; called only to explain a difference
}

// Cell is a cell with the name of its definition set.
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

// The classes of figures and kinds of findings.
const (
	Equal      = "equal"
	Explained  = "explained"
	Differs    = "differs"
	Unchecked  = "unchecked"
	Identity   = "identity"
	Impossible = "impossible"
)

// gravity lists the kinds of findings, the gravest first.
var gravity = [...]string{Impossible, Differs, Identity, Explained}

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

// expect completes a finding with the value that the figure should have.
func expect(f *report.Finding, v float64) {
	f.Expected = report.Known(v, f.Unit)
	if f.Value.V != 0 && v != 0 {
		f.Factor = report.Known(v/f.Value.V, "")
	}
}

// notComparable is the reason for a number that the audit does not have.
const notComparable = "no_counterpart"
