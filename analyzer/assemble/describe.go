package assemble

import (
	"fmt"
	"slices"
	"strings"

	"servescope/analyzer/dataset"
	"servescope/analyzer/diag"
	"servescope/analyzer/kernel/breakdown"
	"servescope/analyzer/query"
	"servescope/analyzer/report"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
)

// Results are what a report is made of.
type Results struct {
	Cells     *Cells
	Untrimmed *Cells                 // of the query without its trim; nil: it has none
	Steady    map[int32]*report.Cell // by slot; see Steady
	Audit     *Audits
}

// Report returns the report of a query on a set, without diagnostics: it adds the
// diagnostics of this report to log.
func Report(set *dataset.Set, q *query.Query, e *Figures, of Results, log *diag.Log) *report.Report {
	r := &report.Report{Schema: report.Schema, Query: Echo(q), Definition: e.Definition, Inputs: Inputs(set)}
	for _, run := range set.Runs {
		filled := of.Cells.runs[run.Slot]
		if of.Untrimmed != nil {
			filled.Untrimmed = &of.Untrimmed.runs[run.Slot].Cell
		}
		filled.Steady = of.Steady[run.Slot]
		describe(set, filled, run, of.Audit, q, e)
		if filled.Join = joinOf(set, run); filled.Join != nil {
			EachCell(filled, lackTokens)
		}
		joinDiags(set, run, log)
		filled.Explain()
		r.Runs = append(r.Runs, *filled)
	}
	noteSides(r.Runs)
	return r
}

// describe completes a run with the statements of its producer and with the reasons for
// missing values.
func describe(set *dataset.Set, out *report.Run, r *dataset.Run, claims *Audits, q *query.Query, e *Figures) {
	m := r.Members[0]
	out.Label, out.Format, out.Version = r.Label, r.Format, m.Version
	out.Side, out.Clock = sideOf(m), m.Clock.String()
	out.Duration = report.Null("not_recorded")
	if m.HasDuration {
		out.Duration = report.KnownInt(m.Duration, unit.Nanosecond)
	}
	writeNames(out, r)
	if len(r.Members) > 1 {
		describeUnited(set, out, r)
	}
	describeSides(out)
	reason := "not_recorded"
	for _, m := range r.Members {
		for _, p := range m.Config {
			if pair := [2]string{p.Key, p.Value}; r.Ranks == 0 || !slices.Contains(out.Config, pair) {
				out.Config = append(out.Config, pair)
			}
		}
		if m.NoRequests == "" {
			continue
		}
		reason = "no_requests"
		out.Notes = append(out.Notes, m.NoRequests)
	}
	for _, m := range r.Members {
		out.Notes = append(out.Notes, m.Notes...)
	}
	if r.Ranks > 0 {
		out.Notes = distinct(out.Notes)
	}
	if n, all := out.Requests.Empty, out.Requests.Total; n > 0 {
		share := unit.Format(unit.Ratio, float64(n)/float64(all))
		out.Notes = append(out.Notes, fmt.Sprintf("no_token: %d of %d requests produced no token (%s)", n, all, share))
	}
	if n := out.Requests; n.EndLater+n.BegunEarlier > 0 {
		out.Notes = append(out.Notes, fmt.Sprintf("by_end: E2E, TPOT and what else is known when a request ends are of those that end in the selected time: "+
			"%d of the %d requests end behind it and are not among them, %d that began before it are", n.EndLater, n.Total, n.BegunEarlier))
	}
	checkReplicas(out, r, q)
	noRequests(out, r)
	reconcile(out, r, q)
	EachCell(out, func(c *report.Cell) { e.complete(c, reason) })
	if d, ok := breakdown.Means(m); ok && len(r.Members) == 1 && out.Requests.Total+out.Requests.Filtered == 0 {
		out.Decompositions = append(out.Decompositions, d)
	}
	for _, m := range r.Members {
		for i, c := range m.Reported {
			out.Reported = append(out.Reported, compare(c, out, r, m, claims.verdicts[m][i], q, e))
		}
	}
	out.Audit = claims.runs[r]
}

