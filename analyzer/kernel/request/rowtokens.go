package request

import (
	"servescope/analyzer/metric"
	"servescope/analyzer/trace"
)

// Tokens returns N under def, or none. What a tool counted itself is its N, unless
// it tells the client's count beside the server's, and but for a token that begins
// a text: a row holds the tokens that were generated.
func (w *Row) Tokens(def *metric.Definition) int64 {
	if w.Status == trace.Empty && def.Silent && w.N == None {
		return 0
	}
	if w.producer == def.Name && w.N != None && w.ClientTokens == None && def.Counts[0] != metric.BOSCount {
		return w.N
	}
	for _, c := range def.Counts {
		if n := w.count(c); n != None {
			return n
		}
	}
	return None
}

// count returns the output tokens as c counts them, or none.
func (w *Row) count(c metric.Count) int64 {
	reasons := w.kind == KindReasoning || w.reasoningTokens > 0
	switch c {
	case metric.ServerCount:
		if w.source == trace.FromServer {
			return w.N
		}
	case metric.ChunkCount:
		if w.source == trace.FromChunks {
			return w.N
		}
	case metric.ClientCount:
		switch {
		case w.source == trace.FromClient && w.N != None:
			return w.N
		case !reasons:
			return w.ClientTokens
		}
		return plus(w.ClientTokens, w.reasoningTokens)
	case metric.AnswerCount, metric.BOSCount:
		n := w.ClientTokens
		if n == None && w.source == trace.FromClient {
			if n = w.N; reasons {
				n = minus(n, w.reasoningTokens)
			}
		}
		if c == metric.BOSCount && n != None {
			n++
		}
		return n
	case metric.RequestedCount:
		if w.Requested {
			return Or(w.N, w.maxTokens)
		}
		return w.maxTokens
	}
	return None
}
