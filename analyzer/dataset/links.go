package dataset

import (
	"math"

	"servescope/analyzer/diag"
	"servescope/analyzer/join"
	"servescope/analyzer/trace"
)

// JoinedLabel is the label of the run that inputs without one are joined into.
const JoinedLabel = "joined"

// linkable reports whether any rows may be linked without a join of ids.
func (s *Set) linkable() bool {
	for _, r := range OpenEach(s.Requests) {
		if join.Link([]join.Part{{Batch: r.Cols}}, join.Options{}) != nil {
			return true
		}
	}
	return false
}

// link finds the rows that are of one request.
func (s *Set) link() {
	if !s.Joined && !s.linkable() {
		return
	}
	s.keepRows()
	var parts []join.Part
	for _, r := range s.Requests {
		if r.Number > math.MaxInt32-int32(r.Rows()) {
			s.Diags.Add(diag.Diag{Code: "too_many_rows", Severity: diag.Notice, Offset: -1, Msg: "there are too many requests to link their rows", Fix: "analyze a part of the inputs"})
			return
		}
		parts = append(parts, join.Part{Batch: r.Held, Run: r.Slot, Input: int32(r.File.Index), First: r.Number})
	}
	s.Links = join.Link(parts, join.Options{IDs: s.Joined})
}

// Linked returns b, which holds the rows from number base on, with the
// join_group of linked rows, with the sides that their requests tell and with
// beam_search where a row of another side tells it.
func (s *Set) Linked(b *trace.Batch, base int32) *trace.Batch {
	if s.Links == nil {
		return b
	}
	out := trace.NewBuilder(trace.Requests)
	beams, told := b.Bools(trace.BeamSearch), false
	for i := range b.Rows {
		beam, ok := beams.At(i)
		if !beam && s.Links.BeamSearch(base+int32(i)) {
			beam, ok, told = true, true, true
		}
		if ok {
			out.Bool(trace.BeamSearch, beam)
		}
		if name, ok := s.Links.Name(base + int32(i)); ok {
			out.Text(trace.JoinGroup, name)
		}
		out.Code(trace.SideCol, int32(s.Links.Side(base+int32(i))))
		out.EndRow()
	}
	names := out.Take(b.Run, b.File)
	b = b.With(trace.JoinGroup, names).With(trace.SideCol, names)
	if told {
		b = b.With(trace.BeamSearch, names)
	}
	return b
}

// Summary returns what came of linking the rows of a run.
func (s *Set) Summary(r *Run) *join.Summary {
	if r.summary == nil {
		sum := s.Links.Summarize(r.Slot)
		r.summary = &sum
	}
	return r.summary
}
