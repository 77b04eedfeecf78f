package decompose

// Term is a sum of stages under the name that it has in the formula of TTFT.
type Term struct {
	Name   string
	Leaves Set
}

// Terms lists the terms of a time to first token. Each stage belongs to one term.
var Terms = [...]Term{
	{"t_network", Of(Network, Client)},
	{"t_queue", Of(Ingress, Queue, DecodeQueue)},
	{"t_input_processing", Of(Input)},
	{"t_prefill_compute", Of(Prefill)},
	{"t_first_decode_step", Of(KVTransfer, FirstDecode)},
	{"t_framework_overhead", Of(Proxy, Egress)},
}

// TermOf returns the name of the term that all stages of a set belong to, or "".
func TermOf(set Set) string {
	for _, t := range Terms {
		if set&^t.Leaves == 0 {
			return t.Name
		}
	}
	return ""
}

// Bounds returns what the sum of the given stages can be: an entry that holds
// others too is between none and all of theirs, and so is the residual where it
// may contain one.
func (p *Parts) Bounds(leaves Set) (low, high int64) {
	add := func(set Set, ns int64) {
		switch {
		case set&leaves == 0:
		case set&^leaves == 0:
			low, high = low+ns, high+ns
		default:
			low, high = low+min(ns, 0), high+max(ns, 0)
		}
	}
	for _, e := range p.Entries() {
		add(e.Leaves, e.NS)
	}
	if unknown := p.MayContain(); unknown&leaves != 0 {
		rest := p.Residual()
		low, high = low+min(rest, 0), high+max(rest, 0)
	}
	return low, high
}
