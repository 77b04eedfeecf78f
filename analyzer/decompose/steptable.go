package decompose

import (
	"slices"
	"strings"

	"servescope/analyzer/report"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
)

// part is an entry of steps: one stage, or several stages that no source separates,
// and the term that it counts for, "" if its stages belong to several terms.
type part struct {
	leaves []StepLeaf
	term   string
	ns     int64
}

// The terms of the formula of TPOT, with their stages.
var stepTerms = []struct {
	name   string
	leaves []StepLeaf
}{
	{"t_decode_compute", []StepLeaf{Compute}},
	{"t_communication", []StepLeaf{Communication, HostTransfer}},
	{"t_scheduling", []StepLeaf{Scheduling, Interference, Stall}},
	{"t_framework_overhead", []StepLeaf{Sampling, LaunchWait, HostExec}},
}

func termOf(leaves ...StepLeaf) string {
	for _, t := range stepTerms {
		if !slices.ContainsFunc(leaves, func(l StepLeaf) bool { return !slices.Contains(t.leaves, l) }) {
			return t.name
		}
	}
	return ""
}

// subject says what an account measures: steps, tokens or requests.
type subject uint8

const (
	ofStep    subject = iota
	ofToken           // what the tokens of a step have waited for, whosever they are
	ofRequest         // the time between the tokens of a request
	ofMember          // the same, where the steps that gave them are known
)

// account is a table in the making: the sums over members whose sources state the
// same facts.
type account struct {
	of     subject
	source StepSource
	sums
}

// parts returns the entries, in the order of the stages. Where no range of a
// scheduler was recorded, what the host did while nothing is known of it is
// scheduling or overhead; where there is one, it is neither, and residual.
func (a *account) parts() []part {
	var list []part
	add := func(leaves ...StepLeaf) {
		p := part{leaves: leaves, term: termOf(leaves...)}
		for _, l := range leaves {
			p.ns += a.leaf[l]
		}
		list = append(list, p)
	}
	switch {
	case a.source.Quantity == trace.Elapsed:
		list = append(list, part{leaves: []StepLeaf{Compute, Sampling, Communication, HostTransfer, LaunchWait, HostExec}, ns: a.total})
	case a.source.Classes:
		first := []StepLeaf{Compute}
		if !a.source.Sampling {
			first = append(first, Sampling)
		}
		if !a.source.Communication {
			first = append(first, Communication)
		}
		add(first...)
		if a.source.Communication && !a.source.Sampling {
			list[0].term = stepTerms[0].name // as compute, where it cannot be told from it
		}
		if a.source.Sampling {
			add(Sampling)
		}
		if a.source.Communication {
			add(Communication)
		}
		add(HostTransfer)
		add(LaunchWait)
		if a.source.Scheduler {
			add(Scheduling)
		} else {
			add(Scheduling, HostGap)
		}
		add(HostExec)
	}
	switch a.of {
	case ofToken:
		add(Interference)
	case ofMember:
		add(Interference)
		add(Stall)
	}
	return list
}

// unentered returns the state of a stage that is in no entry, and why it is null.
func (a *account) unentered(l StepLeaf) (state, why string) {
	switch {
	case a.of == ofStep && l >= Interference, l == HostGap && a.source.Classes && a.leaf[HostGap] == 0: // no step waits for steps; there is no gap
		return "absent", ""
	case a.of == ofToken && l == Stall: // a sequence that a step leaves out is in no sum of that step
		return "null", "outside_total"
	case a.source.Quantity == trace.Elapsed && (l == Scheduling || l == HostGap):
		return "null", "outside_total"
	}
	return "null", "not_recorded"
}

