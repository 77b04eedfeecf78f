package load

import (
	"servescope/analyzer/dataset"
	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/formats/source"
)

// noteAbsurd records the token counts of a batch that were not believed.
func noteAbsurd(log *diag.Log, b *trace.Batch) {
	if b.Implausible.Count > 0 {
		log.Add(diag.Diag{
			Code: "absurd_count", Severity: diag.DataLoss, File: b.File, Offset: b.Implausible.Offset, Count: b.Implausible.Count,
			Msg: "a token count is negative or above 10^10: it counts as unknown",
			Fix: "leave out unknown values, or write null",
		})
	}
}

// noteOverCached records the requests of a batch with more cached tokens than
// their prompt has.
func noteOverCached(log *diag.Log, b *trace.Batch) {
	if !b.Has(trace.CachedTokens) || !b.Has(trace.PromptTokens) {
		return
	}
	cached, prompts, offsets := b.Ints(trace.CachedTokens), b.Ints(trace.PromptTokens), b.Ints(trace.Offset)
	d := diag.Diag{
		Code: "cached_over_prompt", Severity: diag.DataLoss, File: b.File, Offset: -1,
		Msg: "a request has more cached tokens than prompt tokens: its cached tokens count as unknown",
		Fix: "write how many tokens of the prompt were found in the cache, not how many the cache holds",
	}
	for i := range b.Rows {
		k, ok := cached.At(i)
		n, known := prompts.At(i)
		if !ok || !known || k <= n {
			continue
		}
		if off, ok := offsets.At(i); ok && (d.Count == 0 || off < d.Offset) {
			d.Offset = off
		}
		d.Count++
	}
	if d.Count > 0 {
		log.Add(d)
	}
}

// noteRewritten adds a diagnostic if a file was overwritten in place between opening it
// and the end of its first reading: which of its bytes were read is unknown.
func noteRewritten(f *dataset.Input) {
	if source.Rewritten(f.Source) {
		f.Diags.Add(diag.Diag{
			Code: "file_rewritten", Severity: diag.Error, File: f.Source.Name(), Offset: -1, Count: 1,
			Msg: "the file was overwritten while it was read: the figures may mix its old and its new content",
			Fix: "analyze a copy, or a log that is only appended to",
		})
	}
}

// nothingRead is the diagnostic of an input that its format could read nothing
// of.
func nothingRead(f *dataset.Input) diag.Diag {
	return diag.Diag{
		Code: "nothing_read", Severity: diag.Notice, File: f.Source.Name(), Offset: -1,
		Msg: "the file contains no request, step or reported figure that could be read as " + f.Format.Name,
	}
}
