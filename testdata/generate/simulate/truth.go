package simulate

import (
	"cmp"
	"math"
	"slices"
)

// Parts is how time of decoding divides, in ns. All times are those of the
// engine's steps k with their length y_k, end to end, and their true decode cost
// ŷ_k: what the step would have taken without noise, a stall of the host and the
// tokens of prompts. A step is clean if no prompt token was computed in it, and
// f_lo is ŷ for the 5th percentiles (nearest rank) of B and C over the clean
// steps of the replica, with the mean of their drift.
//
// The span D of a request is the time from its first to its last chunk as its
// row has them. Its own steps are those that gave it a token behind the first
// chunk.
type Parts struct {
	// Floor is min(f_lo, ŷ) and Load what ŷ is above it, over own steps.
	Floor, Load int64

	// Interference is what the tokens of other requests' prompts (or of
	// preempted sequences that are computed anew) added to own steps, with the
	// step's noise; and the whole length of steps without a token for the request
	// in which such tokens were computed.
	Interference int64

	// Stall is the whole length of other steps without a token for the request:
	// it was preempted, or did not get its share of the budget. It includes what
	// computing the request itself anew took beyond the token of that step.
	Stall int64

	// Rest is the remainder of D: noise of the decode cost and stalls of the host
	// in own steps, and the delivery and rounding of the two chunks.
	Rest int64
}

// D returns the sum of the parts.
func (p Parts) D() int64 { return p.Floor + p.Load + p.Interference + p.Stall + p.Rest }

// Add adds the parts of q to p.
func (p *Parts) Add(q Parts) {
	p.Floor += q.Floor
	p.Load += q.Load
	p.Interference += q.Interference
	p.Stall += q.Stall
	p.Rest += q.Rest
}

// Assumption is a set of assumptions of an estimate from timestamps.
type Assumption uint8

// The assumptions.
const (
	// A1: at most 5 % of the requests and of their tokens are missing, and there
	// is evidence of it. (Evidence alone does not make it hold.)
	A1 Assumption = 1 << iota
	// A2: there is one replica, or rows name theirs.
	A2
	// A3: of the chunks, 99 % are stamped nearer to their step than to its
	// neighbours that gave tokens, the median delay taken off; and of the
	// neighbouring chunks of a request, 95 % are of neighbouring steps, those
	// left out that gave first tokens alone.
	A3
	// A4: one clock made all stamps.
	A4
	// A5: the mean drift of the clean steps differs by less than 10 % between
	// their first and second half, on every replica.
	A5
)

// Truth is what a log does not say.
type Truth struct {
	// Spans has an entry for each row of Log.Requests. It is zero where the
	// row has fewer than two chunks.
	Spans    []Parts
	Total    Parts     // of all spans
	Replicas []Replica // by number, which is their name where rows have it

	// Fails holds the assumptions that do not hold in this run, by these facts.
	Fails         Assumption
	Missing       float64 // share of requests, or of output tokens if that is more
	Near          float64 // share of chunks stamped near their step
	Neighbouring  float64 // share of neighbouring chunks from neighbouring steps
	Drift         float64 // largest relative difference of the halves
	Preemptions   int
	StalledByHost float64 // share of clean steps' time, weighted by B, that hosts stalled
}

// Holds reports whether all assumptions hold.
func (t *Truth) Holds() bool { return t.Fails == 0 }

// Replica is the truth about one replica.
type Replica struct {
	Steps, Clean int   // steps that gave decode tokens; those without prompt tokens
	FLo          int64 // ns
	B5, B95      int   // percentiles over clean steps
	C5, C95      int64
	Total        Parts // of the spans of its rows
}

// replica returns what the steps alone tell.
func (e *engine) replica() (r Replica, drift float64) {
	var clean []step
	for _, k := range e.steps {
		if k.b > 0 {
			r.Steps++
			if k.contexts == 0 {
				clean = append(clean, k)
			}
		}
	}
	if r.Clean = len(clean); r.Clean == 0 {
		return r, 0
	}
	half := len(clean) / 2
	early, late := meanFactor(clean[:half]), meanFactor(clean[half:])
	if half > 0 {
		drift = math.Abs(late-early) / early
	}
	factor := meanFactor(clean)
	slices.SortFunc(clean, func(a, b step) int { return cmp.Compare(a.b, b.b) })
	r.B5, r.B95 = clean[rank(5, len(clean))].b, clean[rank(95, len(clean))].b
	slices.SortFunc(clean, func(a, b step) int { return cmp.Compare(a.c, b.c) })
	r.C5, r.C95 = clean[rank(5, len(clean))].c, clean[rank(95, len(clean))].c
	r.FLo = int64(factor * e.cost.of(forward{tokens: r.B5, context: r.C5}, e.o.Blocks*BlockTokens))
	return r, drift
}

// rank returns the index of the nearest rank of a percentile among n values.
func rank(percent, n int) int { return max(1, (percent*n+99)/100) - 1 }

func meanFactor(steps []step) float64 {
	sum := 0.0
	for i := range steps {
		sum += steps[i].factor
	}
	return sum / float64(len(steps))
}

// span is what the parts of D depend on.
type span struct {
	d        int64
	from, to int32   // step of the first chunk's last token, and of the last token
	own      []int32 // steps of the tokens after from
	redone   []int32 // steps in which the request was computed anew
}

// split takes a span apart.
func split(steps []step, s span, lo int64) (p Parts) {
	own, redone := s.own, s.redone
	for len(redone) > 0 && redone[0] <= s.from {
		redone = redone[1:]
	}
	p.Rest = s.d
	for k := s.from + 1; k <= s.to; k++ {
		x := &steps[k]
		y := x.end - steps[k-1].end
		p.Rest -= y
		anew := len(redone) > 0 && redone[0] == k
		if anew {
			redone = redone[1:]
		}
		if len(own) > 0 && own[0] == k {
			own = own[1:]
			p.Floor += min(lo, x.decode)
			p.Load += max(0, x.decode-lo)
			if anew {
				p.Stall += x.prefill
			} else {
				p.Interference += x.prefill
			}
			p.Rest += y - x.decode - x.prefill
			continue
		}
		others := x.contexts
		if anew {
			others--
		}
		if others > 0 {
			p.Interference += y
		} else {
			p.Stall += y
		}
	}
	return p
}