// table returns the account as a table of the report. There must be members.
func (a *account) table(u unit.Unit) report.Breakdown {
	mean := func(ns int64) report.Value { return report.Known(float64(ns)/float64(a.n), u) }
	sum := func(ns int64) report.Value { return report.KnownInt(ns, unit.Nanosecond) }
	out := report.Breakdown{N: a.n, Share: report.Null("not_recorded"), Total: mean(a.total), Sum: sum(a.total)}
	parts := a.parts()
	rest := a.total
	var names []string
	states := make([]report.Leaf, StepLeaves)
	for _, p := range parts {
		e := report.Entry{Term: p.term, Mean: mean(p.ns), Sum: sum(p.ns), Share: a.share(p.ns), Resolution: report.Null("not_recorded")}
		for _, l := range p.leaves {
			e.Leaves = append(e.Leaves, l.String())
			states[l].State = "merged"
			if len(p.leaves) == 1 {
				states[l].State = "value"
			}
		}
		rest -= p.ns
		out.Entries = append(out.Entries, e)
		names = append(names, strings.Join(e.Leaves, "+"))
	}
	out.Signature = strings.Join(names, ", ")
	out.Residual = report.Residual{Mean: mean(rest), Sum: sum(rest), Share: a.share(rest)}
	for l := range states {
		x := &states[l]
		if x.Name = StepLeaf(l).String(); x.State == "" {
			if x.State, x.Reason = a.unentered(StepLeaf(l)); x.Reason == "not_recorded" {
				out.Residual.MayContain = append(out.Residual.MayContain, x.Name)
			}
		}
	}
	out.Leaves = states
	for _, t := range stepTerms {
		out.Terms = append(out.Terms, a.term(t.name, t.leaves, parts, rest, mean))
	}
	a.memos(&out, u)
	return out
}

// share returns a part of the total.
func (a *account) share(ns int64) report.Value {
	if a.total == 0 {
		return report.Null("no_span")
	}
	return report.Known(float64(ns)/float64(a.total), unit.Ratio)
}

// term returns the sum of the stages of a term, as bounds where an entry has
// stages of several terms or the residual may hold some.
func (a *account) term(name string, leaves []StepLeaf, parts []part, rest int64, mean func(int64) report.Value) report.Term {
	term := report.Term{Name: name}
	for _, l := range leaves {
		if state, _ := a.unentered(l); state != "absent" {
			term.Leaves = append(term.Leaves, l.String())
		}
	}
	var low, high int64
	why := ""
	for _, p := range parts {
		switch {
		case p.term == name:
			low, high = low+p.ns, high+p.ns
		case p.term != "" || p.ns == 0 || !p.touches(name):
		case slices.Contains(p.leaves, Communication) && a.source.Classes:
			low, high, why = low+min(p.ns, 0), high+max(p.ns, 0), "comm_not_recognised"
		default:
			low, high, why = low+min(p.ns, 0), high+max(p.ns, 0), "merged"
		}
	}
	if !a.source.Classes && a.source.Quantity != trace.Elapsed {
		low, high, why = low+min(rest, 0), high+max(rest, 0), "not_recorded"
	}
	if a.source.Quantity == trace.Elapsed && name == "t_scheduling" {
		none := report.Null("outside_total")
		term.Mean, term.Low, term.High = none, none, none
		return term
	}
	term.Mean, term.Low, term.High = mean(low), mean(low), mean(high)
	if why != "" {
		term.Mean = report.Null(why)
	}
	return term
}

// touches reports whether a part that belongs to several terms may belong to the
// given term. Unknown work of the host may be overhead.
func (p *part) touches(term string) bool {
	return slices.ContainsFunc(p.leaves, func(l StepLeaf) bool {
		return termOf(l) == term || l == HostGap && term == "t_framework_overhead"
	})
}

// memos adds the figures beside the table.
func (a *account) memos(out *report.Breakdown, u unit.Unit) {
	for m := range StepMemo(StepMemos) {
		if a.told[m] == 0 {
			continue
		}
		n, per := a.n, float64(a.n)
		if a.told[m] < a.weight { // some steps do not tell
			n, per = a.told[m], float64(a.told[m])
		}
		out.Memos = append(out.Memos, report.Memo{Name: m.String(), Mean: report.Known(float64(a.memo[m])/per, u), N: n})
	}
}
