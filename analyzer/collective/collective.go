// Package collective splits the time of communication kernels into transfer
// and waiting for the slowest rank.
//
// A collective ends on all ranks at nearly the same instant (on one host within
// 4 µs) but begins on each when that rank gets there; until the last one has,
// the kernels of the others spin. So collective i has, on each rank, the
// transfer time min over ranks of its durations, and before it the wait that
// is left. No clock of one rank is compared with another's: durations alone
// count. While kernels of some ranks of the group are missing, the transfer is
// an upper and the wait a lower bound.
//
// Send and receive kernels pair two ranks and are not split.
package collective

import (
	"cmp"
	"fmt"
	"slices"

	"servescope/analyzer/trace"
)

// Place is the rank that a kernel ran on, as in trace.Collectives; -1 where the
// source does not say.
type Place struct{ DP, TP, PP, EP, Rank int64 }

// Kernel is one communication kernel. Times are in ns; Start is on the clock of
// its rank.
type Kernel struct {
	Index    int64 // number on its device, in order of start
	Step     int64 // step in whose interval it ended, -1 for none
	Name     string
	Paired   bool
	Start    int64
	Duration int64
	Exposed  []int64 // pairs (start after Start, length): the device did nothing but communicate
}

// Collect adds the rows of a batch of trace.Collectives to the kernels of their
// places. Sort them with Order when all are there.
func Collect(into map[Place][]Kernel, b *trace.Batch) {
	dp, tp, pp, ep := b.Ints(trace.CollectiveDP), b.Ints(trace.CollectiveTP), b.Ints(trace.CollectivePP), b.Ints(trace.CollectiveEP)
	rank, step, index := b.Ints(trace.CollectiveRank), b.Ints(trace.CollectiveStep), b.Ints(trace.CollectiveIndex)
	start, duration := b.Ints(trace.CollectiveT), b.Ints(trace.CollectiveDuration)
	names, paired, exposed := b.Dicts(trace.CollectiveName), b.Bools(trace.CollectivePaired), b.Lists(trace.CollectiveExposed)
	for i := range b.Rows {
		k := Kernel{Index: or(index.At(i)), Step: or(step.At(i)), Start: or(start.At(i)), Duration: or(duration.At(i))}
		if code, ok := names.At(i); ok {
			k.Name = names.Values[code]
		}
		k.Paired, _ = paired.At(i)
		if list, ok := exposed.At(i); ok {
			k.Exposed = slices.Clone(list)
		}
		p := Place{or(dp.At(i)), or(tp.At(i)), or(pp.At(i)), or(ep.At(i)), or(rank.At(i))}
		into[p] = append(into[p], k)
	}
}

// or returns a value, or -1 for null.
func or(v int64, ok bool) int64 {
	if !ok {
		return -1
	}
	return v
}

// Order sorts kernels by their index.
func Order(kernels []Kernel) {
	slices.SortFunc(kernels, func(a, b Kernel) int { return cmp.Compare(a.Index, b.Index) })
}

// Transfers returns the transfer time of each collective, -1 for pairs. ranks
// holds the kernels of each rank of a group, or of some of its ranks, in order.
// The error says where the ranks have not run the same collectives.
func Transfers(ranks ...[]Kernel) ([]int64, error) {
	if len(ranks) < 2 {
		return nil, fmt.Errorf("transfer cannot be told from waiting on %d rank", len(ranks))
	}
	out := make([]int64, len(ranks[0]))
	for r, kernels := range ranks {
		if len(kernels) != len(out) {
			return nil, fmt.Errorf("rank %d has %d communication kernels, but rank 0 has %d: they were recorded over different steps", r, len(kernels), len(out))
		}
		for i, k := range kernels {
			switch {
			case k.Name != ranks[0][i].Name:
				return nil, fmt.Errorf("communication kernel %d is %s on rank %d, but %s on rank 0", i, k.Name, r, ranks[0][i].Name)
			case k.Paired:
				out[i] = -1
			case r == 0 || k.Duration < out[i]:
				out[i] = k.Duration
			}
		}
	}
	return out, nil
}

// Share is the time of communication by what it was spent on, in ns.
type Share struct{ Transfer, Wait, Unsplit int64 }

// Durations returns the sums of the kernels' durations, overlapped or not.
func Durations(kernels []Kernel, transfers []int64) (s Share) {
	for i, k := range kernels {
		if transfers[i] < 0 {
			s.Unsplit += k.Duration
			continue
		}
		s.Transfer += transfers[i]
		s.Wait += k.Duration - transfers[i]
	}
	return s
}

// edge is an instant at which exposed time of one kind begins or ends.
type edge struct {
	at     int64
	kind   int // index of the counts in Exposed
	change int
}

// Exposed returns the exposed time of the kernels: what the class
// "communication" of their steps consists of. Kernels may overlap; an instant
// counts once, as transfer if any of them transfers, else as unsplit if any is
// a pair, else as waiting. The kernels need their Exposed lists.
func Exposed(kernels []Kernel, transfers []int64) (s Share) {
	var edges []edge
	add := func(kind int, from, to int64) {
		if from < to {
			edges = append(edges, edge{from, kind, 1}, edge{to, kind, -1})
		}
	}
	const transfer, unsplit, wait = 0, 1, 2
	for i, k := range kernels {
		turn := k.Start + k.Duration - transfers[i] // where waiting ends
		for j := 0; j+1 < len(k.Exposed); j += 2 {
			from := k.Start + k.Exposed[j]
			to := from + k.Exposed[j+1]
			if transfers[i] < 0 {
				add(unsplit, from, to)
				continue
			}
			add(wait, from, min(to, turn))
			add(transfer, max(from, turn), to)
		}
	}
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Compare(a.at, b.at) })
	var running [3]int
	for i, e := range edges {
		if i > 0 {
			length := e.at - edges[i-1].at
			switch {
			case running[transfer] > 0:
				s.Transfer += length
			case running[unsplit] > 0:
				s.Unsplit += length
			case running[wait] > 0:
				s.Wait += length
			}
		}
		running[e.kind] += e.change
	}
	return s
}
