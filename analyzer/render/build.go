package render

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"servescope/analyzer/diag"
	"servescope/analyzer/report"
)

// build returns the document of r: the head and the latencies first, which are
// what most readers came for, then rates, then details, then problems.
func build(r *report.Report) *document {
	b := &builder{&document{}, r}
	switch len(r.Runs) {
	case 0:
		b.head = append(b.head, pair{key: "runs", value: own("none: no input holds a run"), alert: true})
	case 1:
		addRun(b, &r.Runs[0])
	default:
		addRuns(b)
	}
	addAlert(b)
	addProblems(b)
	addRemarks(b)
	addDefinition(b)
	return b.document
}

// addRun adds the head and the sections of a single run.
func addRun(b *builder, r *report.Run) {
	describeRun(b, r)
	b.head = append(b.head, pair{key: "requests", value: own("%s%s", ended(r), unsteadyText(b, r))})
	if r.Goodput != nil {
		b.head = append(b.head, pair{key: "goodput", value: goodputLine(b, r.Goodput)})
	}
	if r.Requests.Total > 0 || r.Throughput.Values["tps"].V > 0 {
		addLatencies(b, &r.Cell, r.Side)
		addIntervals(b, &r.Cell)
		addDecompositions(b, &r.Cell, "")
		addRates(b, r)
		addBatch(b, r, "")
		addFurther(b, &r.Cell, r.Side)
	} else {
		addDecompositions(b, &r.Cell, "")
		addEngines(b, r, "")
	}
	addDetails(b, r)
}

// describeRun adds what was measured to the head.
func describeRun(b *builder, r *report.Run) {
	name := foreign(r.Label)
	about := nonEmpty(strings.Join(nonEmpty(r.Format, r.Version), " "), with(r.Side, " side"))
	if len(about) > 0 {
		name = append(name, span{text: " (" + strings.Join(about, ", ") + ")"})
	}
	b.head = append(b.head, pair{key: "run", value: name})
	var model line
	switch {
	case r.Model != "":
		model = foreign(r.Model)
	case len(r.Models) > 0:
		model = models(r.Models)
	}
	switch {
	case model != nil && r.Engine != "":
		model = append(model, span{text: " on "}, span{r.Engine, true})
		fallthrough
	case model != nil:
		b.head = append(b.head, pair{key: "model", value: model})
	case r.Engine != "":
		b.head = append(b.head, pair{key: "engine", value: foreign(r.Engine)})
	}
}

// shownModels is how many models the head names.
const shownModels = 10

// models names several models: "3 models: a, b, c".
func models(names []string) line {
	l := own("%d models: ", len(names))
	for i, name := range names[:min(len(names), shownModels)] {
		if i > 0 {
			l = append(l, span{text: ", "})
		}
		l = append(l, span{name, true})
	}
	if n := len(names) - shownModels; n > 0 {
		l = append(l, span{text: fmt.Sprintf(" and %d more", n)})
	}
	return l
}

// addDetails adds what the producer claims, groups and windows of a run.
func addDetails(b *builder, r *report.Run) {
	lead := ""
	if len(b.rep.Runs) > 1 {
		lead = r.Label
	}
	if lead != "" {
		addDecompositions(b, &r.Cell, lead)
	}
	addBySide(b, r, lead)
	addJoins(b, r, lead)
	addReconciled(b, r, lead)
	addReported(b, r, lead)
	addEstimates(b, r, lead)
	addStepTime(b, r, lead)
	if lead != "" {
		addBatch(b, r, lead)
	}
	addSteps(b, r, lead)
	addGroups(b, r, lead)
	addWindows(b, r, lead)
}

// addRemarks adds the notes of all runs, each once, with the runs that it is about
// unless it is about all. What a diagnostic says to do is not said again.
func addRemarks(b *builder) {
	var notes []string
	about := map[string][]string{}
	for _, r := range b.rep.Runs {
		for _, n := range r.Notes {
			if about[n] == nil {
				notes = append(notes, n)
			}
			about[n] = append(about[n], r.Label)
		}
	}
	for _, n := range notes {
		if slices.ContainsFunc(b.rep.Diags, func(d diag.Diag) bool { return d.Code == "no_requests" && strings.HasSuffix(n, "; "+d.Fix) }) {
			continue
		}
		p := pair{key: "note", value: own("%s", words(n))}
		switch k := len(about[n]); {
		case k == len(b.rep.Runs):
		case k == 1:
			p.value = append(foreign(about[n][0]), span{text: ": " + words(n)})
		default:
			p.value = own("%d runs: %s", k, words(n))
		}
		b.foot = append(b.foot, p)
	}
}

