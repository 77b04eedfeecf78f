package kernel

import "servescope/analyzer/stat"

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
	excluded [poolDigests]tally        // that gave none
	values   int64                     // gaps that came here
	uneven   int64                     // of these, are not known to lead to one token each

	upper   []int64 // ttft_upper
	lower   int64   // sum of the TTFTs that upper bounds
	noUpper tally
}

func newPool(quantiles []float64, limit int) *pool {
	p := new(pool)
	for i := range p.digests {
		p.digests[i] = stat.NewDigest(quantiles, limit)
	}
	return p
}

// refiner returns an empty pool whose digests complete those of p; nil when
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

// refine completes the digests of p by those of r.
func (p *pool) refine(r *pool) {
	for i, d := range r.digests {
		if d != nil {
			p.digests[i].Refine(d)
		}
	}
}

func (p *pool) merge(o *pool) {
	for i, d := range o.digests {
		switch {
		case d == nil:
		case p.digests[i] == nil:
			p.digests[i] = d
		default:
			p.digests[i].Merge(d)
		}
		p.requests[i] += o.requests[i]
		p.excluded[i].merge(o.excluded[i])
	}
	p.values += o.values
	p.uneven += o.uneven
	p.upper = append(p.upper, o.upper...)
	p.lower += o.lower
	p.noUpper.merge(o.noUpper)
}

// raw returns the number of values that the digests hold as they are.
func (p *pool) raw() int {
	n := 0
	for _, d := range p.digests {
		if d != nil {
			n += d.Raw()
		}
	}
	return n
}

// pack makes the digests pack their values, into a store if there is one, that hold at
// least the given number of them as they are. It returns how many these were, and the
// bytes of memory that they take now.
func (p *pool) pack(least int, to stat.Store) (n int, held int64) {
	for _, d := range p.digests {
		if d != nil && d.Raw() >= least {
			n += d.Raw()
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

func (p *pool) weight() int64 { return p.values }

func (p *pool) size() int64 {
	n := 8 * int64(cap(p.upper))
	for _, d := range p.digests {
		if d != nil {
			n += d.Size()
		}
	}
	return n
}

func (p *pool) appendTo(dst []byte) []byte {
	for i, d := range p.digests {
		dst = p.excluded[i].appendTo(appendInts(dst, p.requests[i]))
		if d == nil {
			dst = append(dst, 0)
			continue
		}
		dst = d.AppendTo(append(dst, 1))
	}
	dst = appendValues(appendInts(dst, p.values, p.uneven, p.lower), p.upper)
	return p.noUpper.appendTo(dst)
}

func (p *pool) load(src *reader) {
	for i := range p.digests {
		p.requests[i] = src.int()
		p.excluded[i].load(src)
		if !src.flag() {
			p.digests[i] = nil
			continue
		}
		if p.digests[i] == nil {
			p.digests[i] = stat.NewDigest(nil, 1)
		}
		src.digest(p.digests[i])
	}
	src.ints(&p.values, &p.uneven, &p.lower)
	p.upper = src.sorted()
	p.noUpper.load(src)
}

// empty reports whether p is of no request and no gap.
func (p *pool) empty() bool {
	n := p.values
	for i, requests := range p.requests {
		n += requests + int64(len(p.excluded[i]))
	}
	return n == 0
}
