package gate

import (
	"maps"

	"servescope/analyzer/report"
)

// Group is the verdict of the requests of a run that share the values of the
// query's dimensions. The rule of the run applies, and the baseline is the same
// group of the baseline run.
type Group struct {
	By       map[string]string `json:"by"`       // value of each dimension; empty text: not recorded
	Requests int64             `json:"requests"` // 0: only the baseline has the group
	Verdict  Verdict           `json:"verdict"`  // of its limits and changes together
	Limits   []Limit           `json:"limits"`   // as of the run; empty where only the baseline has the group
	Changes  []Change          `json:"changes"`  // as of the run
}

// groups judges every group of a run. A group that only the baseline has gets
// the verdict unknown, because it is no longer measured.
func (rule *Rule) groups(whole, single *report.Run, base *report.Run) []Group {
	var out []Group
	for i := range whole.Groups {
		g := &whole.Groups[i]
		of := Group{By: g.By, Requests: g.Requests.Total, Verdict: Met}
		if one := find(single.Groups, g.By); one != nil {
			of.Limits = rule.limits(&g.Cell, &one.Cell)
		}
		if base != nil {
			cell := new(report.Cell) // without requests
			if b := find(base.Groups, g.By); b != nil {
				cell = &b.Cell
			}
			of.Changes = rule.changes(cell, &g.Cell)
		}
		of.Verdict = verdict(of.Limits, of.Changes)
		out = append(out, of)
	}
	if base != nil {
		for i := range base.Groups {
			if b := &base.Groups[i]; find(whole.Groups, b.By) == nil {
				changes := rule.changes(&b.Cell, new(report.Cell))
				out = append(out, Group{By: b.By, Verdict: verdict(nil, changes), Changes: changes})
			}
		}
	}
	return out
}

// find returns the group with the given values, or nil.
func find(groups []report.Group, by map[string]string) *report.Group {
	for i := range groups {
		if maps.Equal(groups[i].By, by) {
			return &groups[i]
		}
	}
	return nil
}

// limits judges the limits of the rule by the goodput of one set of requests.
// whole holds the goodput under the limits of a good request, single the
// goodput under the limits of percentiles.
func (rule *Rule) limits(whole, single *report.Cell) (out []Limit) {
	if len(rule.Limits) > 0 {
		out = together(of(whole.Goodput, rule.Limits...), rule.Share)
	}
	for j, p := range rule.Percentiles {
		out = append(out, percentile(of(single.Goodput, rule.single()...), j, p))
	}
	return out
}

// changes compares what the rule compares.
func (rule *Rule) changes(base, run *report.Cell) (out []Change) {
	for _, name := range rule.Compare {
		out = append(out, change(name, base, run, rule.Threshold))
	}
	return out
}

// verdict returns the verdict of limits and changes together.
func verdict(limits []Limit, changes []Change) Verdict {
	v := Met
	for _, l := range limits {
		v = worse(v, l.Verdict)
	}
	for _, c := range changes {
		v = worse(v, c.Verdict)
	}
	return v
}
