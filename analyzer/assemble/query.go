package assemble

import (
	"fmt"
	"slices"

	"servescope/analyzer/query"
	"servescope/analyzer/report"
)

// CheckQuery refuses what no run can answer.
func CheckQuery(q *query.Query) error {
	if q.From != nil && q.To != nil && q.From.Relative == q.To.Relative && q.From.NS >= q.To.NS {
		return &query.Error{Flag: "--to", Msg: fmt.Sprintf("%s is not after --from %s", q.To, q.From), Fix: "swap the two times"}
	}
	return nil
}

// Echo is the query as text.
func Echo(q *query.Query) report.Query {
	out := report.Query{Window: q.Window, By: slices.Clone(q.By), Trim: q.Trim.String(), Replicas: q.Replicas}
	if q.Filter != nil {
		out.Filter = q.Filter.String()
	}
	if q.From != nil {
		out.From = q.From.String()
	}
	if q.To != nil {
		out.To = q.To.String()
	}
	if q.ExcludeAborts {
		out.Aborts = "exclude"
	}
	for _, l := range q.SLO {
		out.SLO = append(out.SLO, l.String())
	}
	return out
}
