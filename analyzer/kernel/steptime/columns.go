package steptime

import (
	"servescope/analyzer/decompose"
	"servescope/analyzer/kernel/cell"
	"servescope/analyzer/trace"
)

// stepTimeColumns are the columns of a batch of steps.
type stepTimeColumns struct {
	*cell.StepColumns
	index, context, accepted trace.Ints
	classes                  [decompose.StepClasses]trace.Ints
	memos                    [len(decompose.MemoColumns)]trace.Ints
	parts                    bool // there are classes
}

func stepTimeColumnsOf(b *trace.Batch) *stepTimeColumns {
	c := &stepTimeColumns{StepColumns: cell.StepColumnsOf(b), index: b.Ints(trace.StepIndex), context: b.Ints(trace.StepContext), accepted: b.Ints(trace.StepAccepted)}
	for i, col := range decompose.ClassColumns {
		c.classes[i] = b.Ints(col)
		c.parts = c.parts || b.Has(col)
	}
	for i, col := range decompose.MemoColumns {
		c.memos[i] = b.Ints(col)
	}
	return c
}

// step returns row i.
func (c *stepTimeColumns) step(i int) decompose.Step {
	k := decompose.Step{End: decompose.Nowhere, Index: optional(c.index.At(i)), Duration: optional(c.Duration.At(i)), Kind: decompose.NoKind,
		Decoding: optional(c.Running.At(i)), Context: optional(c.context.At(i)), Emitted: -1}
	if t, ok := c.T.At(i); ok {
		k.End = t
	}
	if code, ok := c.Kind.At(i); ok {
		k.Kind = trace.StepKind(code)
	}
	switch n, ok := c.accepted.At(i); {
	case k.Kind == trace.StepPrefill || k.Kind == trace.StepDummy:
		k.Decoding, k.Emitted = 0, 0
	case ok && k.Decoding >= 0:
		k.Emitted = k.Decoding + n
	case k.Kind != trace.StepVerify:
		k.Emitted = k.Decoding
	}
	if !c.parts || k.Duration < 0 {
		return k
	}
	p := new(decompose.StepParts)
	for l := range c.classes {
		if v, ok := c.classes[l].At(i); ok {
			p.Class[l] = v
			p.KnownClass |= 1 << l
		}
	}
	for m := range c.memos {
		if v, ok := c.memos[m].At(i); ok {
			p.Memo[m] = v
			p.KnownMemo |= 1 << m
		}
	}
	if p.KnownClass != 0 {
		k.Parts = p
	}
	return k
}
