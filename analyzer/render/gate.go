package render

import (
	"fmt"
	"io"

	"servescope/analyzer/gate"
	"servescope/analyzer/report"
	"servescope/analyzer/unit"
)

// GateJSON writes verdicts as indented JSON.
func GateJSON(w io.Writer, r *gate.Result) error {
	compact, err := r.MarshalJSON()
	if err != nil {
		return err
	}
	_, err = w.Write(append(indent(compact), '\n'))
	return err
}

// GateText writes verdicts for people.
func GateText(w io.Writer, r *gate.Result, opt TextOptions) error {
	if opt.Width <= 0 {
		opt.Width = 80
	}
	t := textWriter{opt: opt}
	t.document(buildGate(r))
	_, err := t.buf.WriteTo(w)
	return err
}

// GateMarkdown writes them as GitHub-flavoured Markdown, as a comment on a pull
// request.
func GateMarkdown(w io.Writer, r *gate.Result) error {
	var m markdownWriter
	m.document(buildGate(r))
	_, err := m.buf.WriteTo(w)
	return err
}

// verdicts are the words for verdicts.
var verdicts = map[gate.Verdict]string{gate.Met: "met", gate.NotMet: "not met", gate.Unknown: "unknown"}

func buildGate(r *gate.Result) *document {
	b := &builder{&document{}, nil}
	verdict := verdicts[r.Verdict]
	if r.Reason != "" {
		verdict += ": " + r.Reason
	}
	b.head = append(b.head, pair{key: "gate", value: own("%s", verdict), alert: r.Verdict != gate.Met})
	for i := range r.Runs {
		addGateRun(b, &r.Runs[i], r.Baseline)
		addGateGroups(b, &r.Runs[i], r.By, r.Baseline)
	}
	if len(r.Runs) > 0 && len(r.Runs[0].Limits) > 0 {
		b.foot = append(b.foot, pair{key: "within", value: own("requests that failed are within no limit; n/a are those that it says nothing of")})
	}
	if r.Baseline != "" {
		b.foot = append(b.foot, pair{key: "interval", value: own("of the ratio of the two, requests taken as independent; names without a percentile are of means")})
	}
	for _, d := range r.Diags {
		b.foot = append(b.foot, pair{key: "skipped", value: append(foreign(d.File), own(": %s ×%d", d.Code, d.Count)...), alert: true})
	}
	return b.document
}

// addGateRun adds the verdicts of a run, and what to do about the unknown ones.
func addGateRun(b *builder, r *gate.Run, baseline string) {
	b.head = append(b.head, pair{key: "run", value: append(foreign(r.Label), own(": %s, %d requests", verdicts[r.Verdict], r.Requests)...)})
	limits := &grid{align: "l", head: []cell{text("limit"), text("required"), text("within"), text("yes"), text("no"), text("unknown"), text("n/a"), text("verdict")}}
	var why []pair
	for i := range r.Limits {
		l := &r.Limits[i]
		limits.rows = append(limits.rows, []cell{
			text(l.Limit), text("≥" + unit.Format(unit.Ratio, l.Required.V)), text(boundsText(b, l.Low, l.High)),
			text(fmt.Sprint(l.Within)), text(fmt.Sprint(l.Beyond)), text(fmt.Sprint(l.Unknown)), text(fmt.Sprint(l.NotApplicable)), text(verdicts[l.Verdict]),
		})
		why = undecided(why, l.Limit, l.Reason, l.Fix)
	}
	if len(limits.rows) > 0 {
		b.sections = append(b.sections, section{title: "service level", grid: limits, lines: why})
	}
	changes := &grid{align: "l", head: []cell{text("figure"), text("baseline"), text("n"), text("run"), text("n"), text("change"), text("95 % interval"), text("verdict")}}
	why = nil
	for i := range r.Changes {
		c := &r.Changes[i]
		changes.rows = append(changes.rows, []cell{
			text(c.Name()), text(b.value(c.BaseValue)), text(fmt.Sprint(c.BaseN)), text(b.value(c.Value)), text(fmt.Sprint(c.N)),
			text(signed(c.Change)), text(signed(c.Low) + " … " + signed(c.High)), text(verdicts[c.Verdict]),
		})
		why = undecided(why, c.Name(), c.Reason, c.Fix)
	}
	if len(changes.rows) > 0 {
		b.sections = append(b.sections, section{title: "change", lead: mayGrow(&r.Changes[0], baseline), grid: changes, lines: why})
	}
}

// mayGrow says what a change is let pass.
func mayGrow(c *gate.Change, baseline string) string {
	return "may grow by " + unit.Format(unit.Ratio, c.Threshold.V) + " against " + visible(baseline)
}

// boundsText prints a share, or what it lies between.
func boundsText(b *builder, low, high report.Value) string {
	share := report.Null(low.Reason)
	if low.Known && high.Known && low.V == high.V {
		share = low
	}
	return shareText(b, share, low, high)
}

// signed prints a change with its sign, or a dash where it is unknown.
func signed(v report.Value) string {
	switch {
	case !v.Known:
		return "—"
	case v.V > 0:
		return "+" + unit.Format(unit.Ratio, v.V)
	}
	return unit.Format(unit.Ratio, v.V)
}

// undecided adds why a verdict is unknown.
func undecided(to []pair, name, reason, fix string) []pair {
	if reason == "" {
		return to
	}
	return append(to, pair{key: name, value: own("unknown: %s; %s", reason, fix), alert: true})
}
