package decompose

import (
	"cmp"
	"slices"

	"servescope/analyzer/collective"
	"servescope/analyzer/report"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
)

// stopFactor is how many median steps a device must have idled within a step for
// that to be a stop.
const stopFactor = 10

// maxStops is how many stops of a rank are listed, the longest.
const maxStops = 10

// stops lists the selected steps that gave tokens behind a stop: time in which the
// device had nothing to do, although sequences were waiting for it, or the engine
// had no work before they came with their cache from elsewhere.
func (t *Timeline) stops(in []int32) []report.Stop {
	var lengths []int64
	for _, i := range in {
		if k := &t.Steps[i]; k.Decoding > 0 && k.Duration >= 0 {
			lengths = append(lengths, k.Duration)
		}
	}
	if len(lengths) == 0 {
		return nil
	}
	slices.Sort(lengths)
	median := lengths[(len(lengths)-1)/2]
	var list []report.Stop
	for _, i := range in {
		k := &t.Steps[i]
		if k.Decoding <= 0 || k.Duration < 0 || k.Parts == nil {
			continue
		}
		idle := k.Parts.Class[LaunchWait] + k.Parts.Class[Scheduling] + k.Parts.Class[HostExec] + k.Parts.Class[HostGap]
		if idle/stopFactor > median || idle/stopFactor == median && idle%stopFactor > 0 {
			list = append(list, report.Stop{Rank: t.Name, Step: k.Index, At: stampOf(k), Duration: k.Duration, Idle: idle, Sequences: k.Decoding})
		}
	}
	slices.SortStableFunc(list, func(a, b report.Stop) int { return cmp.Compare(b.Idle, a.Idle) })
	return list[:min(len(list), maxStops)]
}

func stampOf(k *Step) report.Value {
	if k.End == Nowhere {
		return report.Null("not_recorded")
	}
	return report.KnownInt(k.End, unit.Nanosecond)
}

// excess is the time per token that mixed steps took beyond decode steps of the
// same number of sequences on the same rank. It is an estimate, because kernels
// work on both kinds of tokens at once.
type excess struct {
	ns     float64 // Σ over tokens
	tokens int64   // tokens whose mixed step has decode steps to compare with
}

func (t *Timeline) excess(in []int32) (x excess) {
	type mean struct{ n, total int64 }
	plain := map[int64]mean{}
	for _, i := range in {
		if k := &t.Steps[i]; k.Kind == trace.StepDecode && k.Decoding > 0 && k.Duration >= 0 {
			m := plain[k.Decoding]
			plain[k.Decoding] = mean{m.n + 1, m.total + k.Duration}
		}
	}
	for _, i := range in {
		k := &t.Steps[i]
		if m := plain[k.Decoding]; k.Kind == trace.StepMixed && k.Duration >= 0 && m.n > 0 && t.waits[i].tokens > 0 {
			more := float64(k.Duration) - float64(m.total)/float64(m.n)
			x.ns += float64(float64(k.Decoding) * more)
			x.tokens += k.Decoding
		}
	}
	return x
}

// memosOf returns the memos about mixed steps: their part of the time of all
// tokens, and their excess per token.
func memosOf(ranks []rankWaits, total *sums) []report.Memo {
	var mixed int64
	var x excess
	for i := range ranks {
		mixed += ranks[i].mixed.total
		x.ns += ranks[i].excess.ns
		x.tokens += ranks[i].excess.tokens
	}
	var list []report.Memo
	if total.n > 0 && total.total > 0 && total.over == 0 {
		list = append(list, report.Memo{Name: "mixed_share", Mean: report.Known(float64(mixed)/float64(total.total), unit.Ratio), N: total.n})
	}
	if x.tokens > 0 {
		v := report.Known(x.ns/float64(x.tokens), unit.NSPerToken)
		v.Note = "estimate: mixed steps less decode steps of as many sequences"
		list = append(list, report.Memo{Name: "mixed_excess", Mean: v, N: x.tokens})
	}
	return list
}

// share divides the class communication of each interval. An interval whose parts
// do not add up to the class is left undivided.
func (t *Timeline) share(transfers []int64) {
	type piece struct {
		collective.Kernel
		transfer int64
	}
	inside := make([][]piece, len(t.Steps))
	for i, k := range t.Kernels {
		for j := 0; j+1 < len(k.Exposed); j += 2 {
			from := k.Start + k.Exposed[j]
			to := from + k.Exposed[j+1]
			at, _ := slices.BinarySearchFunc(t.Steps, from, func(s Step, v int64) int { return cmp.Compare(s.End, v+1) })
			for ; at < len(t.Steps) && from < to; at++ { // step at ends behind from
				step := &t.Steps[at]
				if end := min(to, step.End); step.Duration >= 0 && from < end && from >= step.End-step.Duration {
					own := k
					own.Exposed = []int64{from - k.Start, end - from}
					inside[at] = append(inside[at], piece{own, transfers[i]})
				}
				from = max(from, step.End)
			}
		}
	}
	for i, list := range inside {
		p := t.Steps[i].Parts
		if p == nil || !p.Has(Communication) {
			continue
		}
		kernels, cost := make([]collective.Kernel, len(list)), make([]int64, len(list))
		for j := range list {
			kernels[j], cost[j] = list[j].Kernel, list[j].transfer
		}
		x := collective.Exposed(kernels, cost)
		if x.Transfer+x.Wait+x.Unsplit != p.Class[Communication] {
			continue
		}
		p.Memo[Transfer], p.Memo[Waiting], p.Memo[Unsplit] = x.Transfer, x.Wait, x.Unsplit
		p.KnownMemo |= 1<<Transfer | 1<<Waiting | 1<<Unsplit
	}
}
