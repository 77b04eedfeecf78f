package kernel

import (
	"servescope/analyzer/metric"
	"servescope/analyzer/report"
	"servescope/analyzer/unit"
)

// totals writes how many tokens the rates are of.
func (p *putter) totals() {
	f := p.f
	total := func(n int64, why metric.Reason, note string) report.Value {
		if why != metric.None {
			return report.Null(why.String())
		}
		v := report.KnownInt(n, unit.Token)
		v.Note = note
		return v
	}
	prompts := metric.None
	if f.prompts > 0 && f.noPrompt == f.prompts {
		prompts = metric.NotRecorded
	}
	lack := noPromptNote(f.noPrompt)
	p.c.Throughput.Tokens = report.Tokens{
		Output:   total(f.tokens, summed(f.tokens, p.lack.unknown), p.lacking(p.lack.unknown)),
		OutputOK: total(f.tokensOK, summed(f.tokensOK, p.lack.unknownOK), p.lacking(p.lack.unknownOK)),
		Prompt:   total(f.prompt, prompts, lack),
		PromptOK: total(f.promptOK, prompts, lack),
	}
}

// noPromptNote notes n requests whose prompts are of unknown length.
func noPromptNote(n int64) string {
	return counting(n, "the prompt of 1 request is of unknown length and left out", "the prompts of %d requests are of unknown length and left out")
}
