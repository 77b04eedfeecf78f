package tokens

import (
	"servescope/analyzer/kernel/cell"
	"servescope/analyzer/kernel/request"
	"servescope/analyzer/metric"
	"servescope/analyzer/stat"
	"servescope/analyzer/trace"
)

// Digests of a pool.
const (
	gapDigest     = iota // chunk_gap
	latencyDigest        // token_latency, in 1/fraction ns
	sizeDigest           // tokens_per_chunk
	poolDigests
)

// pool holds the pooled values of a cell.
type pool struct {
	digests  [poolDigests]*stat.Digest // nil in a refining pool: nothing is missing
	requests [poolDigests]int64        // that gave values
	excluded [poolDigests]cell.Tally   // that gave none
	values   int64                     // gaps that came here
	uneven   int64                     // of these, are not known to lead to one token each

	upper   []int64 // ttft_upper
	lower   int64   // sum of the TTFTs that upper bounds
	noUpper cell.Tally
}

func newPool(quantiles []float64, limit int) *pool {
	p := new(pool)
	for i := range p.digests {
		p.digests[i] = stat.NewDigest(quantiles, limit)
	}
	return p
}

// refiner returns an empty pool that completes the digests of p; nil when
// nothing is missing.
func (p *pool) refiner(m stat.Method) *pool {
	var r *pool
	for i, d := range p.digests {
		if d.Missing(m) {
			if r == nil {
				r = new(pool)
			}
			r.digests[i] = d.Refiner(m)
		}
	}
	return r
}

// refine completes the digests of p by the digests of r.
func (p *pool) refine(r *pool) {
	for i, d := range r.digests {
		if d != nil {
			p.digests[i].Refine(d)
		}
	}
}

func (p *pool) Merge(o *pool) {
	for i, d := range o.digests {
		switch {
		case d == nil:
		case p.digests[i] == nil:
			p.digests[i] = d
		default:
			p.digests[i].Merge(d)
		}
		p.requests[i] += o.requests[i]
		p.excluded[i].Merge(o.excluded[i])
	}
	p.values += o.values
	p.uneven += o.uneven
	p.upper = append(p.upper, o.upper...)
	p.lower += o.lower
	p.noUpper.Merge(o.noUpper)
}

// raw returns the number of values that the digests hold as they are.
func (p *pool) raw() int {
	n := 0
	for _, d := range p.digests {
		if d != nil {
			n += d.RawCount()
		}
	}
	return n
}

// pack makes the digests pack their values, into a store if there is one, that hold at
// least the given number of them as they are. It returns how many these were, and the
// bytes of memory that they take now.
func (p *pool) pack(least int, to stat.Store) (n int, held int64) {
	for _, d := range p.digests {
		if d != nil && d.RawCount() >= least {
			n += d.RawCount()
			held += d.Pack(to)
		}
	}
	return n, held
}

// condense makes the digests count in buckets that have at least the given number
// of values.
func (p *pool) condense(least int64, m stat.Method) {
	for _, d := range p.digests {
		if d != nil && d.Moments().N >= least {
			d.Condense(m)
		}
	}
}

func (p *pool) Weight() int64 { return p.values }

func (p *pool) Size() int64 {
	n := 8 * int64(cap(p.upper))
	for _, d := range p.digests {
		if d != nil {
			n += d.Size()
		}
	}
	return n
}

func (p *pool) AppendTo(dst []byte) []byte {
	for i, d := range p.digests {
		dst = p.excluded[i].AppendTo(cell.AppendInts(dst, p.requests[i]))
		if d == nil {
			dst = append(dst, 0)
			continue
		}
		dst = d.AppendTo(append(dst, 1))
	}
	dst = cell.AppendValues(cell.AppendInts(dst, p.values, p.uneven, p.lower), p.upper)
	return p.noUpper.AppendTo(dst)
}

func (p *pool) Load(src *cell.Reader) {
	for i := range p.digests {
		p.requests[i] = src.Int()
		p.excluded[i].Load(src)
		if !src.Flag() {
			p.digests[i] = nil
			continue
		}
		if p.digests[i] == nil {
			p.digests[i] = stat.NewDigest(nil, 1)
		}
		src.Digest(p.digests[i])
	}
	src.Ints(&p.values, &p.uneven, &p.lower)
	p.upper = src.Sorted()
	p.noUpper.Load(src)
}

// empty reports whether p has no request and no gap.
func (p *pool) empty() bool {
	n := p.values
	for i, requests := range p.requests {
		n += requests + int64(len(p.excluded[i]))
	}
	return n == 0
}

// admit counts a request and the bound of its TTFT in the cell of its arrival.
func (p *pool) admit(w *request.Row, c request.Chunks, sized bool, why, unlisted metric.Reason) {
	reason := [poolDigests]metric.Reason{unlisted, why, why}
	upper := why
	if why == metric.None {
		if len(c.Tokens) == 0 && !(sized && c.Single(w)) {
			reason[latencyDigest], reason[sizeDigest] = metric.NotRecorded, metric.NotRecorded
		} else if len(c.Gaps) == 0 {
			reason[latencyDigest], reason[sizeDigest] = metric.NLessThan2, metric.NLessThan2
		}
		switch {
		case w.Side >= trace.Engine: // of what a user sees
			upper = metric.NotRecorded
		case w.Sibling, !w.EventOnly():
			upper = metric.NotEvent
		case len(c.Gaps) == 0:
			upper = metric.NLessThan2
		default:
			var lower, high int64
			if lower, upper = request.Between(w.Start, c.Base); upper == metric.None {
				if high, upper = request.Between(w.Start, c.Base+c.Gaps[0]); upper == metric.None {
					p.upper = append(p.upper, high)
					p.lower += lower
				}
			}
		}
	}
	for k, r := range reason {
		if r == metric.None {
			p.requests[k]++
		} else {
			p.excluded[k].Add(r, 1)
		}
	}
	if upper != metric.None && !w.Sibling {
		p.noUpper.Add(upper, 1)
	}
}