// requests says how the requests ended: "1000: 990 ok, 8 failed, 2 aborted".
func requests(r report.Requests) string {
	var parts []string
	for _, p := range []struct {
		n    int64
		what string
	}{
		{r.OK, "ok"}, {r.Failed, "failed"}, {r.Aborted, "aborted"}, {r.Empty, "without any token"},
		{r.Open, "still open at the end of the log"}, {r.HeadMissing, "begun before the log"},
	} {
		if p.n != 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	if r.Total == 0 && r.Filtered == 0 {
		return "none: there is no per-request data"
	}
	if r.Total == 0 {
		return fmt.Sprintf("none: all %d are left out by the query", r.Filtered)
	}
	s := strconv.FormatInt(r.Total, 10)
	if len(parts) > 0 {
		s += ": " + strings.Join(parts, ", ")
	}
	if r.Filtered != 0 {
		s += fmt.Sprintf("; %d more left out by the query", r.Filtered)
	}
	return s
}

// ended says how the requests of a run ended: by the producer's count where the run has
// no requests, as in "8, all failed (reported)".
func ended(r *report.Run) string {
	if s := claimed(r); s != "" && r.Requests.Total == 0 && r.Requests.Filtered == 0 {
		return s + " (reported); there is no per-request data"
	}
	return requests(r.Requests)
}

// claimed returns the producer's own count of requests, or "".
func claimed(r *report.Run) string {
	ok, failed := int64(-1), int64(-1)
	for _, f := range r.Reported {
		switch f.Metric {
		case "requests.ok":
			ok = int64(f.Value)
		case "requests.failed":
			failed = int64(f.Value)
		}
	}
	switch {
	case ok < 0:
		return ""
	case failed < 0 && ok == 0:
		return "none succeeded"
	case failed < 0:
		return fmt.Sprintf("%d ok", ok)
	case ok == 0 && failed > 0:
		return fmt.Sprintf("%d, all failed", failed)
	}
	return fmt.Sprintf("%d: %d ok, %d failed", ok+failed, ok, failed)
}

// addAlert puts a line into the head when input was lost: the numbers below miss it.
func addAlert(b *builder) {
	var lost int64
	kinds := 0
	for _, d := range b.rep.Diags {
		if d.Severity >= diag.DataLoss {
			lost += d.Count
			kinds++
		}
	}
	if kinds > 0 {
		b.head = append(b.head, pair{key: "attention", alert: true,
			value: own("input was skipped or unusable (%s), see diagnostics", plural(lost, "time"))})
	}
}

// addProblems adds the diagnostics, the severest first.
func addProblems(b *builder) {
	if len(b.rep.Diags) == 0 {
		return
	}
	s := section{title: "diagnostics"}
	diags := slices.Clone(b.rep.Diags)
	slices.SortStableFunc(diags, func(x, y diag.Diag) int { return cmp.Compare(y.Severity, x.Severity) })
	for _, d := range diags {
		p := problem{severity: d.Severity.String(), place: d.File, code: d.Code, msg: d.Msg, fix: d.Fix, alert: d.Severity >= diag.DataLoss}
		switch {
		case d.Line > 0:
			p.place += ":" + strconv.FormatInt(d.Line, 10)
		case d.Offset >= 0 && d.File != "":
			p.place += " byte " + strconv.FormatInt(d.Offset, 10)
		}
		if d.Count > 1 {
			p.count = strconv.FormatInt(d.Count, 10) + "×"
		}
		s.diags = append(s.diags, p)
	}
	b.sections = append(b.sections, s)
}

// addDefinition names the definition set of the numbers.
func addDefinition(b *builder) {
	d := b.rep.Definition
	s := cmp.Or(d.Name, "default")
	if about := nonEmpty(d.Title, with(d.Percentile, " percentiles")); len(about) > 0 {
		s += " (" + strings.Join(about, "; ") + ")"
	}
	b.foot = append(b.foot, pair{key: "definition", value: own("%s", s)})
}
