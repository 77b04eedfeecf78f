package endpoint

import (
	"fmt"
	"io"
	"net/http"
	"net/url"

	"servescope/analyzer/gate"
	"servescope/analyzer/query"
	"servescope/analyzer/render"
	"servescope/analyzer/report"
)

var gateForms = []form[*gate.Result]{
	{"application/json", render.GateJSON},
	{"text/markdown", render.GateMarkdown},
	{"text/plain", func(w io.Writer, r *gate.Result) error { return render.GateText(w, r, render.TextOptions{}) }},
}

func (e *endpoint) gate(w http.ResponseWriter, r *http.Request) error {
	f, err := choose(r, gateForms)
	if err != nil {
		return err
	}
	v, err := parameters(r, "slo", "by", "share", "compare", "threshold")
	if err != nil {
		return err
	}
	rule, err := ruleOf(v)
	if err != nil {
		return err
	}
	v.Del("slo") // which a gate asks for itself
	q, err := queryOf(v)
	if err != nil {
		return err
	}
	in, err := e.receive(r)
	if err != nil {
		return err
	}
	base, err := e.baseline(r, in, q)
	switch {
	case err != nil:
		return err
	case base == nil && len(rule.Limits)+len(rule.Percentiles) == 0:
		return &query.Error{Flag: "slo", Msg: "there is nothing to judge by", Fix: "give slo=ttft=500ms, or post a baseline: multipart/form-data with log and baseline"}
	case base == nil && (v.Get("compare") != "" || v.Get("threshold") != ""):
		return &query.Error{Flag: "compare", Msg: "there is no baseline", Fix: "post multipart/form-data with log and baseline"}
	}
	s, ctx, err := e.session(r, &in.log)
	if err != nil {
		return err
	}
	defer s.Close()
	res, err := gate.Judge(ctx, s, q, rule, base)
	if err != nil {
		return cause(ctx, err)
	}
	if err := s.Empty(); err != nil {
		return nothing(err, s.Diags())
	}
	status := http.StatusOK
	if res.Verdict != gate.Met {
		status = http.StatusUnprocessableEntity
	}
	return send(w, status, f, res)
}

// ruleOf returns what the parameters demand.
func ruleOf(v url.Values) (*gate.Rule, error) {
	rule := gate.NewRule()
	var err error
	if slo := v.Get("slo"); slo != "" {
		if rule.Limits, rule.Percentiles, err = gate.ParseLimits(slo); err != nil {
			return nil, err
		}
	}
	if share := v.Get("share"); share != "" {
		if rule.Share, err = gate.ParseShare("share", share); err != nil {
			return nil, err
		}
	}
	if threshold := v.Get("threshold"); threshold != "" {
		if rule.Threshold, err = gate.ParseThreshold(threshold); err != nil {
			return nil, err
		}
	}
	if compare := v.Get("compare"); compare != "" {
		rule.Compare, err = gate.ParseCompare(compare)
	}
	return rule, err
}

// baseline returns the report of the baseline, nil without one, and lets its bytes
// go: the log has the memory to itself.
func (e *endpoint) baseline(r *http.Request, in *received, q *query.Query) (*report.Report, error) {
	if in.baseline == nil {
		return nil, nil
	}
	s, ctx, err := e.session(r, in.baseline)
	in.baseline = nil
	if err != nil {
		return nil, of("baseline", err)
	}
	defer s.Close()
	rep, err := s.Run(ctx, q)
	if err != nil {
		return nil, of("baseline", cause(ctx, err))
	}
	if err := s.Empty(); err != nil {
		return nil, of("baseline", nothing(err, s.Diags()))
	}
	if n := len(rep.Runs); n != 1 {
		return nil, &problem{Status: http.StatusUnprocessableEntity, Detail: fmt.Sprintf("baseline: it holds %d runs, not one", n)}
	}
	return rep, nil
}

// of says which of two bodies an error is of.
func of(name string, err error) error {
	p := *problemOf(err)
	p.Detail = name + ": " + p.Detail
	return &p
}
