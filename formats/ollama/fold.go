package ollama

import (
	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
	"servescope/formats/internal/assemble"
	"servescope/formats/internal/numx"
	"servescope/formats/internal/records"
)

// maxChunks is how many chunks of a stream are kept.
const maxChunks = 1 << 20

// fold makes rows of responses, and keeps the chunks of the one that is open.
type fold struct {
	*records.Writer
	model  string
	began  bool // there are chunks
	from   int64
	stamps []int64 // of chunks with a token
	broken bool    // they are not of one stream
	answer int64
	ended  int64 // when the latest response did
	gaps   []int64

	rest, rests int64 // total durations less their parts: the sum, and how many there are
}

// Object implements records.Fold.
func (f *fold) Object(v *records.Fields, _ []byte, at int64) {
	switch {
	case v.Has(failure) && !v.Has(done):
		f.Builder.Code(trace.StatusCol, int32(trace.Failed))
		f.EndRow(at)
		f.Parsed("error")
	case !v.Has(done):
		f.Skip(notAResponse, at)
	case v.Is(done, "true"):
		f.final(v, at)
		f.Parsed("response")
		f.forget()
	default:
		f.chunk(v, at)
		f.Parsed("chunk")
	}
}

func (f *fold) forget() {
	f.began, f.broken, f.model, f.stamps, f.answer = false, false, "", f.stamps[:0], 0
}

// chunk takes a chunk of a stream. One without a text or a call of a tool carries
// no token.
func (f *fold) chunk(v *records.Fields, at int64) {
	s, ok := v.Time(created)
	if !f.began {
		f.began, f.from, f.model = true, at, string(v.Text(model))
	}
	text := len(v.Text(response)) > 0 || len(v.Text(content)) > 0 || v.Has(tools)
	switch n := len(f.stamps); {
	case !ok, !s.Zoned, f.model != string(v.Text(model)), n == maxChunks, n > 0 && s.T < f.stamps[n-1]:
		f.broken = true
	case text || len(v.Text(thinking)) > 0:
		f.stamps = append(f.stamps, s.T)
		if text && f.answer == 0 {
			f.answer = s.T
		}
	}
}

// final makes the row of a response.
func (f *fold) final(v *records.Fields, at int64) {
	b := f.Builder
	b.Dict(trace.Model, v.Text(model))
	if why := v.Text(reason); len(why) > 0 {
		b.Dict(trace.FinishReason, why)
	}
	n, counted := v.Count(evalCount)
	status := trace.OK
	switch {
	case v.Has(failure):
		status = trace.Failed
	case v.Is(reason, "load"), v.Is(reason, "unload"): // no prompt: the model is loaded, or let go
		f.Note(loaded, at)
		status = trace.Empty
	case counted && n == 0:
		status = trace.Empty
	}
	b.Code(trace.StatusCol, int32(status))
	if counted {
		b.Int(trace.OutputTokens, n)
		b.Code(trace.OutputTokensSource, int32(trace.FromServer))
	}
	f.prompt(v)
	whole, timed := v.Span(total, numx.Nanosecond)
	end, stamped := v.Time(created)
	clock := stamped && end.Zoned
	switch {
	case !timed || whole <= 0:
		timed = false
		f.Note(noTotal, at)
	case clock:
		b.Int(trace.Received, end.T-whole)
		b.Int(trace.Finished, end.T)
	default:
		b.Dict(trace.ClockCol, []byte(trace.RequestClock.String()))
		b.Int(trace.Received, 0)
		b.Int(trace.Finished, whole)
	}
	stamps := timed && clock && status != trace.Empty && f.tokens(end.T-whole, end.T, n, counted, at)
	f.durations(v, whole, timed, n, stamps, at)
	if clock {
		f.ended = max(f.ended, end.T)
	}
	f.EndRow(at)
}

// prompt sets the lengths of the prompt. prompt_eval_count is that of what was
// computed up to v0.12, where all of it came from the cache it is missing; later
// what was cached is a count of its own and among the others.
func (f *fold) prompt(v *records.Fields) {
	if n, ok := v.Count(promptCount); ok {
		f.Builder.Int(trace.PromptTokens, n)
	}
	if n, ok := v.Count(promptCached); ok {
		f.Builder.Int(trace.CachedTokens, n)
	}
}

