package assemble

import (
	"slices"

	"servescope/analyzer/trace"
)

// tokens writes the row's lists and the stamps that follow from them. It returns
// the number of token-bearing chunks, or -1 when that is not known.
func (w *Writer) tokens(r *Row, kind trace.ClockKind) int {
	if !r.HasTokens && r.HasGaps && !w.fromGaps(r) {
		return w.gapsOnly(r)
	}
	if !r.HasTokens {
		r.HasTokenCount = r.HasTokenCount && w.knownCounts(r, len(r.ChunkTokens))
		switch w.writeCounts(r); {
		case r.HasTokenCount:
			return len(r.ChunkTokens)
		case r.Chunks > 0:
			return int(r.Chunks)
		}
		return -1
	}
	r.HasTokenCount = r.HasTokenCount && w.knownCounts(r, len(r.Tokens))
	if r.HasTokenCount && slices.Contains(r.ChunkTokens, 0) {
		dropEmpty(r)
	}
	w.writeGaps(r, kind)
	w.writeCounts(r)
	n := len(r.Tokens)
	if n > 0 {
		if !r.Partial {
			w.edge(r, trace.FirstToken, r.Tokens[0], kind)
		}
		w.edge(r, trace.LastToken, r.Tokens[n-1], kind)
	}
	return n
}

// edge sets the first or last token's stamp from the list.
func (w *Writer) edge(r *Row, c trace.Col, v int64, kind trace.ClockKind) {
	if v == Unknown || v <= 0 && absolute(kind) {
		return
	}
	if old, ok := r.Int(c); ok && old != v {
		w.Note(stampConflict, r.Offset)
	}
	r.SetInt(c, v)
}

// absolute reports whether a clock of that kind began long before every log.
func absolute(kind trace.ClockKind) bool { return kind == trace.Wall || kind == trace.Monotonic }

// writeGaps writes the gaps between the tokens. They are most of what there is to
// write: they are put where the builder wants them.
func (w *Writer) writeGaps(r *Row, kind trace.ClockKind) {
	if !w.Lists {
		w.scratch, _ = w.gaps(w.scratch[:0], r, kind)
		return
	}
	list, known := w.gaps(w.Builder.OpenList(trace.ChunkGaps), r, kind)
	if !known {
		w.Builder.CancelList(trace.ChunkGaps)
		return
	}
	w.Builder.CloseList(trace.ChunkGaps, list)
}

// gaps appends the differences of the token stamps to list. One unknown stamp makes two gaps unknown, and with them the list. Stamps
// that a source lists out of order are sorted, as those of events are; what it
// says are gaps stays as it is.
func (w *Writer) gaps(list []int64, r *Row, kind trace.ClockKind) (out []int64, known bool) {
	t := r.Tokens
	if len(t) == 0 {
		return list, true
	}
	if r.exact && len(r.Gaps) == len(t)-1 && (t[0] > 0 || !absolute(kind)) {
		return append(list, r.Gaps...), true
	}
	list = slices.Grow(list, len(t)-1)
	out = list[:len(list)+len(t)-1]
	gaps := out[len(list):]
	sign := differences(gaps, t)
	unknown := r.HasUnknown && slices.Contains(t, Unknown)
	if absolute(kind) && (sign < 0 || t[0] <= 0) {
		unknown = unknown || slices.Min(t) <= 0
	}
	switch {
	case unknown:
		w.Note(unknownInList, r.Offset)
		return list, false
	case sign < 0 && r.HasGaps:
		w.Note(tokenOrder, r.Offset)
	case sign < 0:
		w.Note(lateToken, r.Offset)
		w.sorted.sort(r)
		differences(gaps, t)
	}
	return out, true
}

// differences sets gaps to those of consecutive stamps, and returns a negative
// number if one is negative.
func differences(gaps, t []int64) (sign int64) {
	next := t[1:]
	t, gaps = t[:len(next)], gaps[:len(next)] // so that nothing is checked in the loop
	for i, at := range next {
		gap := at - t[i]
		gaps[i] = gap
		sign |= gap
	}
	return sign
}

// fromGaps turns gaps behind a known first token into token stamps. It returns
// false where that cannot be done.
func (w *Writer) fromGaps(r *Row) bool {
	at, ok := r.Int(trace.FirstToken)
	if !ok || slices.Contains(r.Gaps, Unknown) {
		return false
	}
	gaps := r.Gaps
	if holdsFirst(r, at) {
		w.Note(ttftInGaps, r.Offset)
		gaps = gaps[1:]
	}
	r.Tokens = append(r.Tokens[:0], at)
	for _, gap := range gaps {
		at += gap
		r.Tokens = append(r.Tokens, at)
	}
	r.HasTokens = true
	return true
}

