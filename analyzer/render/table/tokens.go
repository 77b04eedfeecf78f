package table

import (
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
)

// tokenRows is how many rows a batch of the tokens table has at most.
const tokenRows = 1 << 16

// Columns of the tokens table.
const (
	tokenRun trace.Col = iota
	tokenRequestID
	tokenRequestRow
	tokenI
	tokenT
	tokenGap
	tokenTokens
)

var tokens = &trace.Table{Name: "tokens", Fields: []trace.Field{
	tokenRun:        {Name: "run", Type: trace.Dict, Doc: "label of the run"},
	tokenRequestID:  {Name: "request_id", Type: trace.Dict, Doc: "identifier as written by the source; null where it has none"},
	tokenRequestRow: {Name: "request_row", Type: trace.Int64, Doc: "column row of the request in the requests table of the same query"},
	tokenI:          {Name: "i", Type: trace.Int64, Doc: "number of the token-bearing chunk in its response, from 0"},
	tokenT:          {Name: "t_ns", Type: trace.Int64, Unit: unit.Nanosecond, Stamp: true, Doc: "arrival of the chunk on the clock of the request's row"},
	tokenGap:        {Name: "gap_ns", Type: trace.Int64, Unit: unit.Nanosecond, Doc: "time since the chunk before; null for the first"},
	tokenTokens:     {Name: "tokens", Type: trace.Int64, Unit: unit.Token, Doc: "tokens in the chunk; null when unknown"},
}}

// Tokens exports a row per token-bearing chunk of every request whose chunks
// are recorded, so that no reader needs lists.
func Tokens() *Table {
	out := &tokenBatch{}
	return &Table{Table: tokens, Source: trace.Requests,
		split: func(t *Table, b *trace.Batch, emit func(*trace.Batch) error) error { return out.expand(t, b, emit) }}
}

// tokenBatch is a batch of the tokens table under construction. Its buffers
// have tokenRows entries; n are in use.
type tokenBatch struct {
	n                           int
	zeros, codes                []int32
	ids                         []string
	noID, noT, noGap, noTokens  trace.Bitmap // set where null: inverted on the way out
	rows, index, t, gap, tokens []int64
}

// expand appends the chunks of every request of b.
func (o *tokenBatch) expand(t *Table, b *trace.Batch, emit func(*trace.Batch) error) error {
	o.init()
	ids, first := b.Texts(trace.RequestID), b.Ints(trace.FirstToken)
	gaps, sizes := b.Lists(trace.ChunkGaps), b.Lists(trace.ChunkTokens)
	for i := range b.Rows {
		c := chunks{row: t.rows + int64(i)}
		c.t, c.timed = first.At(i)
		c.gaps, c.listed = gaps.At(i)
		c.sizes, c.sized = sizes.At(i)
		n := c.count()
		id, named := ids.At(i)
		for c.next < n {
			if o.n == tokenRows {
				if err := o.flush(b, emit); err != nil {
					return err
				}
			}
			if c.next == 0 || o.n == 0 {
				o.ids = append(o.ids, string(id))
			}
			from := o.n
			o.n += c.fill(o, min(n-c.next, tokenRows-o.n))
			if !named {
				setBits(o.noID, from, o.n)
			}
		}
	}
	return o.flush(b, emit)
}

// chunks is a request's token-bearing chunks; next is the first not yet filled
// in and t its time.
type chunks struct {
	row, t        int64
	gaps, sizes   []int64
	timed         bool // t is known
	listed, sized bool
	next          int
}

// count returns the number of chunks that are recorded: one more than the gaps,
// or than none if the first chunk has a time; else as many as there are sizes.
func (c *chunks) count() int {
	switch {
	case c.listed && (len(c.gaps) > 0 || c.timed):
		return len(c.gaps) + 1
	case c.sized:
		c.listed = false
		return len(c.sizes)
	}
	return 0
}

