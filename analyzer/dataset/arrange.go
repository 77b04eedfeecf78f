package dataset

import (
	"slices"
)

// Arrange makes runs of what was read. over says that communication kernels are
// not kept, for want of memory; ids are the IDHashes of the rows.
func Arrange(s *Set, over bool, ids [][]uint64) {
	// runs: all records of all inputs, and which batch belongs to which run
	checkDuplicateLines(s)
	for _, r := range s.Steps {
		if r.File.Records[r.Run().Key] == nil { // in case the reader forgot to list it
			r.File.addRecord(r.Run())
		}
	}
	makeRuns(s)
	uniteRanks(s)
	if over && len(s.SeveralRanks()) > 0 {
		s.Diags.Add(linksDropped)
	}
	for _, r := range slices.Concat(s.Requests, s.Steps, s.Collectives) {
		r.see(r.File.Records[r.Run().Key].Seen)
	}

	// facts about whole runs
	s.Ends = stepEnds(s)
	nameRuns(s)
	checkClocks(s)
	if repeated(ids) {
		checkDuplicates(s)
	}

	// rows that belong to one request
	link(s)
	findMultichoice(s)
	checkConflicts(s)
}