// holdsFirst reports whether the gaps begin with the time to first token: their
// sum is then the time from the request, not from the first token, to the end,
// and their first element is nearly that time.
func holdsFirst(r *Row, first int64) bool {
	start, ok := r.Int(trace.Sent)
	if !ok {
		start, ok = r.Int(trace.Received)
	}
	end, ended := r.Int(trace.LastToken)
	if !ended {
		end, ended = r.Int(trace.Finished)
	}
	if !ok || !ended || len(r.Gaps) == 0 {
		return false
	}
	var sum int64
	for _, gap := range r.Gaps {
		sum += gap
	}
	ttft := first - start
	return distance(r.Gaps[0], ttft) <= ttft/100+1e6 && distance(sum, end-start) < distance(sum, end-first)
}

func distance(a, b int64) int64 { return max(a-b, b-a) }

// gapsOnly writes gaps without a first token, and returns the number of chunks.
func (w *Writer) gapsOnly(r *Row) int {
	if slices.Contains(r.Gaps, Unknown) {
		w.Note(unknownInList, r.Offset)
		return -1
	}
	n := len(r.Gaps) + 1
	if v, ok := r.Int(trace.OutputTokens); ok && v == 0 {
		n = 0
	} else if n == 1 && !r.HasTokenCount {
		n = -1 // no chunk or one
	}
	if n > 0 {
		r.HasTokenCount = r.HasTokenCount && w.knownCounts(r, n)
		w.writeCounts(r)
	}
	if len(r.Gaps) > 0 && slices.Min(r.Gaps) < 0 {
		w.Note(tokenOrder, r.Offset)
	}
	if w.Lists {
		w.Builder.List(trace.ChunkGaps, r.Gaps)
	}
	return n
}

// knownCounts reports whether ChunkTokens are usable for that many chunks.
func (w *Writer) knownCounts(r *Row, chunks int) bool {
	switch {
	case len(r.ChunkTokens) != chunks:
		w.Note(countMismatch, r.Offset)
	case len(r.ChunkTokens) > 0 && slices.Min(r.ChunkTokens) < 0:
		w.Note(unknownInList, r.Offset)
	default:
		return true
	}
	return false
}

// dropEmpty takes out the chunks without a token: they are events, not tokens.
func dropEmpty(r *Row) {
	if _, ok := r.Int(trace.FirstEvent); !ok && r.ChunkTokens[0] == 0 && r.Tokens[0] != Unknown {
		r.SetInt(trace.FirstEvent, r.Tokens[0])
	}
	n := 0
	for i, k := range r.ChunkTokens {
		if k > 0 {
			r.Tokens[n], r.ChunkTokens[n] = r.Tokens[i], k
			n++
		}
	}
	r.Tokens, r.ChunkTokens = r.Tokens[:n], r.ChunkTokens[:n]
}

// writeCounts writes ChunkTokens.
func (w *Writer) writeCounts(r *Row) {
	if r.HasTokenCount && w.Lists {
		w.Builder.List(trace.ChunkTokens, r.ChunkTokens)
	}
}

// counts completes the numbers of tokens. The requested length is never one.
func (w *Writer) counts(r *Row, side trace.Side, chunks int) {
	n, stated := r.Int(trace.OutputTokens)
	source := trace.FromServer
	switch {
	case stated:
		if n < int64(chunks) {
			w.Note(fewerTokens, r.Offset)
		}
	case r.Partial:
		r.Unset(trace.OutputTokensSource)
		return
	case r.HasTokenCount:
		if side == trace.Client {
			source = trace.FromClient
		}
		for _, k := range r.ChunkTokens {
			n = min(n+min(k, trace.MaxTokenCount), trace.MaxTokenCount+1)
		}
	case chunks >= 0:
		source = trace.FromChunks
		if n = int64(chunks); n > 0 {
			w.Note(tokensFromChunks, r.Offset)
		}
	default:
		r.Unset(trace.OutputTokensSource)
		return
	}
	r.SetInt(trace.OutputTokens, n)
	if !stated || !r.ints.has(trace.OutputTokensSource) {
		r.SetInt(trace.OutputTokensSource, int64(source))
	}
	if r.Partial || r.ints.has(trace.FirstChunkTokens) {
		return
	}
	switch {
	case r.HasTokenCount && len(r.ChunkTokens) > 0:
		r.SetInt(trace.FirstChunkTokens, r.ChunkTokens[0])
	case stated && chunks > 0 && n == int64(chunks): // every chunk has at least one
		r.SetInt(trace.FirstChunkTokens, 1)
	}
}
