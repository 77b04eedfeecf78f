package kernel

import (
	"servescope/analyzer/metric"
)

// All returns the kernels that fill a report under a definition set.
func All(def *metric.Definition) []Kernel {
	return []Kernel{requests{def}, latency{def, nil}, tokens{def, new(foundTokens), nil}, rates{def}, concurrency{def}, goodput{def}, decomposition{def}, decodeSpan{}}
}

// Some returns kernels that give the counts of requests, the rates, and those
// distributions that have one of the names, without intervals and most notes. It is
// what a comparison of single figures needs, and costs a fraction of All where there
// are many runs. Goodput, which needs objectives, and decompositions are not among it.
func Some(def *metric.Definition, names map[string]bool) []Kernel {
	only := only{names}
	list := []Kernel{requests{def}, latency{def, &only}}
	if only.any("chunk_gap", "token_latency", "tokens_per_chunk", "ttft_upper") {
		list = append(list, tokens{def, new(foundTokens), &only})
	}
	list = append(list, rates{def})
	if only.any("concurrency_mean", "concurrency_little") {
		list = append(list, concurrency{def})
	}
	return list
}

// only is what a kernel is asked for; nil is everything.
type only struct{ names map[string]bool }

// has reports whether the metric of a name is asked for.
func (o *only) has(name string) bool { return o == nil || o.names[name] }

// any reports whether one of several is.
func (o *only) any(names ...string) bool {
	for _, name := range names {
		if o.has(name) {
			return true
		}
	}
	return false
}

// skipped returns by slot the measures whose values nobody asks for.
func (o *only) skipped() (skip [len(measures)]bool) {
	for slot := range measures {
		skip[slot] = !o.has(measures[slot].name)
	}
	skip[slotTTFT] = !o.any("ttft", "ttft_client", "ttft_server")
	return skip
}
