package app

import (
	"runtime/debug"
	"syscall"

	"servescope/formats"
)

// advised is how much of the heap is put in huge pages, in bytes: what an analysis
// of a large log touches, but for the columns of its requests. enough is the least
// input that it is worthwhile for.
const (
	advised = 128 << 20
	enough  = 32 << 20
)

// adviseHeap has the kernel back the heap with huge pages, where it gives them to
// those who ask: Go does not, and faults of small pages are a tenth of the time of
// an analysis. The advice outlives the slice that it is given for: the collector
// takes that back at once and hands its memory out from the front, so what is not
// needed of it is never touched.
func adviseHeap(inputs *formats.Inputs) {
	sum := int64(0)
	for _, in := range inputs.List {
		sum += max(in.Source.Size(), 0)
	}
	if sum < enough {
		return
	}
	percent := debug.SetGCPercent(-1) // one collection will do
	room := make([]byte, advised)
	_ = syscall.Madvise(room, syscall.MADV_HUGEPAGE) // else with small pages
	debug.SetGCPercent(percent)
}
