package table

import (
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
)

// derived are the durations of a request, computed for every row whose stamps
// define them, whatever its status; they start where the row's side first saw
// the request: sent for a client, received for a proxy or server, queued for an
// engine. A response that was not streamed has no TTFT and no TPOT.
var derived = []column{
	{trace.Field{Name: "ttft_ns", Type: trace.Int64, Unit: unit.Nanosecond,
		Doc: "time to first token: first_token - start"}, fillTTFT},
	{trace.Field{Name: "e2e_ns", Type: trace.Int64, Unit: unit.Nanosecond,
		Doc: "time to last token: last_token - start"}, fillE2E},
	{trace.Field{Name: "tpot_ns", Type: trace.Float64, Unit: unit.NSPerToken,
		Doc: "time per output token: (last_token - first_token) / (output_tokens - 1); null below 2 tokens"}, fillTPOT},
}

// start returns when the row's side first saw the request.
func start(b *trace.Batch, i int) (int64, bool) {
	side := trace.Client
	if b.Run != nil {
		side = b.Run.Side
	}
	if code, ok := b.Dicts(trace.SideCol).At(i); ok {
		side = trace.Side(code)
	}
	switch side {
	case trace.Client:
		return b.Ints(trace.Sent).At(i)
	case trace.Proxy, trace.Server:
		return b.Ints(trace.Received).At(i)
	}
	return b.Ints(trace.Queued).At(i)
}

// streamed reports whether the row may be a streamed response.
func streamed(b *trace.Batch, i int) bool {
	v, ok := b.Bools(trace.Stream).At(i)
	return v || !ok
}

func fillTTFT(t *Table, dst *trace.Batch, c trace.Col, b *trace.Batch) {
	fillInts(t, dst, c, b, func(i int) (int64, bool) {
		from, ok1 := start(b, i)
		to, ok2 := b.Ints(trace.FirstToken).At(i)
		return to - from, ok1 && ok2 && streamed(b, i)
	})
}

func fillE2E(t *Table, dst *trace.Batch, c trace.Col, b *trace.Batch) {
	fillInts(t, dst, c, b, func(i int) (int64, bool) {
		from, ok1 := start(b, i)
		to, ok2 := b.Ints(trace.LastToken).At(i)
		return to - from, ok1 && ok2
	})
}

func fillTPOT(t *Table, dst *trace.Batch, c trace.Col, b *trace.Batch) {
	out, valid := t.scratch.floats(b.Rows), t.scratch.bitmap(b.Rows)
	for i := range out {
		first, ok1 := b.Ints(trace.FirstToken).At(i)
		last, ok2 := b.Ints(trace.LastToken).At(i)
		n, ok3 := b.Ints(trace.OutputTokens).At(i)
		if out[i] = 0; ok1 && ok2 && ok3 && n >= 2 && streamed(b, i) {
			out[i] = float64(last-first) / float64(n-1)
			valid[i>>3] |= 1 << (i & 7)
		}
	}
	dst.SetFloats(c, trace.Floats{Values: out, Valid: valid})
}

// fillInts fills an Int64 column row by row.
func fillInts(t *Table, dst *trace.Batch, c trace.Col, b *trace.Batch, at func(i int) (int64, bool)) {
	out, valid := t.scratch.ints(b.Rows), t.scratch.bitmap(b.Rows)
	for i := range out {
		v, ok := at(i)
		if out[i] = 0; ok {
			out[i] = v
			valid[i>>3] |= 1 << (i & 7)
		}
	}
	dst.SetInts(c, trace.Ints{Values: out, Valid: valid})
}
