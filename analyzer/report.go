package analyzer

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"servescope/analyzer/diag"
	"servescope/analyzer/kernel"
	"servescope/analyzer/query"
	"servescope/analyzer/report"
	"servescope/analyzer/sorting"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
	"servescope/formats"
)

// Run answers q. The first call reads the inputs; later ones read again only
// for token data that did not fit the memory. It is cancelled by ctx, and its
// errors are those of the query, of reading, and of ctx.
func (s *Session) Run(ctx context.Context, q *query.Query) (*report.Report, error) {
	e, err := engineFor(q.Definition)
	if err != nil {
		return nil, err
	}
	return s.run(ctx, q, e)
}

func (s *Session) run(ctx context.Context, q *query.Query, e *engine) (*report.Report, error) {
	if err := checkQuery(q); err != nil {
		return nil, err
	}
	log := new(diag.Log)
	var untrimmed *output
	facts := new(kernel.Facts)
	if q.Trim != (query.Trim{}) {
		whole := *q
		whole.Trim, whole.By, whole.Window = query.Trim{}, nil, 0
		var err error
		if untrimmed, facts, err = s.answer(ctx, &whole, e, facts, new(diag.Log), false); err != nil {
			return nil, err
		}
	}
	out, learned, err := s.answer(ctx, q, e, facts, log, true)
	if err != nil {
		return nil, err
	}
	if untrimmed == nil {
		facts = learned
	}
	steady, err := s.steady(ctx, q, e, facts)
	if err != nil {
		return nil, err
	}
	claims, err := s.audit(ctx)
	if err != nil {
		return nil, err
	}
	r := &report.Report{Schema: report.Schema, Query: echo(q), Definition: e.definition, Inputs: s.Inputs()}
	for _, run := range s.runs {
		filled := out.runs[run.slot]
		if untrimmed != nil {
			filled.Untrimmed = &untrimmed.runs[run.slot].Cell
		}
		filled.Steady = steady[run.slot]
		s.describe(filled, run, claims, q, e)
		if filled.Join = s.joinOf(run); filled.Join != nil {
			eachCell(filled, lackTokens)
		}
		s.joinDiags(run, log)
		filled.Explain()
		r.Runs = append(r.Runs, *filled)
	}
	if err := s.store.failed(); err != nil {
		return nil, err
	}
	noteSides(r.Runs)
	log.Merge(&s.diags)
	log.Merge(s.inputs.ArchiveFaults())
	for _, f := range s.files {
		log.Merge(f.diags)
	}
	r.Diags = s.located(log)
	return r, nil
}

// answer selects rows, runs the kernels over them and returns their results.
// facts holds the steady windows that a steady trim needs. tell says that whoever
// takes partial reports may have some.
func (s *Session) answer(ctx context.Context, q *query.Query, e *engine, facts *kernel.Facts, log *diag.Log, tell bool) (*output, *kernel.Facts, error) {
	defer func() {
		if s.stated != nil {
			s.stated.empty()
		}
	}()
	var first []kernel.State
	if !s.loaded {
		var p *pass
		if plain(q) && !s.opt.Join {
			p = newPass(q, &kernel.Facts{Store: s.states(), Memory: s.stateMemory()}, e.kernels, s.places())
		}
		if p != nil && tell && s.tell != nil {
			p.partials = &partials{s: s, q: q, e: e, sel: &selection{q: q}, total: -1}
		}
		var err error
		if first, err = s.load(ctx, true, p); err != nil {
			return nil, nil, err
		}
	}
	sel := s.choose(q, e.metric, facts, false)
	if s.whole != nil || s.ends != nil || s.joins != nil {
		first = nil // they were not known yet
	}
	var part *partials
	if tell {
		part = s.partialsOf(q, e, sel)
	}
	states, learned, err := s.fold(ctx, q, sel, e.kernels, first, part)
	if err != nil {
		return nil, nil, err
	}
	out := newOutput(q, sel, s.runs)
	steps := s.foldSteps(sel, learned)
	out.loads = steps[len(steps)-1]
	out.finish(append(states, steps...))
	if err := s.stated.failed(); err != nil {
		return nil, nil, err
	}
	s.capDiags(q, out, learned, log)
	s.stepDiags(steps, log)
	if len(q.By) > 0 && !sel.steps.grouped {
		out.ungroupedSteps()
	}
	if sel.steps.whole {
		for _, r := range out.runs {
			if len(r.Steps) > 0 {
				r.Notes = append(r.Notes, "steps_unfiltered: the filter asks for what is not told of engine steps: it removes none of them")
			}
		}
	}
	for slot, n := range sel.removed {
		out.runs[slot].Removed = report.Removed{Filter: n.filter, Interval: n.time, Trim: n.trim, Steps: n.steps}
	}
	s.selectionDiags(sel, log)
	return out, learned, nil
}