// distinct returns the texts without those that an earlier one repeats.
func distinct(list []string) (out []string) {
	for _, s := range list {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// describeSides notes at which side the requests of a run are counted, and that the
// requests of one node are not the requests of its deployment.
func describeSides(out *report.Run) {
	for _, side := range out.Sides {
		if side.Counts {
			out.Side = side.Side
		}
	}
	if len(out.Sides) == 1 {
		out.Sides = nil
	}
	switch out.Side {
	case nameOfSide(trace.Prefill), nameOfSide(trace.Decode):
		out.Notes = append(out.Notes, fmt.Sprintf("node_level: node-level figures: these are requests at %s nodes of a disaggregated deployment, not at its entrance; join the log of the router or the client to them", out.Side))
	}
	if out.Side != nameOfSide(trace.Prefill) {
		return
	}
	EachCell(out, func(c *report.Cell) { // its token is thrown away, or sent by the decode node
		for name := range c.Throughput.Values {
			if strings.HasPrefix(name, "tps") && name != "tps_prompt" || name == "decode_token_share" || name == "prefill_token_share" {
				c.Throughput.Values[name] = report.Null("node_level")
			}
		}
	})
}

func sideOf(m *trace.RunMeta) string { return m.Default(trace.SideCol) }

// noteSides says on every run with figures that these were measured at different
// sides, where they were.
func noteSides(runs []report.Run) {
	var sides []string
	has := func(r *report.Run) bool { return r.Side != "" && (r.Requests.Total > 0 || len(r.Reported) > 0) }
	for i := range runs {
		if has(&runs[i]) && !slices.Contains(sides, runs[i].Side) {
			sides = append(sides, runs[i].Side)
		}
	}
	if len(sides) < 2 {
		return
	}
	slices.Sort(sides)
	for i := range runs {
		if has(&runs[i]) {
			runs[i].Notes = append(runs[i].Notes, fmt.Sprintf("sides_differ: these runs were measured at different sides (%s): a latency at a client holds the network and what else lies before the server; compare figures of one side only", strings.Join(sides, ", ")))
		}
	}
}

// describeUnited describes a run of several records: what they agree on.
func describeUnited(set *dataset.Set, out *report.Run, r *dataset.Run) {
	agree := func(dst *string, get func(*trace.RunMeta) string) {
		for _, m := range r.Members[1:] {
			if get(m) != get(r.Members[0]) {
				*dst = "mixed"
			}
		}
	}
	agree(&out.Format, func(m *trace.RunMeta) string { return m.Format })
	agree(&out.Version, func(m *trace.RunMeta) string { return m.Version })
	agree(&out.Side, func(m *trace.RunMeta) string { return sideOf(m) })
	agree(&out.Clock, func(m *trace.RunMeta) string { return m.Clock.String() })
	if out.Format == "mixed" {
		out.Version = ""
	}
	out.Duration = report.Null("several_records")
	if r.Ranks > 0 {
		out.Notes = append(out.Notes, fmt.Sprintf("%d traces of ranks of one deployment are one run: they name as many ranks in all, and overlap in time; labels keep them apart", r.Ranks))
		return
	}
	if set.Joined {
		out.Notes = append(out.Notes, fmt.Sprintf("%d records are joined into this run", len(r.Members)))
	} else {
		out.Notes = append(out.Notes, fmt.Sprintf("%d records with this label are one run", len(r.Members)))
	}
}

// EachCell calls f for every cell of a run.
func EachCell(r *report.Run, f func(*report.Cell)) {
	f(&r.Cell)
	for _, c := range []*report.Cell{r.Untrimmed, r.Steady} {
		if c != nil {
			f(c)
		}
	}
	for i := range r.Windows {
		f(&r.Windows[i].Cell)
	}
	for i := range r.Groups {
		f(&r.Groups[i].Cell)
		for j := range r.Groups[i].Windows {
			f(&r.Groups[i].Windows[j].Cell)
		}
	}
}
