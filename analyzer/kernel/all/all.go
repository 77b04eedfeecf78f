// Package all lists the kernels that fill a report. Deleting a kernel's line here and
// its folder removes the kernel.
package all

import (
	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/breakdown"
	"servescope/analyzer/kernel/cell"
	"servescope/analyzer/kernel/concurrency"
	"servescope/analyzer/kernel/counts"
	"servescope/analyzer/kernel/decodespan"
	"servescope/analyzer/kernel/goodput"
	"servescope/analyzer/kernel/latency"
	"servescope/analyzer/kernel/rates"
	"servescope/analyzer/kernel/tokens"
	"servescope/analyzer/metric"
)

// All returns the kernels that fill a report under a definition set.
func All(def *metric.Definition) []kernel.Kernel {
	return []kernel.Kernel{counts.New(def), latency.New(def, nil), tokens.New(def, nil), rates.New(def), concurrency.New(def), goodput.New(def), breakdown.New(def), decodespan.New()}
}

// Some returns kernels that give the counts of requests, the rates, and those
// distributions that have one of the names, without intervals and most notes. It is
// what a comparison of single figures needs, and costs a fraction of All where there
// are many runs. Goodput, which needs objectives, and decompositions are not among it.
func Some(def *metric.Definition, names map[string]bool) []kernel.Kernel {
	only := cell.Only(names)
	list := []kernel.Kernel{counts.New(def), latency.New(def, only)}
	if only.Any("chunk_gap", "token_latency", "tokens_per_chunk", "ttft_upper") {
		list = append(list, tokens.New(def, only))
	}
	list = append(list, rates.New(def))
	if only.Any("concurrency_mean", "concurrency_little") {
		list = append(list, concurrency.New(def))
	}
	return list
}
