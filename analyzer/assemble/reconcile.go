package assemble

import (
	"strings"

	"servescope/analyzer/dataset"
	"servescope/analyzer/query"
	"servescope/analyzer/report"
	"servescope/analyzer/selection"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
)

// counters are the engines' own counts of tokens, by the end of their names.
var counters = []struct{ suffix, quantity string }{
	{"prompt_tokens_total", "prompt_tokens"}, {"generation_tokens_total", "output_tokens"},
}

// reconcile puts what the requests of a run add up to beside what its engines count
// and log themselves, where the run has both. Requests of a part of the run cannot
// be put beside counts of the whole.
func reconcile(out *report.Run, r *dataset.Run, q *query.Query) {
	if out.Requests.Total == 0 || selection.Selects(q) {
		return
	}
	for _, c := range counters {
		engine, source, notes := counted(r, c.suffix)
		if !engine.Known {
			continue
		}
		x := report.Reconciled{Quantity: c.quantity, Source: source, Engine: engine, Note: notes}
		t := &out.Throughput.Tokens
		x.Finished, x.All = t.PromptOK, t.Prompt
		if c.quantity == "output_tokens" {
			x.Finished, x.All = t.OutputOK, t.Output
		}
		out.Reconciled = append(out.Reconciled, settled(x))
	}
	for _, c := range []struct {
		quantity, ok, all string
		of                func(*report.EngineLoad) report.Value
	}{
		{"prompt_tps", "", "tps_prompt", func(e *report.EngineLoad) report.Value { return e.Prompts }},
		{"output_tps", "tps_ok", "tps", func(e *report.EngineLoad) report.Value { return e.Tokens }},
	} {
		engine := logged(out.Throughput.Engines, c.of)
		if !engine.Known {
			continue
		}
		x := report.Reconciled{Quantity: c.quantity, Source: "engine log", Engine: engine, Note: engine.Note, All: out.Throughput.Values[c.all]}
		if x.Finished = out.Throughput.Values[c.ok]; c.ok == "" {
			x.Finished = perSecond(out.Throughput.Tokens.PromptOK, out.Throughput.Window)
		}
		out.Reconciled = append(out.Reconciled, settled(x))
	}
}

// counted returns the sum of the counters of a run whose names end in suffix, over
// models and engines, with the name and the note of these counters.
func counted(r *dataset.Run, suffix string) (sum report.Value, source, note string) {
	sum = report.Null("not_recorded")
	for _, m := range r.Members {
		for _, f := range m.Reported {
			name, labels, _ := strings.Cut(f.Key, "{")
			name, window, _ := strings.Cut(name, " ")
			prefix, ok := strings.CutSuffix(name, suffix)
			if !ok || f.Stat != "value" || window != "" || strings.Contains(labels, "} in window ") || !ofEngine(prefix) {
				continue
			}
			sum, source = report.Known(sum.V+f.Value, unit.Token), name
			note = countedSince(m)
		}
	}
	return sum, source, note
}

// ofEngine reports whether a name begins with an engine's name, as the engine's own
// metric families do: "vllm:", or "ray_vllm_" where Ray Serve exposes them.
func ofEngine(prefix string) bool {
	if prefix == "" {
		return false
	}
	name := prefix[:len(prefix)-1]
	return strings.HasSuffix(name, "vllm") || strings.HasSuffix(name, "sglang")
}

// countedSince says what time the counters of a member are about.
func countedSince(m *trace.RunMeta) string {
	for _, n := range m.Notes {
		if strings.HasPrefix(n, "single_scrape:") {
			return "the counter began with the process: it holds what came before the first request too"
		}
	}
	return "the counter is about the time between the first scrape and the last"
}

// logged returns the sum over engines of a rate that they log, if all do.
func logged(engines []report.EngineLoad, of func(*report.EngineLoad) report.Value) report.Value {
	sum := report.Null("not_recorded")
	for i := range engines {
		v := of(&engines[i])
		if !v.Known {
			if engines[i].Gauge == "batch_decode_active" { // of single steps, which log no rates
				continue
			}
			return v
		}
		note := v.Note
		sum = report.Known(sum.V+v.V, v.Unit)
		sum.Note = note
	}
	return sum
}

// perSecond returns a number of tokens per second of W.
func perSecond(tokens, window report.Value) report.Value {
	switch {
	case !tokens.Known:
		return tokens
	case !window.Known || window.V <= 0:
		return report.Null(window.Reason)
	}
	return report.Known(tokens.V*1e9/window.V, unit.TokenRate)
}

// settled completes a row with its differences.
func settled(x report.Reconciled) report.Reconciled {
	minus := func(b report.Value) report.Value {
		if !b.Known {
			return report.Null(b.Reason)
		}
		return report.Known(x.Engine.V-b.V, x.Engine.Unit)
	}
	x.Difference, x.Rest = minus(x.Finished), minus(x.All)
	switch {
	case !x.Difference.Known:
		x.Share = report.Null(x.Difference.Reason)
	case x.Engine.V <= 0:
		x.Share = report.Null("no_token")
	default:
		x.Share = report.Known(x.Difference.V/x.Engine.V, unit.Ratio)
	}
	return x
}