// fill writes the next n chunks behind those in o and returns n.
func (c *chunks) fill(o *tokenBatch, n int) int {
	from, to := o.n, o.n+n
	code := int32(len(o.ids) - 1)
	rows, codes, index := o.rows[from:to], o.codes[from:to], o.index[from:to]
	for j := range index {
		rows[j], codes[j], index[j] = c.row, code, int64(c.next+j)
	}
	gap, t := o.gap[from:to], o.t[from:to]
	if c.next == 0 {
		gap[0], t[0] = 0, c.t
		setBits(o.noGap, from, from+1)
		gap, t = gap[1:], t[1:]
	}
	done := n - len(gap) // 1 when the first chunk is among these
	if c.listed {
		at := c.t
		src := c.gaps[c.next+done-1:][:len(gap)]
		for j, g := range src {
			at += g
			gap[j], t[j] = g, at
		}
		c.t = at
	} else { // only the sizes are known
		clear(gap)
		clear(t)
		setBits(o.noGap, from+done, to)
		setBits(o.noT, from+done, to)
	}
	if !c.timed {
		setBits(o.noT, from, to)
	}
	if sizes := c.sizes[min(c.next, len(c.sizes)):]; c.sized {
		k := copy(o.tokens[from:to], sizes)
		setBits(o.noTokens, from+k, to)
	} else {
		setBits(o.noTokens, from, to)
	}
	c.next += n
	return n
}

// init allocates the buffers once.
func (o *tokenBatch) init() {
	if o.rows == nil {
		o.zeros, o.codes = make([]int32, tokenRows), make([]int32, tokenRows)
		o.noID, o.noT = make(trace.Bitmap, tokenRows/8), make(trace.Bitmap, tokenRows/8)
		o.noGap, o.noTokens = make(trace.Bitmap, tokenRows/8), make(trace.Bitmap, tokenRows/8)
		o.rows, o.index, o.t = make([]int64, tokenRows), make([]int64, tokenRows), make([]int64, tokenRows)
		o.gap, o.tokens = make([]int64, tokenRows), make([]int64, tokenRows)
	}
}

// flush hands on the rows so far.
func (o *tokenBatch) flush(b *trace.Batch, emit func(*trace.Batch) error) error {
	if o.n == 0 {
		return nil
	}
	for _, m := range []trace.Bitmap{o.noID, o.noT, o.noGap, o.noTokens} {
		for i := range m {
			m[i] = ^m[i]
		}
	}
	dst := trace.NewBatch(tokens, b.Run, b.File, o.n)
	if b.Run != nil && b.Run.Label != "" {
		dst.SetDicts(tokenRun, trace.Dicts{Codes: o.zeros[:o.n], Values: []string{b.Run.Label}})
	}
	dst.SetDicts(tokenRequestID, trace.Dicts{Codes: o.codes[:o.n], Values: o.ids, Valid: o.noID})
	dst.SetInts(tokenRequestRow, trace.Ints{Values: o.rows[:o.n]})
	dst.SetInts(tokenI, trace.Ints{Values: o.index[:o.n]})
	dst.SetInts(tokenT, trace.Ints{Values: o.t[:o.n], Valid: o.noT})
	dst.SetInts(tokenGap, trace.Ints{Values: o.gap[:o.n], Valid: o.noGap})
	dst.SetInts(tokenTokens, trace.Ints{Values: o.tokens[:o.n], Valid: o.noTokens})
	err := emit(dst)
	for _, m := range []trace.Bitmap{o.noID, o.noT, o.noGap, o.noTokens} {
		clear(m)
	}
	o.n, o.ids = 0, o.ids[:0]
	return err
}

// setBits sets bits [from, to).
func setBits(m trace.Bitmap, from, to int) {
	for ; from < to && from&7 != 0; from++ {
		m[from>>3] |= 1 << (from & 7)
	}
	for ; to-from >= 8; from += 8 {
		m[from>>3] = 0xff
	}
	for ; from < to; from++ {
		m[from>>3] |= 1 << (from & 7)
	}
}