// tokens sets the stamps of the chunks of a stream, unless they cannot all be of
// this response: there are more than tokens, they are not within it, or it began
// before another one in the file had ended.
func (f *fold) tokens(from, till, n int64, counted bool, at int64) bool {
	if !f.began {
		return false
	}
	k := len(f.stamps)
	if f.broken || counted && int64(k) > n || k > 0 && (f.stamps[0] < from || f.stamps[k-1] > till) || from < f.ended {
		f.Note(interleaved, at)
		return false
	}
	if k == 0 {
		return false
	}
	b := f.Builder
	b.Bool(trace.Stream, true)
	b.Int(trace.FirstToken, f.stamps[0])
	b.Int(trace.LastToken, f.stamps[k-1])
	if f.answer > 0 {
		b.Int(trace.FirstAnswerToken, f.answer)
	}
	if !f.Lists {
		return true
	}
	f.gaps = f.gaps[:0]
	for i, t := range f.stamps[1:] {
		f.gaps = append(f.gaps, t-f.stamps[i])
	}
	b.List(trace.ChunkGaps, f.gaps)
	return true
}

// durations sets what the runner measured. Parts that are longer than the whole
// are of another request, or of a counter that ran over.
func (f *fold) durations(v *records.Fields, whole int64, timed bool, n int64, stamps bool, at int64) {
	b := f.Builder
	prefill, prefilled := v.Span(promptDuration, numx.Nanosecond)
	decode, decoded := v.Span(evalDuration, numx.Nanosecond)
	loading, loaded := v.Span(load, numx.Nanosecond)
	if timed {
		f.Claim("total_duration", "e2e_stream_end", unit.Nanosecond, float64(whole), 0)
	}
	if prefill < 0 || decode < 0 || loading < 0 || timed && prefill+decode+loading > whole+int64(1e6) {
		f.Note(impossible, at)
		return
	}
	if prefilled && prefill > 0 {
		b.Int(trace.DPrefill, prefill)
		f.Claim("prompt_eval_duration", "d_prefill", unit.Nanosecond, float64(prefill), 0)
	}
	if loaded {
		f.Claim("load_duration", "", unit.Nanosecond, float64(loading), 0)
	}
	if decoded && n > 0 {
		if !stamps {
			b.Int(trace.DDecode, decode)
		}
		f.Claim("eval_duration / eval_count", "tpot", unit.Nanosecond, float64(decode)/float64(n), 0)
	}
	if timed && prefilled && decoded && loaded {
		f.rest += whole - loading - prefill - decode
		f.rests++
	}
}

// End implements records.Fold.
func (f *fold) End() {
	if f.rests > 0 {
		f.Run.Notes = append(f.Run.Notes, "rest_of_total: load, prompt_eval and eval leave "+unit.FormatDuration(f.rest/f.rests)+" of total_duration on average, before the first token and behind it")
	}
	if !f.began {
		return
	}
	f.Note(open, f.from)
	if len(f.stamps) > 0 && !f.broken {
		b := f.Builder
		b.Dict(trace.Model, []byte(f.model))
		b.Code(trace.StatusCol, int32(trace.Open))
		b.Bool(trace.Stream, true)
		b.Int(trace.FirstToken, f.stamps[0])
		f.EndRow(f.from)
	}
}

var (
	notAResponse = &assemble.Problem{Code: "not_a_response", Severity: diag.DataLoss,
		Msg: "an object without done is not a response of Ollama and was skipped"}
	loaded = &assemble.Problem{Code: "model_loaded", Severity: diag.Notice,
		Msg: "a request had no prompt, and only loaded or unloaded the model: it has no tokens"}
	noTotal = &assemble.Problem{Code: "no_duration", Severity: diag.Notice,
		Msg: "a final object has no total_duration: its times are unknown"}
	interleaved = &assemble.Problem{Code: "chunks_unused", Severity: diag.Notice,
		Msg: "chunks before a final object are not of that response alone: there are more of them than tokens, they lie outside of it, or it began before another one ended", Fix: "save each stream to a file of its own"}
	impossible = &assemble.Problem{Code: "impossible_duration", Severity: diag.Notice,
		Msg: "the durations of a response are negative, or longer than the response: its parts are unknown"}
	open = &assemble.Problem{Code: "stream_open", Severity: diag.Notice,
		Msg: "the file ends within a stream"}
)
