package estimate

import (
	"fmt"
	"maps"
	"slices"

	"servescope/analyzer/report"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
)

// Decomposition returns a summary of r for the report; its members are tokens. The
// caller adds the gaps, because it knows the names of requests.
func (r *Result) Decomposition(s *Summary) report.Decomposition {
	d := report.Decomposition{
		Of: "tpot", Side: sideName(r.Side), Label: report.Estimated, Members: "tokens", N: s.Tokens,
		Total: report.Null(string(r.reason())), Excluded: make(map[string]int64),
	}
	for reason, n := range s.Excluded {
		d.Excluded[string(reason)] = n
	}
	for _, reason := range slices.Sorted(maps.Keys(s.Excluded)) {
		d.Notes = append(d.Notes, string(reason)+": "+r.why(reason))
	}
	if len(r.Replicas) == 0 || r.Replicas[0].Refused == TooMany {
		d.Notes = append(d.Notes, string(r.reason())+": "+r.why(r.reason()))
	}
	if l := &s.Long; l.N > 0 {
		d.Memos = append(d.Memos, report.Memo{Name: "gaps_over_3_medians", N: l.N, Mean: report.Known(float64(l.Time)/float64(l.N), unit.Nanosecond)})
		share := unit.Format(unit.Ratio, float64(l.Time)/float64(max(1, l.Span)))
		d.Notes = append(d.Notes, fmt.Sprintf("gaps: %d of %s are longer than three medians: %s of the time", l.N, plural(l.Gaps, "gap"), share))
	} else if l.Gaps > 0 {
		d.Notes = append(d.Notes, "gaps: none of "+plural(l.Gaps, "gap")+" is longer than three medians")
	}
	if s.Tokens > 0 {
		d.Total = report.Known(float64(s.Parts.Sum())/float64(s.Tokens), unit.Nanosecond)
		d.Tables = []report.Breakdown{s.breakdown(r)}
	}
	return d
}

func sideName(s trace.Side) string { return trace.Requests.Fields[trace.SideCol].Values[s] }

// reason returns why the first replica has no estimate, or why the run has none if
// it has no replica.
func (r *Result) reason() Reason {
	if len(r.Replicas) == 0 {
		return NotRecorded
	}
	if reason := r.Replicas[0].Refused; reason != None {
		return reason
	}
	return "n_lt_2" // no request that is selected has a second token
}

// whys words the reasons.
var whys = map[Reason]string{
	Clock:         "the requests of a replica have no clock in common",
	NotRecorded:   "the log does not hold the stamps of chunks, or not when requests were admitted, received or sent",
	NotResolvable: "stamps do not tell the engine's steps apart: chunks of several tokens, or a network between",
	FewSteps:      fmt.Sprintf("fewer than %d steps did nothing but decode, or are known to", fewestClean),
	NotConstant:   "what a step costs changed by 10 % or more within the log",
	Unexplained:   "steps without a prompt are often too long: requests are probably missing",
	WideInterval:  "the interval is wider than 10 points",
	TooMany:       fmt.Sprintf("there are more than %d chunks; select fewer files", MaxTokens),
}

// why says which condition fails.
func (r *Result) why(reason Reason) string {
	if reason != Uncovered {
		return whys[reason]
	}
	for i := range r.Replicas {
		switch e := &r.Replicas[i]; {
		case e.Refused != Uncovered:
		case e.Coverage == Incomplete:
			return "the engine's own log counts other tokens than the requests have: some are missing"
		case e.Coverage == Several:
			return "the engine's log is of several replicas, and requests do not say of which they are"
		case e.Coverage == Proven:
			return "too many requests have no stamps of chunks"
		}
	}
	return "nothing shows that every request is in the log: add the engine's own log, or say --complete if you know"
}

// noise is why n members have a negative part.
func noise(n int64) string {
	if n > 0 {
		return "noise"
	}
	return ""
}

// shownReplicas is how many replicas have a note.
const shownReplicas = 8

// notes says what the model is.
func (r *Result) notes(s *Summary) (notes []string) {
	seen := make(map[Reason]bool)
	for _, reason := range s.Null {
		if reason != None && !seen[reason] {
			notes, seen[reason] = append(notes, string(reason)+": "+whys[reason]), true
		}
	}
	notes = append(notes, "estimate: mean over tokens behind the first, of "+plural(s.N, "request")+
		"; intervals are 95 %, of the fit alone: on simulated logs the worst share is off by 3 points at p95")
	for i := range r.Replicas {
		e := &r.Replicas[i]
		if e.Refused != None || i >= shownReplicas {
			continue
		}
		name := ""
		if e.Name != "" {
			name = "replica " + e.Name + ", "
		}
		ns := func(v float64) string { return unit.Format(unit.Nanosecond, v) }
		notes = append(notes, fmt.Sprintf("model: %s%d steps, %d clean: %s + %s per sequence + %s per 1000 tokens of context; floor %s",
			name, e.Steps, e.Clean, ns(e.A), ns(e.B), ns(1000*e.C), ns(float64(e.Low))))
	}
	return notes
}

func plural(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
