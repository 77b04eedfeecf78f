package request

import (
	"servescope/analyzer/metric"
	"servescope/analyzer/trace"
)

// First returns where TTFT ends under def, or none. What a tool wrote down
// itself it saw.
func (w *Row) First(def *metric.Definition) int64 {
	switch def.First {
	case metric.FirstEvent:
		if w.FirstEvent == None && w.producer == def.Name {
			return w.FirstToken
		}
		return w.FirstEvent
	case metric.FirstAnswer:
		if w.firstAnswer == None && w.kind == KindReasoning {
			return None
		}
		return Or(w.firstAnswer, Or(w.FirstToken, w.FirstEvent))
	}
	return Or(w.FirstToken, w.FirstEvent)
}

// End returns where E2E ends under def, or none.
func (w *Row) End(def *metric.Definition) int64 {
	if def.ToFinish {
		return Or(w.Finished, w.LastToken)
	}
	return Or(w.LastToken, w.Finished)
}

// answered returns the first answer token, and why there is none.
func (w *Row) answered() (int64, metric.Reason) {
	switch {
	case w.firstAnswer != None:
		return w.firstAnswer, metric.None
	case w.kind == KindReasoning:
		return None, metric.NoAnswerToken
	case w.FirstToken != None && (w.kind != kindUnknown || w.reasoningTokens == 0):
		return w.FirstToken, metric.None
	}
	return None, metric.NotRecorded
}

// Mark returns a point in time of a request under def. A response in one piece
// has its first token at its end, for tools that take it so; one without a token
// that counts has it at the start, for tools that write 0.
func (w *Row) Mark(m metric.Mark, def *metric.Definition) (int64, metric.Reason) {
	t := int64(None)
	switch m {
	case metric.AtStart:
		t = w.Start
	case metric.AtLast:
		t = w.LastToken
	case metric.AtEnd:
		t = w.End(def)
	case metric.AtFirst:
		if w.Stream == 0 {
			if !def.OneShot {
				return None, metric.NotStreamed
			}
			return w.Mark(metric.AtEnd, def)
		}
		silent := w.Status == trace.Empty && (def.First != metric.FirstEvent || w.producer == def.Name) || // others may not record events
			w.kind == KindReasoning && def.First == metric.FirstAnswer
		if t = w.First(def); w.Status == trace.Empty && def.First != metric.FirstEvent {
			t = None // what came first was no token
		}
		if t == None && silent {
			if !def.Silent {
				return None, metric.NoAnswerToken // responses without a token are in no cohort
			}
			return w.Mark(metric.AtStart, def)
		}
	}
	if t == None {
		return None, metric.NotRecorded
	}
	return t, metric.None
}

// tooFew tells why a request has too few tokens for a TTFT under def.
func (w *Row) tooFew(def *metric.Definition) metric.Reason {
	if def.Least == 0 || w.Stream == 0 {
		return metric.None
	}
	n, first := w.Tokens(def), w.First(def)
	switch {
	case w.Status == trace.Empty:
		return metric.NoToken
	case first == None && w.kind == KindReasoning:
		return metric.NoAnswerToken
	case n != None && n < def.Least:
		return metric.NLessThan2
	case n == None && (first == None || w.LastToken <= first): // two chunks have two tokens
		return w.uncounted(def)
	}
	return metric.None
}

// uncounted tells why N is unknown under def.
func (w *Row) uncounted(def *metric.Definition) metric.Reason {
	switch def.Counts[0] {
	case metric.ClientCount, metric.AnswerCount, metric.BOSCount:
		return metric.NoClientCount
	}
	return metric.NUnknown
}

// seen tells why a request takes no part in latencies that begin where it came
// in from outside.
func (w *Row) seen(def *metric.Definition) metric.Reason {
	why := w.Cohort(def)
	if why == metric.None && w.Side >= trace.Engine {
		why = metric.NotRecorded
	}
	return why
}

// toFirst returns the time to the first token at the row's own side, of a
// request of the cohort.
func (w *Row) toFirst(def *metric.Definition) (int64, metric.Reason) {
	if why := w.tooFew(def); why != metric.None {
		return 0, why
	}
	end, why := w.Mark(metric.AtFirst, def)
	if why != metric.None {
		return 0, why
	}
	return Between(w.Start, end)
}

// waited returns the wait inside the client.
func (w *Row) waited() (int64, metric.Reason) {
	switch {
	case w.clientWait == None && (w.scheduled == None || w.Side != trace.Client):
		return 0, metric.NotRecorded
	case w.clientWait == None:
		return Between(w.scheduled, w.Start)
	case w.clientWait < 0:
		return 0, metric.Order
	}
	return w.clientWait, metric.None
}

// plusWait adds the wait inside the client to a latency.
func (w *Row) plusWait(v int64, why metric.Reason) (int64, metric.Reason) {
	wait, other := w.waited()
	if why == metric.None {
		why = other
	}
	return v + wait, why
}

// answerFor returns the first answer token of a streamed request of the cohort.
func (w *Row) answerFor(def *metric.Definition) (int64, metric.Reason) {
	switch why := w.Cohort(def); {
	case why != metric.None:
		return 0, why
	case w.Status == trace.Empty:
		return 0, metric.NoToken
	case w.Stream == 0:
		return 0, metric.NotStreamed
	}
	return w.answered()
}

// asked tells why a request takes no part in metrics of its prompt, which is
// there whether or not a token came back.
func (w *Row) asked(def *metric.Definition) metric.Reason {
	if w.Status == trace.Empty {
		return metric.None
	}
	return w.Cohort(def)
}

// OverCached reports whether more of the prompt is said to be cached than there
// is.
func (w *Row) OverCached() bool { return w.PromptTokens != None && w.CachedTokens > w.PromptTokens }

// cachedWhy tells why the parts of a prompt are unknown.
func (w *Row) cachedWhy(def *metric.Definition) metric.Reason {
	switch why := w.asked(def); {
	case why != metric.None:
		return why
	case w.OverCached():
		return metric.Inconsistent
	case w.PromptTokens == None || w.CachedTokens == None:
		return metric.NotRecorded
	}
	return metric.None
}
