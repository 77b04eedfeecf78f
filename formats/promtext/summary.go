package promtext

import (
	"fmt"

	"servescope/analyzer/diag"
)

// finish tells what the scrapes add up to.
func (r *reader) finish() {
	if r.stream != nil {
		r.Log.Merge(r.stream.Diags())
	}
	r.Counts.Total = r.Counts.Parsed + r.Counts.Noise + r.Counts.Diagnosed
	if r.engineLines == 0 {
		r.add(diag.Diag{Code: "no_engine_metrics", Severity: diag.Notice, Offset: -1, Msg: "the file has no sample of vLLM, SGLang or the conventions for calls of models (gen_ai)"})
		return
	}
	t := r.table
	r.run.Version = version(t.list, r.run.Engine)
	if r.opt.More {
		return // those behind are subtracted, and tell
	}
	rises := t.figures(t.total())
	totals := t.figures(func(s *series) (float64, bool) { return s.last, s.known })
	n := names{models: t.severalModels()}
	if r.other != nil {
		r.other.finish(r, rises)
	}
	for _, f := range rises {
		r.run.Reported = n.report(r.run.Reported, f, "", true)
	}
	r.run.Reported = t.gauges(r.run.Reported)
	r.check(totals, rises)
	r.windows(n)
	if r.stamped && r.to > r.from {
		r.run.Duration, r.run.HasDuration = r.to-r.from, true
	}
	r.notes()
}

// notes says what a reader of the figures must know.
func (r *reader) notes() {
	note := func(when bool, text string) {
		if when {
			r.run.Notes = append(r.run.Notes, text)
		}
	}
	t := r.table
	note(t.single(), "single_scrape: figures are those since the process began; only a second scrape can tell a window")
	note(!t.single() && !t.told, "between_scrapes: counters and histograms are what was added between the first scrape and the last, restarts taken into account")
	note(!t.single() && t.told, "since_start: what is counted up is taken from the start that its points state; where they state none, from the first of them")
	note(!r.stamped, "no_time: a scrape without stamps does not say when it was taken")
	note(r.run.Engine == "vllm", "survivors: vLLM observes requests when they finish; aborted ones are in no histogram")
}

// windows reports the time between each two scrapes by itself.
func (r *reader) windows(n names) {
	t := r.table
	switch {
	case len(t.windows) > maxWindows:
		r.run.Notes = append(r.run.Notes, fmt.Sprintf("windows: there are more than %d scrapes; what was added between each two is not listed, their samples are", maxWindows))
		return
	case len(t.windows) < 2 && (len(t.windows) == 0 || !t.windows[0].reset):
		return // the same as the whole
	}
	for i, w := range t.windows {
		rose := make(map[*series]float64, len(t.samples[i]))
		for _, d := range t.samples[i] {
			rose[d.s] = d.value
		}
		when := fmt.Sprintf(" in window %d", i+1)
		if w.pod.name != "" {
			when += " of " + w.pod.name
		}
		for _, f := range t.figures(func(s *series) (float64, bool) { v, ok := rose[s]; return v, ok }) {
			if role := f.role(); role != shown && role != outputTokens {
				r.run.Reported = n.report(r.run.Reported, f, when, false)
			}
		}
	}
}

func (t *table) severalModels() bool {
	var model string
	for _, s := range t.list {
		if s.model != "" && model != "" && s.model != model {
			return true
		}
		if s.model != "" {
			model = s.model
		}
	}
	return false
}
