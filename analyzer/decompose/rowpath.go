package decompose

import "servescope/analyzer/trace"

// path is the way of a request to its first token as one side sees it.
type path struct {
	stamps  []int // boundaries in order; the first and the last make the total
	between []Set // stages from each boundary to the next
	absent  Set   // stages that do not exist
	blurred Set   // stages of which the side does not know where they end: pairs of boundaries with them are residual
}

// inside returns the stages that the total consists of.
func (w *path) inside() (all Set) {
	for _, set := range w.between {
		all |= set
	}
	return all
}

// apart are the stages that only a disaggregated deployment has.
var apart = Of(KVTransfer, DecodeQueue, FirstDecode)

var (
	unifiedPath = &path{
		stamps:  []int{atStart, atDispatch, atQueued, atAdmitted, atPrefillEnd, atFirst},
		between: []Set{Of(Input), Of(Ingress), Of(Queue), Of(Prefill), Of(Egress)},
		absent:  apart,
	}
	// frontPath is the path of a server whose engine is disaggregated.
	frontPath = &path{
		stamps:  unifiedPath.stamps,
		between: []Set{Of(Input), Of(Ingress), Of(Queue), Of(Prefill), apart | Of(Egress)},
	}
	enginePath = &path{
		stamps:  []int{atQueued, atAdmitted, atFirst},
		between: []Set{Of(Queue), Of(Prefill)},
		absent:  apart,
	}
	prefillPath = &path{
		stamps:  []int{atQueued, atAdmitted, atPrefillEnd, atFirst},
		between: []Set{Of(Queue), Of(Prefill), Of(KVTransfer, Egress)},
		absent:  Of(DecodeQueue, FirstDecode),
	}
	decodePath = &path{
		stamps:  []int{atQueued, atAdmitted, atFirst},
		between: []Set{Of(Queue, Prefill, KVTransfer, DecodeQueue), Of(FirstDecode, Egress)},
	}
	// carriedPath is the path of a decode node that gets the first token.
	carriedPath = &path{
		stamps:  decodePath.stamps,
		between: []Set{decodePath.between[0], Of(Egress)},
		absent:  Of(FirstDecode),
	}
	clientPath = &path{
		stamps:  unifiedPath.stamps,
		between: []Set{Of(Network, Client, Proxy, Input), Of(Ingress), Of(Queue), Of(Prefill), apart | Of(Egress, Proxy, Network, Client)},
		blurred: Of(Network),
	}
	proxyPath = &path{
		stamps:  []int{atStart, atQueued, atAdmitted, atPrefillEnd, atFirst},
		between: []Set{Of(Proxy, Input, Ingress), Of(Queue), Of(Prefill), apart | Of(Egress, Proxy)},
		blurred: Of(Proxy),
	}
)

// path returns the way of the row's side.
func (r *Row) path() *path {
	switch r.Side {
	case trace.Client:
		return clientPath
	case trace.Proxy:
		return proxyPath
	case trace.Engine:
		return enginePath
	case trace.Prefill:
		return prefillPath
	case trace.Decode:
		if r.Carried {
			return carriedPath
		}
		return decodePath
	}
	if r.states(apart) {
		return frontPath
	}
	return unifiedPath
}

// states reports whether the row has a duration of its own of one of the stages.
func (r *Row) states(set Set) bool {
	for l, ns := range r.Own {
		if ns != Unknown && set.Has(Leaf(l)) {
			return true
		}
	}
	return (r.Merged[0].Leaves|r.Merged[1].Leaves)&set != 0
}
