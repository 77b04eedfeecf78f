package llamacpp

import (
	"bytes"
	"slices"
	"strconv"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
	"servescope/formats"
	"servescope/formats/internal/assemble"
	"servescope/formats/internal/numx"
	"servescope/formats/internal/records"
)

// maxSlots is more than a server has.
const maxSlots = 1 << 12

// slot is what is known of the task that a slot works on.
type slot struct {
	task        int64
	at          int64 // offset of the first line of it
	launched    bool
	from        int64 // when, on the clock of the process
	placed      bool
	done        bool // all of its times are known
	prompt, gen int64
	each        int64 // ns per token as the server prints it; 0: it does not
	promptN, n  int64 // n: -1 where no line has told
	drafted     int64 // -1: does not speculate
	accepted    int64
	till        int64 // when it ended: on the clock of the process, or the wall
	clock       trace.ClockKind
}

// fold makes rows of responses and lines.
type fold struct {
	*records.Writer
	slots  map[int64]*slot
	latest int64 // slot of the lines that name none
	last   []byte
}

// slot returns that of a line.
func (f *fold) slot(x *timing) *slot {
	key := x.slot
	if key < 0 {
		key = f.latest
	}
	s := f.slots[key]
	if s == nil {
		if len(f.slots) >= maxSlots {
			f.End()
		}
		s = &slot{task: -1, n: -1, drafted: -1}
		f.slots[key] = s
	}
	return s
}

// Line implements records.Fold.
func (f *fold) Line(line []byte, at int64) {
	x := parseTiming(line)
	clock := trace.RequestClock
	if x.placed {
		clock = trace.RunClock
	}
	switch x.what {
	case other:
		f.Noise()
	case broken:
		f.Skip(torn, at)
	default:
		f.timing(&x, clock, at)
		f.Parsed("timing")
	}
}

// timing takes what a line tells of a slot.
func (f *fold) timing(x *timing, clock trace.ClockKind, at int64) {
	if x.what == cancelled {
		for _, s := range f.slots {
			if s.launched && !s.done && s.task == x.task {
				f.close(s, trace.Aborted)
			}
		}
		return
	}
	s := f.slot(x)
	if x.what == header || x.what == prompt || x.what == launched || x.task >= 0 && s.task >= 0 && x.task != s.task {
		if x.what == launched || s.done || s.n >= 0 || s.prompt > 0 || s.task != x.task && x.task >= 0 {
			f.close(s, trace.Open)
		}
	}
	if s.at == 0 && s.n < 0 && s.prompt == 0 && !s.launched {
		s.at = at
	}
	if x.task >= 0 {
		s.task = x.task
	}
	switch x.what {
	case header:
		f.latest = x.slot
	case launched:
		s.launched, s.from, s.placed, s.at = true, x.at, x.placed, at
	case prompt:
		s.prompt, s.promptN = x.ns, x.n
	case eval:
		s.gen, s.n, s.each = x.ns, x.n, x.each
	case drafts:
		s.drafted, s.accepted = x.n, x.accepted
		if s.done {
			f.close(s, trace.Open)
		}
	case total:
		s.done, s.till, s.clock = true, x.at, clock
		if s.n < 0 || s.prompt == 0 {
			f.Note(incomplete, at)
		}
	}
}

// close makes the row of the task of a slot, of the given status where its times
// are not known, and empties the slot.
func (f *fold) close(s *slot, otherwise trace.Status) {
	done := *s
	*s = slot{task: -1, n: -1, drafted: -1}
	s = &done
	b := f.Builder
	switch {
	case s.done && s.n >= 0:
		f.place(s.prompt, s.gen, s.n, s.till, s.clock)
		if s.n > 0 && s.each > 0 {
			f.Claim("eval time, ms per token", "tpot", unit.Nanosecond, float64(s.each), printed)
		}
		if s.drafted >= 0 {
			b.Int(trace.SpecDrafted, s.drafted)
			b.Int(trace.SpecAccepted, s.accepted)
		}
	case s.launched && s.prompt == 0 && s.n < 0:
		b.Code(trace.StatusCol, int32(otherwise))
		if s.placed {
			b.Dict(trace.ClockCol, []byte(trace.RunClock.String()))
			b.Int(trace.Admitted, s.from)
		}
	case s.prompt > 0 || s.n >= 0 || s.done:
		f.Note(incomplete, s.at)
		return
	default:
		return
	}
	if s.task >= 0 {
		b.Text(trace.RequestID, strconv.AppendInt(nil, s.task, 10))
	}
	f.EndRow(s.at)
}

// place sets the stamps of a task: on the clock of the request, or so that it ended
// when its line was written.
func (f *fold) place(prefill, generation, n, till int64, clock trace.ClockKind) {
	b := f.Builder
	from := int64(0)
	if clock != trace.RequestClock {
		from = till - prefill - generation
	}
	b.Dict(trace.ClockCol, []byte(clock.String()))
	b.Int(trace.Admitted, from)
	status := trace.OK
	if n > 0 {
		b.Int(trace.FirstToken, from+prefill)
		b.Int(trace.LastToken, from+prefill+generation)
	} else {
		status = trace.Empty
	}
	b.Code(trace.StatusCol, int32(status))
	b.Int(trace.OutputTokens, n)
	b.Code(trace.OutputTokensSource, int32(trace.FromServer))
}

