package join

import (
	"bytes"
	"slices"

	"servescope/analyzer/trace"
)

// A disaggregated deployment of vLLM serves a request twice: its router sends
// the request to a prefill node with max_tokens = 1, waits, and sends it to a
// decode node. Both nodes log it under one id as API servers do, so that only
// its lengths tell the two rows apart.

// halves reports whether two rows of servers are the same request on the
// prefill node and on the decode node.
func (x *rows) halves(a, b int32) bool {
	return x.onPrefill(a, b) || x.onPrefill(b, a)
}

// onPrefill reports whether row a comes from the prefill node and row b from
// the decode node: a asks for one token and b for more. Where the rows do not
// say what they ask for, the numbers of their tokens decide if the id says that
// there are two nodes.
func (x *rows) onPrefill(a, b int32) bool {
	v, i := x.at(a)
	w, j := x.at(b)
	if v.sideOf(i) != trace.Server || w.sideOf(j) != trace.Server {
		return false
	}
	most, asked := v.most.At(i)
	more, askedMore := w.most.At(j)
	if asked && askedMore {
		return most == 1 && more > 1
	}
	_, paired := v.groups.At(i)
	if id, ok := v.ids.At(i); ok {
		paired = paired || bytes.Contains(id, address)
	}
	n, known := v.output.At(i)
	m, knownMore := w.output.At(j)
	return paired && known && knownMore && n == 1 && m > 1
}

// paired reports whether some id says that two nodes serve its request.
func (x *rows) paired() bool {
	return slices.ContainsFunc(x.views, func(v view) bool { return bytes.Contains(v.ids.Data, address) })
}

// node returns the side of a row whose id says that it is one half of a
// request, though its server recorded it as a whole request. The prefill node
// is asked for one token.
func node(id []byte, most, output int64) (trace.Side, bool) {
	if !bytes.Contains(id, address) || !bytes.Contains(id, decodeAddress) {
		return 0, false
	}
	if most == 1 || most == 0 && output == 1 {
		return trace.Prefill, true
	}
	return trace.Decode, true
}
