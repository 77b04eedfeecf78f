// Package audit checks what the producer of a log claims about it: its figures
// against those computed from the requests, its figures against each other, and
// values that cannot be. It computes no metric: the caller brings cells that
// were computed under the producer's definitions, and under those of others to
// explain what differs.
package audit

import (
	"cmp"
	"slices"

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
var gravity = []string{Impossible, Differs, Identity, Explained}

// Run audits a subject. The verdicts are in the order of its figures.
func Run(s *Subject) (*report.Audit, []Verdict) {
	a := &report.Audit{Figures: int64(len(s.Reported))}
	if s.Definition != nil {
		a.Definition = s.Definition.Name
	}
	s.impossible(a)
	s.identities(a)
	verdicts := make([]Verdict, len(s.Reported))
	x := explainer{subject: s}
	for i := range s.Reported {
		c := &s.Reported[i]
		v, f := x.verdict(c)
		switch verdicts[i] = v; v.Class {
		case Equal:
			a.Equal++
		case Explained:
			a.Explained++
		case Differs:
			a.Differs++
		default:
			a.Unchecked++
		}
		if f != nil && !again(a.Findings, f) {
			a.Findings = append(a.Findings, *f)
		}
	}
	slices.SortStableFunc(a.Findings, func(x, y report.Finding) int {
		return cmp.Compare(slices.Index(gravity, x.Kind), slices.Index(gravity, y.Kind))
	})
	return a, verdicts
}

// again counts a finding with an earlier one that says the same of another
// statistic of the same distribution. A mean goes before.
func again(list []report.Finding, f *report.Finding) bool {
	for i := range list {
		if g := &list[i]; g.Kind == f.Kind && g.Metric == f.Metric && g.Cause == f.Cause && g.Count == 0 && (g.Note == f.Note || f.Kind == Differs) && f.Stat != "value" {
			more := g.More + 1
			if f.Stat == "mean" {
				*g = *f
			}
			g.More = more
			return true
		}
	}
	return false
}

// finding begins a finding about a figure.
func finding(kind string, c *trace.Reported) report.Finding {
	return report.Finding{Kind: kind, Key: c.Key, Metric: c.Metric, Stat: c.Stat, Unit: c.Unit,
		Value: report.Known(c.Value, c.Unit), Expected: report.Null(notComparable), Factor: report.Null(notComparable)}
}

// expect completes a finding with what the figure should be.
func expect(f *report.Finding, v float64) {
	f.Expected = report.Known(v, f.Unit)
	if f.Value.V != 0 && v != 0 {
		f.Factor = report.Known(v/f.Value.V, "")
	}
}

// notComparable is the reason of a number that an audit has none of.
const notComparable = "no_counterpart"
