package analyzer

import (
	"maps"
	"servescope/analyzer/diag"
	"servescope/analyzer/join"
	"servescope/analyzer/kernel"
	"servescope/analyzer/trace"
	"slices"
	"sort"
)

// Set is what was read of the inputs of one analysis. Once it is arranged it is
// read-only, but for the models and links that are found when they are asked for.
type Set struct {
	inputs []*Input // in the order in which they were given
	diags  diag.Log // of the inputs and their detection
	runs   []*run
	slots  Slots

	requests    []*Batch       // rows of the requests table, in order of (input, offset)
	steps       []*Batch       // rows of the steps table, in the same order
	collectives []*Batch       // rows of the collectives table, lists included, in the same order; none if they do not fit
	lists       bool           // the token lists of requests are resident too
	store       *Store         // where the columns of requests and steps are
	links       *join.Links    // nil where no rows are linked
	multi       *multichoice   // nil where each row is a request
	ends        *kernel.Ends   // of the steps of runs with requests; nil: none
	tails       map[string]int // of the paths of inputs; see shortName

	joined  bool   // rows are linked by the ids of their requests
	aligned bool   // offsets of clocks are applied to times between two of them
	pause   func() // called between batches; may be nil
}

// yield lets other goroutines run where there is one thread for all.
func (s *Set) yield() {
	if s.pause != nil {
		s.pause()
	}
}

// arrange makes runs of what was read. over says that communication kernels are
// not kept, for want of memory; ids are the idHashes of the rows.
func (s *Set) arrange(over bool, ids [][]uint64) {
	for _, r := range s.steps {
		if r.file.metas[r.run().Key] == nil { // in case the reader forgot to list it
			r.file.addMeta(r.run())
		}
	}
	s.makeRuns()
	s.uniteRanks()
	if over && len(s.severalRanks()) > 0 {
		s.diags.Add(linksDropped)
	}
	for _, r := range slices.Concat(s.requests, s.steps, s.collectives) {
		r.see(r.file.metas[r.run().Key].view)
	}
	s.ends = s.stepEnds()
	s.nameRuns()
	s.checkClocks()
	if repeated(ids) {
		s.checkDuplicates()
	}
	s.link()
	s.findWholes()
	s.checkSources()
}

// keepRows opens all rows for good.
func (s *Set) keepRows() {
	for _, r := range s.requests {
		r.keep()
	}
}

// find returns the index of the resident batch that holds row n.
func (s *Set) find(n int32) int {
	return sort.Search(len(s.requests), func(i int) bool { return s.requests[i].number > n }) - 1
}

// counts reports whether a run's requests are counted with row i of r.
func (s *Set) counts(r *Batch, i int) bool {
	n := r.number + int32(i)
	if !s.multi.first(n) {
		return false
	}
	return s.links == nil || s.links.Role(n) == join.Counts && s.links.Side(n) == s.links.Counting(r.slot)
}

// together reports whether the verdict on a row may be that on another one.
func (s *Set) together() bool { return s.links != nil || s.multi != nil }

// Reported calls f with the figures that the producers of the runs claim, in the order
// of inputs. An error of f ends the walk and is returned.
func (s *Set) Reported(f func(*trace.Batch) error) error {
	for _, in := range s.inputs {
		for _, key := range slices.Sorted(maps.Keys(in.metas)) {
			if b := in.metas[key].view.ReportedBatch(in.source.Name()); b.Rows > 0 {
				if err := f(b); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
