package kernel

import "servescope/analyzer/metric"

// All returns the kernels that fill a report under a definition set.
func All(def *metric.Definition) []Kernel {
	return []Kernel{requests{def}, latency{def}, tokens{def, new(foundTokens)}, rates{def}, concurrency{def}, goodput{def}, decomposition{def}, decodeSpan{}}
}
