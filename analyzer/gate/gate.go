// Package gate judges runs: whether they meet a service-level objective, and
// whether they are slower than a baseline. It takes reports and reads no logs.
//
// A verdict is met, not_met or unknown. It is unknown where the recorded data
// cannot decide; it then says why, and what to record. Unknown is not a pass.
package gate

import (
	"context"

	"servescope/analyzer/diag"
	"servescope/analyzer/query"
	"servescope/analyzer/report"
)

// Schema is the name and version of the JSON form of a Result.
const Schema = "servescope.gate/1"

// Verdict is one of Met, NotMet and Unknown.
type Verdict string

// The verdicts.
const (
	Met     Verdict = "met"
	NotMet  Verdict = "not_met"
	Unknown Verdict = "unknown"
)

// worse returns the verdict of two together: not_met wins over unknown, and
// unknown over met.
func worse(a, b Verdict) Verdict {
	if a == NotMet || b == NotMet {
		return NotMet
	}
	if a == Unknown || b == Unknown {
		return Unknown
	}
	return Met
}

// Result is the verdict over all runs. As with reports, later versions only add
// to its JSON form, and an unknown value is null with a reason, never 0.
type Result struct {
	Schema   string      `json:"schema"`   // always "servescope.gate/1"
	Verdict  Verdict     `json:"verdict"`  // met where every run is
	Reason   string      `json:"reason"`   // why there is nothing to judge; empty where there is
	Baseline string      `json:"baseline"` // label of the run compared with; empty: none
	Runs     []Run       `json:"runs"`     // in the order of their first input
	Diags    []diag.Diag `json:"diags"`    // input that was skipped, which no verdict counts

	By []string `json:"by,omitempty"` // dimensions of the groups; absent without any
}

// Run is the verdict of one run.
type Run struct {
	Label    string   `json:"label"`    // unique within the result
	Requests int64    `json:"requests"` // requests that the query selects
	Verdict  Verdict  `json:"verdict"`  // of its limits and changes together, and of its groups
	Limits   []Limit  `json:"limits"`   // the limits, and all of them together
	Changes  []Change `json:"changes"`  // against the baseline; empty without one

	Groups []Group `json:"groups,omitempty"` // by the query's dimensions; absent without any
}

// Limit is the verdict of one limit, or of all limits of a good request
// together. Within + Beyond + Unknown + NotApplicable is the number of requests
// with a verdict. Beyond includes failed requests.
type Limit struct {
	Limit         string       `json:"limit"`          // "ttft=500ms", "ttft:p99=500ms", or several with commas between them
	Side          string       `json:"side"`           // whose stamps it is judged by; empty of several
	Required      report.Value `json:"required"`       // the least share that must be within
	Within        int64        `json:"within"`         // requests that keep it
	Beyond        int64        `json:"beyond"`         // that do not
	Unknown       int64        `json:"unknown"`        // of which that is not recorded
	NotApplicable int64        `json:"not_applicable"` // to which it says nothing: TPOT of one token
	Low           report.Value `json:"share_low"`      // share within, with the unknown beyond
	High          report.Value `json:"share_high"`     // share within, with the unknown within
	Verdict       Verdict      `json:"verdict"`        // whether the share is at least the required
	Reason        string       `json:"reason"`         // why the verdict is unknown; else empty
	Fix           string       `json:"fix"`            // what to add; else empty
}

// Runner answers queries. A session is one.
type Runner interface {
	Run(ctx context.Context, q *query.Query) (*report.Report, error)
}

// Judge runs q with the limits of the rule, and judges every run and every
// group by the dimensions of q. base is the report of a baseline, which has one
// run, or nil.
func Judge(ctx context.Context, s Runner, q *query.Query, rule *Rule, base *report.Report) (*Result, error) {
	asked := *q
	asked.SLO = rule.Limits
	whole, err := s.Run(ctx, &asked)
	if err != nil {
		return nil, err
	}
	single := whole // each percentile has its own share, so it is judged apart
	if len(rule.Percentiles) > 0 {
		asked.SLO = rule.single()
		if single, err = s.Run(ctx, &asked); err != nil {
			return nil, err
		}
	}
	r := judge(rule, whole, single, base)
	r.By = q.By
	return r, nil
}

func judge(rule *Rule, whole, single, base *report.Report) *Result {
	r := &Result{Schema: Schema, Verdict: Met}
	for i := range whole.Runs {
		run := &whole.Runs[i]
		out := Run{Label: run.Label, Requests: run.Requests.Total, Limits: rule.limits(&run.Cell, &single.Runs[i].Cell)}
		var old *report.Run
		if base != nil {
			old = &base.Runs[0]
			r.Baseline = old.Label
			out.Changes = rule.changes(&old.Cell, &run.Cell)
		}
		out.Verdict = verdict(out.Limits, out.Changes)
		out.Groups = rule.groups(run, &single.Runs[i], old)
		for _, g := range out.Groups {
			out.Verdict = worse(out.Verdict, g.Verdict)
		}
		r.Verdict = worse(r.Verdict, out.Verdict)
		r.Runs = append(r.Runs, out)
	}
	for _, d := range whole.Diags {
		if d.Severity >= diag.DataLoss {
			r.Diags = append(r.Diags, d)
		}
	}
	if len(r.Runs) == 0 {
		r.Verdict, r.Reason = Unknown, "no input contains a run"
	}
	return r
}

// MarshalJSON implements json.Marshaler by the rules of package report.
func (r *Result) MarshalJSON() ([]byte, error) {
	type plain Result
	return report.Marshal((*plain)(r))
}
