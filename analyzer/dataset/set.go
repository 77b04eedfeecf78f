package dataset

import (
	"maps"
	"servescope/analyzer/diag"
	"servescope/analyzer/join"
	"servescope/analyzer/kernel/request"
	"servescope/analyzer/trace"
	"slices"
	"sort"
)

// Set is what was read of the inputs of one analysis. Once it is arranged it is
// read-only, but for the models and links that are found when they are asked for.
type Set struct {
	Inputs []*Input // in the order in which they were given
	Diags  diag.Log // of the inputs and their detection
	Runs   []*Run
	Slots  Slots

	Requests    []*Batch          // rows of the requests table, in order of (input, offset)
	Steps       []*Batch          // rows of the steps table, in the same order
	Collectives []*Batch          // rows of the collectives table, lists included, in the same order; none if they do not fit
	Lists       bool              // the token lists of requests are resident too
	Store       *Store            // where the columns of requests and steps are
	Links       *join.Links       // nil where no rows are linked
	Multi       *multichoice      // nil where each row is a request
	Ends        *request.StepEnds // of the steps of runs with requests; nil: none
	tails       map[string]int    // of the paths of inputs; see shortName

	Joined  bool   // rows are linked by the ids of their requests
	Aligned bool   // offsets of clocks are applied to times between two of them
	Pause   func() // called between batches; may be nil
}

// Yield lets other goroutines run where there is one thread for all.
func (s *Set) Yield() {
	if s.Pause != nil {
		s.Pause()
	}
}

// Arrange makes runs of what was read. over says that communication kernels are
// not kept, for want of memory; ids are the idHashes of the rows.
func (s *Set) Arrange(over bool, ids [][]uint64) {
	for _, r := range s.Steps {
		if r.File.Metas[r.Run().Key] == nil { // in case the reader forgot to list it
			r.File.addMeta(r.Run())
		}
	}
	s.makeRuns()
	s.uniteRanks()
	if over && len(s.SeveralRanks()) > 0 {
		s.Diags.Add(linksDropped)
	}
	for _, r := range slices.Concat(s.Requests, s.Steps, s.Collectives) {
		r.see(r.File.Metas[r.Run().Key].View)
	}
	s.Ends = s.stepEnds()
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
	for _, r := range s.Requests {
		r.keep()
	}
}

// Find returns the index of the resident batch that holds row n.
func (s *Set) Find(n int32) int {
	return sort.Search(len(s.Requests), func(i int) bool { return s.Requests[i].Number > n }) - 1
}

// Counts reports whether a run's requests are counted with row i of r.
func (s *Set) Counts(r *Batch, i int) bool {
	n := r.Number + int32(i)
	if !s.Multi.First(n) {
		return false
	}
	return s.Links == nil || s.Links.Role(n) == join.Counts && s.Links.Side(n) == s.Links.Counting(r.Slot)
}

// Together reports whether the verdict on a row may be that on another one.
func (s *Set) Together() bool { return s.Links != nil || s.Multi != nil }

// Reported calls f with the figures that the producers of the runs claim, in the order
// of inputs. An error of f ends the walk and is returned.
func (s *Set) Reported(f func(*trace.Batch) error) error {
	for _, in := range s.Inputs {
		for _, key := range slices.Sorted(maps.Keys(in.Metas)) {
			if b := in.Metas[key].View.ReportedBatch(in.Source.Name()); b.Rows > 0 {
				if err := f(b); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
