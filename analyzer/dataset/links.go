package dataset

import (
	"math"

	"servescope/analyzer/diag"
	"servescope/analyzer/join"
)

// JoinedLabel is the label of the run that inputs without one are joined into.
const JoinedLabel = "joined"

// linkable reports whether any rows may be linked without a join of ids.
func linkable(s *Set) bool {
	for _, r := range OpenEach(s.Requests) {
		if join.Link([]join.Part{{Batch: r.Cols}}, join.Options{}) != nil {
			return true
		}
	}
	return false
}

// link finds the rows that belong to one request.
func link(s *Set) {
	if !s.Joined && !linkable(s) {
		return
	}
	keepRows(s)
	var parts []join.Part
	for _, r := range s.Requests {
		if r.Number > math.MaxInt32-int32(r.Rows()) {
			s.Diags.Add(diag.Diag{Code: "too_many_rows", Severity: diag.Notice, Offset: -1, Msg: "there are too many requests to link them across inputs", Fix: "analyze a part of the inputs"})
			return
		}
		parts = append(parts, join.Part{Batch: r.Columns, Run: r.Slot, Input: int32(r.File.Index), First: r.Number})
	}
	s.Links = join.Link(parts, join.Options{IDs: s.Joined})
	for _, r := range s.Runs {
		if s.Joined && s.Links != nil {
			sum := s.Links.Summarize(r.Slot)
			r.Join = &sum
		}
	}
}

// keepRows opens all rows for good.
func keepRows(s *Set) {
	for _, r := range s.Requests {
		r.keep()
	}
}