// End implements records.Fold.
func (f *fold) End() {
	keys := make([]int64, 0, len(f.slots))
	for key := range f.slots {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		f.close(f.slots[key], trace.Open)
	}
	clear(f.slots)
}

// Object implements records.Fold.
func (f *fold) Object(v *records.Fields, _ []byte, at int64) {
	switch {
	case v.Has(message) && !v.Has(predictedMS):
		f.logged(v, at)
	case v.Has(failure):
		b := f.Builder
		b.Code(trace.StatusCol, int32(trace.Failed))
		b.Dict(trace.ClockCol, []byte(trace.RequestClock.String()))
		f.EndRow(at)
		f.Parsed("error")
	case v.Kind(reason) == formats.Null, v.Is(stop, "false"), !v.Has(predictedMS) && v.Has(object):
		f.Parsed("chunk")
	case v.Has(predictedMS, promptMS):
		f.response(v, at)
	default:
		f.Skip(notAResponse, at)
	}
}

// logged takes a line of the JSON log.
func (f *fold) logged(v *records.Fields, at int64) {
	x := timing{slot: -1, task: -1, n: -1}
	if n, ok := v.Count(slotID); ok {
		x.slot = n
	}
	if n, ok := v.Count(taskID); ok {
		x.task = n
	}
	duration := func(key, count int, w what) {
		if ns, ok := v.Span(key, numx.Millisecond); ok && ns >= 0 {
			x.what, x.ns = w, ns
			if n, ok := v.Count(count); ok {
				x.n = n
			}
		}
	}
	switch text := v.Text(message); {
	case bytes.Contains(text, []byte("total time")):
		x.what = total
	case bytes.Contains(text, []byte("prompt eval time")):
		duration(logPrompt, logPromptN, prompt)
	case bytes.Contains(text, []byte("generation eval time")):
		duration(logGeneration, logDecoded, eval)
	}
	if x.what == other {
		f.Noise()
		return
	}
	clock := trace.RequestClock
	if s, ok := v.Time(stampS); ok {
		x.at, clock = s.T, trace.Wall
		f.Note(coarse, at)
	}
	f.timing(&x, clock, at)
	f.Parsed("timing")
}

// response makes the row of a response.
func (f *fold) response(v *records.Fields, at int64) {
	name := v.Text(id)
	if len(name) > 0 && bytes.Equal(name, f.last) { // the usage behind the last chunk
		f.Parsed("chunk")
		return
	}
	f.last = append(f.last[:0], name...)
	prefill, ok1 := v.Span(promptMS, numx.Millisecond)
	generation, ok2 := v.Span(predictedMS, numx.Millisecond)
	n, ok3 := v.Count(predictedN)
	if !ok1 || !ok2 || !ok3 || prefill < 0 || generation < 0 || prefill+generation > day {
		f.Skip(impossible, at)
		return
	}
	f.place(prefill, generation, n, 0, trace.RequestClock)
	b := f.Builder
	if len(name) > 0 {
		b.Text(trace.RequestID, name)
	}
	if text := v.Text(model); len(text) > 0 {
		b.Dict(trace.Model, text)
	}
	for _, slot := range [...]int{stopType, reason} {
		if why := v.Text(slot); len(why) > 0 {
			b.Dict(trace.FinishReason, why)
		}
	}
	for _, c := range [...]struct {
		slot int
		col  trace.Col
	}{{cacheN, trace.CachedTokens}, {draftN, trace.SpecDrafted}, {draftAccepted, trace.SpecAccepted}} {
		if n, ok := v.Count(c.slot); ok {
			b.Int(c.col, n)
		}
	}
	f.prompt(v)
	if ns, ok := v.Span(perToken, numx.Millisecond); ok && n > 0 {
		f.Claim("predicted_per_token_ms", "tpot", unit.Nanosecond, float64(ns), 1)
	}
	f.EndRow(at)
	f.Parsed("response")
}

// prompt sets the length of the prompt: prompt_n are the tokens that were not in
// the cache.
func (f *fold) prompt(v *records.Fields) {
	for _, slot := range [...]int{usagePrompt, evaluated} {
		if n, ok := v.Count(slot); ok {
			f.Builder.Int(trace.PromptTokens, n)
			return
		}
	}
	computed, ok := v.Count(promptN)
	if cached, known := v.Count(cacheN); ok && known {
		f.Builder.Int(trace.PromptTokens, computed+cached)
	}
}

const day = int64(86400e9)

// printed is how far a time in ms may be off that is printed with two digits, in ns.
const printed = 5000

var (
	torn = &assemble.Problem{Code: "bad_times", Severity: diag.DataLoss,
		Msg: "a line of times is torn or holds no number: it was skipped"}
	incomplete = &assemble.Problem{Code: "incomplete_times", Severity: diag.DataLoss,
		Msg: "a slot's lines of times are not complete: its request is left out"}
	notAResponse = &assemble.Problem{Code: "not_a_response", Severity: diag.DataLoss,
		Msg: "an object has no timings and was skipped"}
	impossible = &assemble.Problem{Code: "impossible_duration", Severity: diag.DataLoss,
		Msg: "timings are missing, negative or longer than a day: the response was skipped"}
	coarse = &assemble.Problem{Code: "coarse_stamps", Severity: diag.Notice,
		Msg: "stamps of the log are in whole seconds: the times within a request are exact, its place is not"}
)
