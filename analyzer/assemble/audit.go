package assemble

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"servescope/analyzer/audit"
	"servescope/analyzer/dataset"
	"servescope/analyzer/kernel"
	"servescope/analyzer/metric"
	"servescope/analyzer/query"
	"servescope/analyzer/report"
	"servescope/analyzer/selection"
	"servescope/analyzer/trace"
)

// Audits holds the results of checking the figures that producers state. It concerns
// whole runs and does not depend on a query.
type Audits struct {
	runs     map[*dataset.Run]*report.Audit
	verdicts map[*trace.RunMeta][]audit.Verdict
}

// maxTried is how many requests a session may hold for figures to be computed
// under every definition set, to explain what differs.
const maxTried = 200_000

// maxAudited is how many output tokens the requests may have for figures of
// gaps to be computed again: beyond it their lists do not fit the memory of a
// usual session, and reading the input again for an audit alone would double
// the time of an analysis. It depends on nothing else, so that a report is the
// same whatever the memory.
const maxAudited = 8 << 20

// auditor computes the cells that audits need, each set of definitions once.
type auditor struct {
	set     *dataset.Set
	answer  Answer
	q       query.Query // asks for the ranks of all figures
	few     bool        // there are few enough tokens for kernels of token lists
	rows    int
	outputs map[string]*Cells
	names   map[string]bool // the distributions that figures are about, and those that rates count
	err     error
}

// Answer returns the cells of a query on a set that has been read, and what the kernels
// learned; facts holds the steady windows that a steady trim needs.
type Answer func(q *query.Query, e *Figures, facts *kernel.Facts) (*Cells, *kernel.Facts, error)

// Audit compares what the producers of all runs of set claim with what answer gives.
func Audit(set *dataset.Set, answer Answer) (*Audits, error) {
	a := auditor{set: set, answer: answer, outputs: make(map[string]*Cells), names: map[string]bool{"output_tokens": true, "prompt_tokens": true}}
	for _, r := range set.Runs {
		for _, m := range r.Members {
			for i := range m.Doubts {
				a.ask(m.Doubts[i].Metric)
			}
			for i := range m.Reported {
				a.ask(m.Reported[i].Metric)
				if q, err := strconv.ParseFloat(m.Reported[i].Stat, 64); err == nil && !slices.Contains(a.q.Ranks, q) {
					a.q.Ranks = append(a.q.Ranks, q)
				}
			}
		}
	}
	slices.Sort(a.q.Ranks)
	a.measure()
	out := &Audits{runs: make(map[*dataset.Run]*report.Audit), verdicts: make(map[*trace.RunMeta][]audit.Verdict)}
	for _, r := range set.Runs {
		for _, m := range r.Members {
			if len(m.Reported) == 0 && len(m.Doubts) == 0 {
				continue
			}
			one, verdicts := audit.Run(a.subject(r, m))
			if a.err != nil {
				return nil, a.err
			}
			out.verdicts[m] = verdicts
			out.runs[r] = unite(out.runs[r], one)
		}
	}
	return out, nil
}

// ask adds a metric to those that cells hold.
func (a *auditor) ask(name string) {
	a.names[name] = true
	if m, ok := metric.Lookup(name); ok {
		a.names[m.Name] = true
	}
}

// measure counts the requests and their tokens.
func (a *auditor) measure() {
	tokens := int64(0)
	for _, r := range dataset.OpenEach(a.set.Requests) {
		a.rows += r.Cols.Rows
		for i, c := 0, r.Cols.Ints(trace.OutputTokens); i < r.Cols.Rows; i++ {
			if n, ok := c.At(i); ok {
				tokens += n
			}
		}
	}
	a.few = tokens <= maxAudited
}

// unite adds the audit of another record of a run.
func unite(a, b *report.Audit) *report.Audit {
	if a == nil {
		return b
	}
	if a.Definition != b.Definition {
		a.Definition = ""
	}
	a.Figures, a.Equal, a.Explained, a.Differs = a.Figures+b.Figures, a.Equal+b.Equal, a.Explained+b.Explained, a.Differs+b.Differs
	a.Unchecked, a.Checks, a.Broken = a.Unchecked+b.Unchecked, a.Checks+b.Checks, a.Broken+b.Broken
	a.Findings = append(a.Findings, b.Findings...)
	return a
}

