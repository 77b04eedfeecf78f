package otlp

import (
	"math/bits"

	"servescope/analyzer/trace"
)

// leaves is a set of the parts of TTFT: bit i is trace.Leaves[i].
type leaves uint16

const (
	input leaves = 1 << (1 + iota)
	ingress
	queue
	prefill
	kvTransfer
	decodeQueue
	firstDecode
	egress
)

// leafSets holds the names of all sets.
var leafSets [1 << 9][]byte

func init() {
	for set := range leafSets {
		var names []string
		for i, name := range trace.Leaves {
			if set>>i&1 != 0 {
				names = append(names, name)
			}
		}
		leafSets[set] = []byte(trace.Merged(names...))
	}
}

// setEntry sets the time that a set of leaves took: in the column of a leaf that
// is alone, else as the row's first merged entry.
func setEntry(b *trace.Builder, set leaves, ns int64) {
	if set&(set-1) == 0 {
		b.Int(trace.DProxy+trace.Col(bits.TrailingZeros16(uint16(set))), ns)
		return
	}
	b.Dict(trace.MergedLeaves, leafSets[set])
	b.Int(trace.DMerged, ns)
}

// setOther sets the row's second merged entry.
func setOther(b *trace.Builder, set leaves, ns int64) {
	b.Dict(trace.MergedLeaves2, leafSets[set])
	b.Int(trace.DMerged2, ns)
}

// tile sets an entry for every two neighbours among the known boundaries; those
// that are unknown are 0. between[i] is the leaf from boundary i to the next.
// Known boundaries with unknown ones between them make at most two merged
// entries.
func tile(b *trace.Builder, boundaries []int64, between []leaves) {
	last, set, merged := -1, leaves(0), 0
	for i, at := range boundaries {
		if i > 0 {
			set |= between[i-1]
		}
		if at == 0 {
			continue
		}
		if last >= 0 {
			if set&(set-1) != 0 {
				merged++
			}
			if merged == 2 && set&(set-1) != 0 {
				setOther(b, set, at-boundaries[last])
			} else {
				setEntry(b, set, at-boundaries[last])
			}
		}
		last, set = i, 0
	}
}