// checkQuery refuses what no run can answer.
func checkQuery(q *query.Query) error {
	if q.From != nil && q.To != nil && q.From.Relative == q.To.Relative && q.From.NS >= q.To.NS {
		return &query.Error{Flag: "--to", Msg: fmt.Sprintf("%s is not after --from %s", q.To, q.From), Fix: "exchange them"}
	}
	return nil
}

// echo is the query as text.
func echo(q *query.Query) report.Query {
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

// describe completes a run with what its producer says and with the reasons of
// what is not there.
func (s *Session) describe(out *report.Run, r *run, claims *audits, q *query.Query, e *engine) {
	m := r.members[0]
	out.Label, out.Format, out.Version = r.label, r.format, m.Version
	out.Side, out.Clock = sideOf(m), m.Clock.String()
	out.Duration = report.Null("not_recorded")
	if m.HasDuration {
		out.Duration = report.KnownInt(m.Duration, unit.Nanosecond)
	}
	r.name(out)
	if len(r.members) > 1 {
		s.describeUnited(out, r)
	}
	describeSides(out)
	reason := "not_recorded"
	for _, m := range r.members {
		for _, p := range m.Config {
			if pair := [2]string{p.Key, p.Value}; r.ranks == 0 || !slices.Contains(out.Config, pair) {
				out.Config = append(out.Config, pair)
			}
		}
		if m.NoRequests == "" {
			continue
		}
		reason = "no_requests"
		out.Notes = append(out.Notes, m.NoRequests)
	}
	for _, m := range r.members {
		out.Notes = append(out.Notes, m.Notes...)
	}
	if r.ranks > 0 {
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
	eachCell(out, func(c *report.Cell) { e.complete(c, reason) })
	if d, ok := kernel.Means(m); ok && len(r.members) == 1 && out.Requests.Total+out.Requests.Filtered == 0 {
		out.Decompositions = append(out.Decompositions, d)
	}
	for _, m := range r.members {
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

// describeSides says at which side the requests of a run are counted, and that
// those of a node are none of its deployment.
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
	eachCell(out, func(c *report.Cell) { // its token is thrown away, or sent by the decode node
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
func (s *Session) describeUnited(out *report.Run, r *run) {
	agree := func(dst *string, get func(*trace.RunMeta) string) {
		for _, m := range r.members[1:] {
			if get(m) != get(r.members[0]) {
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
	if r.ranks > 0 {
		out.Notes = append(out.Notes, fmt.Sprintf("%d traces of ranks of one deployment are one run: they name as many ranks in all, and overlap in time; labels keep them apart", r.ranks))
		return
	}
	if s.opt.Join {
		out.Notes = append(out.Notes, fmt.Sprintf("%d records are joined into this run", len(r.members)))
	} else {
		out.Notes = append(out.Notes, fmt.Sprintf("%d records with this label are one run", len(r.members)))
	}
}

// eachCell calls f for every cell of a run.
func eachCell(r *report.Run, f func(*report.Cell)) {
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

// linePlace is a byte offset of an input.
type linePlace struct {
	file   string
	offset int64
}

// maxLocated bounds the bytes that are scanned to find the lines of diagnostics.
const maxLocated = 256 << 20

// located returns the diagnostics with line numbers, as far as finding these is
// cheap: counting lines to an offset reads everything before it.
func (s *Session) located(log *diag.Log) []diag.Diag {
	all := log.All()
	source := make(map[string]formats.Source)
	for _, f := range s.files {
		if f.format == nil || f.format.Shape != formats.Blocks { // which have no lines
			source[f.source.Name()] = f.source
		}
	}
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	sorting.Stable(order, func(a, b int) int { return cmp.Compare(all[a].Offset, all[b].Offset) })
	if s.lines == nil {
		s.lines = make(map[linePlace]int64)
	}
	budget := int64(maxLocated)
	for _, i := range order {
		d := &all[i]
		src, at := source[d.File], linePlace{d.File, d.Offset}
		if src == nil || d.Line != 0 || d.Offset < 0 {
			continue
		}
		line, known := s.lines[at]
		if !known && d.Offset <= budget {
			budget -= d.Offset
			line, _ = formats.LineAt(src, d.Offset) // 0 where it cannot be read any more
			s.lines[at] = line
		}
		d.Line = line
	}
	return all
}