// subject returns the figures that record m of a run states, beside the figures that
// the requests give. A record without requests of its own, in a run that unites it
// with a record that has requests, describes these requests.
func (a *auditor) subject(r *dataset.Run, m *trace.RunMeta) *audit.Subject {
	s := &audit.Subject{Reported: m.Reported, Doubts: m.Doubts}
	if m.HasDuration {
		s.Duration = m.Duration
	}
	name := m.DefaultDefinition
	if a.rows == 0 {
		if d, err := metric.LookupDefinition(name); err == nil && name != "" {
			s.Definition = d
		}
		return s
	}
	for _, other := range r.Members { // the requests may tell the state of the tool
		if m.NoRequests != "" && other.NoRequests == "" && m.DefaultDefinition != "" && strings.HasPrefix(other.DefaultDefinition, m.DefaultDefinition) {
			name = other.DefaultDefinition
		}
	}
	if d, err := metric.LookupDefinition(name); err == nil && name != "" {
		s.Definition = d
	} else {
		name = metric.Default.Name
	}
	cell := a.cell(r, name)
	switch {
	case cell == nil || cell.Requests.Total == 0:
		return s
	case len(r.Members) > 1 && m.NoRequests == "" && len(m.Reported) > 0:
		s.Why = fmt.Sprintf("of one of the %d records of this run", len(r.Members))
		return s
	case len(r.Members) > 1 && partial(m, &cell.Requests):
		s.Why = "of another number of requests than the run has"
		return s
	}
	s.Own = cell
	s.Definitions = func() []audit.Cell {
		var cells []audit.Cell
		for _, d := range metric.Definitions() {
			if a.rows > maxTried || d.Name == name {
				continue
			}
			if c := a.cell(r, d.Name); c != nil {
				cells = append(cells, audit.Cell{Definition: d.Name, Cell: c})
			}
		}
		return cells
	}
	return s
}

// partial reports whether a record says that it is about another number of
// requests than there are.
func partial(m *trace.RunMeta, r *report.Requests) bool {
	for _, c := range m.Reported {
		switch {
		case c.Metric == "requests.total" && c.Value != float64(r.Total), c.Metric == "requests.ok" && c.Value != float64(r.OK) && c.Value != float64(r.OK+r.Empty):
			return true
		}
	}
	return false
}

// cell returns the cell of a whole run under a definition set, nil after an
// error.
func (a *auditor) cell(r *dataset.Run, name string) *report.Cell {
	out := a.outputs[name]
	if out == nil && a.err == nil {
		var e *Figures
		if e, a.err = someOf(name, a.names); a.err != nil {
			return nil
		}
		if !a.few {
			e.Kernels = slices.DeleteFunc(e.Kernels, kernel.Kernel.Lists)
		}
		if out, _, a.err = a.answer(&a.q, e, new(kernel.Facts)); a.err != nil {
			return nil
		}
		a.outputs[name] = out
	}
	if out == nil {
		return nil
	}
	return &out.runs[r.Slot].Cell
}

// compare puts our value beside a figure that the producer of record m
// computed, under the report's definition and for its query.
func compare(c trace.Reported, out *report.Run, r *dataset.Run, m *trace.RunMeta, v audit.Verdict, q *query.Query, e *Figures) report.Reported {
	line := report.Reported{Key: c.Key, Metric: c.Metric, Stat: c.Stat, Unit: c.Unit, Value: c.Value, Verdict: v.Class, Own: v.Own}
	switch {
	case len(r.Members) > 1 && v.Class == audit.Unchecked:
		line.Ours = report.Null("several_records")
		line.Note = v.Note
		return line
	case c.Metric == "":
		line.Ours = report.Null("no_counterpart")
		return line
	}
	line.Ours = audit.Of(&out.Cell, &c)
	if !line.Ours.Known || !audit.Comparable(line.Ours.Unit, c.Unit) || audit.Same(line.Ours.V, c.Value, c.Unit) {
		return line
	}
	switch own := m.DefaultDefinition; {
	case v.Class != audit.Equal && v.Class != audit.Unchecked:
		line.Note = v.Note
	case own != "" && own != e.Definition.Name:
		line.Note = fmt.Sprintf("another definition: use --definition %s to reproduce it", own)
	case selection.Selects(q):
		line.Note = "another cohort: the query selects a part of the requests"
	default:
		line.Note = cmp.Or(v.Note, "the file's requests do not give this figure")
	}
	return line
}
