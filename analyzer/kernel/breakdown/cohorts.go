package breakdown

import (
	"cmp"
	"slices"

	"servescope/analyzer/decompose"
	"servescope/analyzer/kernel/cell"
)

// cohorts holds the requests of a place by the signature of their parts.
type cohorts struct {
	rows     int64 // with a total and without
	excluded cell.Tally
	censored int64 // of the excluded: ended or cut off before their first token
	events   int64 // totals that end at the first event, the only one recorded

	bySignature map[decompose.Signature]*cohort
	last        *cohort
	totals      *totals // nil until the state is settled
}

func (c *cohorts) of(s *decompose.Signature) *cohort {
	if c.last != nil && c.last.signature == *s {
		return c.last
	}
	c.last = c.bySignature[*s]
	if c.last == nil {
		if c.bySignature == nil {
			c.bySignature = make(map[decompose.Signature]*cohort)
		}
		c.last = &cohort{signature: *s}
		c.bySignature[*s] = c.last
	}
	return c.last
}

// add adds a request.
func (c *cohorts) add(p *decompose.Parts) {
	c.totals = nil
	o := c.of(&p.Signature)
	var tuple [decompose.Leaves + 1]int64
	rest := p.Total
	for i, e := range p.Entries() {
		tuple[i] = e.NS
		rest -= e.NS
		o.steps[i] = max(o.steps[i], e.Step)
	}
	tuple[o.width()-1] = rest
	o.values.Add(tuple[:o.width()])
	if p.Measured && p.Open == p.Residual() {
		o.measured++
	}
	for i, v := range p.Memo {
		if v != decompose.Unknown {
			o.memos[i].AddN(v, 1)
		}
	}
}

func (c *cohorts) Merge(o *cohorts) {
	c.totals = nil
	c.rows += o.rows
	c.excluded.Merge(o.excluded)
	c.censored += o.censored
	c.events += o.events
	for key, from := range o.bySignature {
		to := c.of(&key)
		to.values.Merge(&from.values)
		to.measured += from.measured
		for i := range to.steps {
			to.steps[i] = max(to.steps[i], from.steps[i])
		}
		for i := range to.memos {
			to.memos[i].Merge(&from.memos[i])
		}
		to.mergeIngress(from)
		to.ttftServer.Merge(&from.ttftServer)
	}
}

func (c *cohorts) Weight() int64 { return c.rows }

func (c *cohorts) Size() int64 {
	n := int64(64)
	for _, o := range c.bySignature {
		n += 512 + o.values.Size() + 256*int64(len(o.ingress))
	}
	return n
}

// inOrder returns the cohorts, the largest first.
func (c *cohorts) inOrder() []*cohort {
	list := make([]*cohort, 0, len(c.bySignature))
	for _, o := range c.bySignature {
		list = append(list, o)
	}
	slices.SortFunc(list, func(a, b *cohort) int {
		return cmp.Or(cmp.Compare(b.n(), a.n()), a.signature.Compare(&b.signature))
	})
	return list
}

func (c *cohorts) AppendTo(dst []byte) []byte {
	dst = c.excluded.AppendTo(cell.AppendInts(dst, c.rows, c.censored, c.events, int64(len(c.bySignature))))
	for _, o := range c.inOrder() {
		key := &o.signature
		dst = cell.AppendInts(dst, int64(key.N), int64(key.Absent), int64(key.Outside), int64(key.Coarse))
		for i := range key.N {
			dst = cell.AppendInts(dst, int64(key.Sets[i]), o.steps[i])
		}
		dst = o.values.AppendTo(cell.AppendInts(dst, o.measured))
		for i := range o.memos {
			dst = o.memos[i].AppendTo(dst)
		}
		dst = o.ttftServer.AppendTo(o.appendIngress(dst))
	}
	return dst
}

func (c *cohorts) Load(src *cell.Reader) {
	src.Ints(&c.rows, &c.censored, &c.events)
	if c.rows < 0 || c.censored < 0 || c.events < 0 {
		src.Fail()
	}
	n := src.Count()
	c.excluded.Load(src)
	for ; n > 0 && src.Err == nil; n-- {
		var key decompose.Signature
		var o cohort
		sets := src.Int()
		if sets < 0 || sets > int64(decompose.Leaves) {
			src.Fail()
			return
		}
		key.N = uint8(sets)
		key.Absent, key.Outside, key.Coarse = decompose.Set(src.Int()), decompose.Set(src.Int()), decompose.Set(src.Int())
		for i := range key.N {
			key.Sets[i], o.steps[i] = decompose.Set(src.Int()), src.Int()
		}
		o.measured = src.Int()
		o.signature = key
		src.Part(func(src []byte) ([]byte, error) { return o.values.Load(src, o.width()) })
		for i := range o.memos {
			src.Moments(&o.memos[i])
		}
		o.loadIngress(src)
		o.ttftServer.Load(src)
		to := c.of(&key)
		if to.n() > 0 || o.n() == 0 {
			src.Fail()
			return
		}
		*to = o
	}
}

// tells reports whether the total of any request is divided, as
// report.Decomposition.Tells does.
func (c *cohorts) tells() bool {
	for key := range c.bySignature {
		if key.N > 1 || key.N == 1 && key.MayContain() != 0 {
			return true
		}
	}
	return false
}

// joined reports whether any request of a decode node has the stages of its
// prefill node apart from the wait for them.
func (c *cohorts) joined() bool {
	for key := range c.bySignature {
		if state, _ := key.State(decompose.Queue); state == decompose.Value {
			return true
		}
	}
	return false
}
