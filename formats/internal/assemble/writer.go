package assemble

import (
	"math/bits"

	"servescope/analyzer/trace"
)

// Writer applies the rules that hold for every request, whatever log it comes
// from, and writes rows to a Builder. The rules are those of formats/tokenlog's
// documentation: clocks, unknown stamps, token counts, status.
type Writer struct {
	Notes
	Builder *trace.Builder
	Run     *trace.RunMeta // of all rows; its side and clock hold for rows that do not state theirs
	Clock   trace.Clock    // that rows without a clock claim; Run.Clock may be what their stamps showed instead
	Lists   bool           // whether chunk_gaps and chunk_tokens are wanted

	scratch []int64
	sorted  sorter
}

// Add completes a row and writes it.
func (w *Writer) Add(r *Row) {
	side := w.side(r)
	if r.HasArrival {
		c := trace.Received
		if side == trace.Client {
			c = trace.Sent
		}
		if !r.ints.has(c) {
			r.SetInt(c, r.Arrival)
		}
	}
	kind := w.clock(r)
	chunks := w.tokens(r, kind)
	w.counts(r, side, chunks)
	r.SetInt(trace.StatusCol, int64(status(r, chunks)))
	w.checkOrder(r)
	w.write(r)
}

// side returns the row's side and leaves it out of the row where the run says it.
func (w *Writer) side(r *Row) trace.Side {
	side := w.Run.Side
	if v, ok := r.Int(trace.SideCol); ok {
		side = trace.Side(v)
	}
	if r.Unset(trace.SideCol); side != w.Run.Side || side != trace.Server {
		r.SetInt(trace.SideCol, int64(side))
	}
	return side
}

// checkOrder notes a first token before the request. Nothing is repaired.
func (w *Writer) checkOrder(r *Row) {
	first, ok := r.Int(trace.FirstToken)
	if !ok {
		return
	}
	for _, c := range [...]trace.Col{trace.Sent, trace.Received} {
		if at, ok := r.Int(c); ok && first < at {
			w.Note(stampOrder, r.Offset)
			return
		}
	}
}

// write writes the columns that are set.
func (w *Writer) write(r *Row) {
	b := w.Builder
	if r.Offset >= 0 {
		r.SetInt(trace.Offset, r.Offset)
	}
	for half, set := range r.ints {
		for ; set != 0; set &= set - 1 {
			c := trace.Col(half<<6 + bits.TrailingZeros64(set))
			switch trace.Requests.Fields[c].Type {
			case trace.Int64:
				b.Int(c, r.int[c])
			case trace.Bool:
				b.Bool(c, r.int[c] != 0)
			default:
				b.Code(c, int32(r.int[c]))
			}
		}
	}
	for half, set := range r.texts {
		for ; set != 0; set &= set - 1 {
			c := trace.Col(half<<6 + bits.TrailingZeros64(set))
			if trace.Requests.Fields[c].Type == trace.Text {
				b.Text(c, r.text[c])
			} else {
				b.Dict(c, r.text[c])
			}
		}
	}
	b.EndRow()
	if b.Repaired > 0 {
		b.Repaired = 0
		w.Note(repaired, r.Offset)
	}
}

// status tells how the request ended. What a source states counts, but ok and
// empty are told apart by the tokens: ok has at least one, empty is known to
// have none.
func status(r *Row, chunks int) trace.Status {
	if v, ok := r.Int(trace.StatusCol); ok {
		if s := trace.Status(v); s != trace.OK && s != trace.Empty && !(r.Error && s != trace.Aborted) {
			return s
		}
	}
	if r.Error {
		return trace.Failed
	}
	switch string(r.Text(trace.FinishReason)) {
	case "abort", "aborted", "cancelled", "canceled":
		return trace.Aborted
	case "error":
		return trace.Failed
	}
	n, counted := r.Int(trace.OutputTokens)
	switch {
	case n > 0 && counted, chunks > 0, r.ints.has(trace.FirstToken), r.ints.has(trace.LastToken):
		return trace.OK
	case counted, chunks == 0:
		return trace.Empty
	}
	return trace.OK
}
