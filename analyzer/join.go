package analyzer

import (
	"math"
	"sort"

	"servescope/analyzer/diag"
	"servescope/analyzer/join"
	"servescope/analyzer/trace"
)

// joinedLabel is the label of the run that inputs without one are joined into.
const joinedLabel = "joined"

// number numbers the resident rows: those of a job have consecutive numbers,
// whatever batches they are cut into. counts holds the rows of each job.
func (s *Session) number(rows [][]*resident, counts []int64) {
	s.bases = make([]int32, len(rows))
	next := int64(0)
	for j, list := range rows {
		s.bases[j] = int32(min(next, math.MaxInt32))
		for _, r := range list {
			r.number = int32(min(next+r.first, math.MaxInt32))
		}
		next += counts[j]
	}
}

// keepRows opens all rows for good.
func (s *Session) keepRows() {
	for _, r := range s.rows {
		r.keep()
	}
}

// linkable reports whether any rows may be linked without a join of ids.
func (s *Session) linkable() bool {
	for _, r := range open(s.rows) {
		if join.Link([]join.Part{{Batch: r.batch}}, join.Options{}) != nil {
			return true
		}
	}
	return false
}

// link finds the rows that are of one request.
func (s *Session) link() {
	if !s.opt.Join && !s.linkable() {
		return
	}
	s.keepRows()
	var parts []join.Part
	for _, r := range s.rows {
		if r.number > math.MaxInt32-int32(r.rows()) {
			s.diags.Add(diag.Diag{Code: "too_many_rows", Severity: diag.Notice, Offset: -1, Msg: "there are too many requests to link their rows", Fix: "analyze a part of the inputs"})
			return
		}
		parts = append(parts, join.Part{Batch: r.held, Run: r.slot, Input: int32(r.file.index), First: r.number})
	}
	s.joins = join.Link(parts, join.Options{IDs: s.opt.Join})
}

// find returns the index of the resident batch that holds row n.
func (s *Session) find(n int32) int {
	return sort.Search(len(s.rows), func(i int) bool { return s.rows[i].number > n }) - 1
}

// groupsOf returns the groups of n rows from number base on.
func (s *Session) groupsOf(sel *selection, base int32, n int) []int32 {
	out := make([]int32, 0, n)
	for i := s.find(base); len(out) < n; i++ {
		r := s.rows[i]
		from := max(base-r.number, 0)
		to := min(int(from)+n-len(out), r.rows())
		out = append(out, sel.rows[i][from:to]...)
	}
	return out
}

// follow gives linked rows the verdict on the row that counts their request.
func (s *Session) follow(sel *selection, why [][]uint8) {
	for i, r := range s.rows {
		for k := range r.rows() {
			n := r.number + int32(k)
			if s.joins.Role(n) != join.Linked {
				continue
			}
			lead := s.joins.Lead(n)
			j := s.find(lead)
			sel.rows[i][k], why[i][k] = sel.rows[j][lead-s.rows[j].number], why[j][lead-s.rows[j].number]
		}
	}
}

// counts reports whether a run's requests are counted with row i of r.
func (s *Session) counts(r *resident, i int) bool {
	n := r.number + int32(i)
	if !s.whole.first(n) {
		return false
	}
	return s.joins == nil || s.joins.Role(n) == join.Counts && s.joins.Side(n) == s.joins.Counting(r.slot)
}

// linked returns b, which holds the rows from number base on, with the
// join_group of linked rows, with the sides that their requests tell and with
// beam_search where a row of another side tells it.
func (s *Session) linked(b *trace.Batch, base int32) *trace.Batch {
	if s.joins == nil {
		return b
	}
	out := trace.NewBuilder(trace.Requests)
	beams, told := b.Bools(trace.BeamSearch), false
	for i := range b.Rows {
		beam, ok := beams.At(i)
		if !beam && s.joins.BeamSearch(base+int32(i)) {
			beam, ok, told = true, true, true
		}
		if ok {
			out.Bool(trace.BeamSearch, beam)
		}
		if name, ok := s.joins.Name(base + int32(i)); ok {
			out.Text(trace.JoinGroup, name)
		}
		out.Code(trace.SideCol, int32(s.joins.Side(base+int32(i))))
		out.EndRow()
	}
	names := out.Take(b.Run, b.File)
	b = b.With(trace.JoinGroup, names).With(trace.SideCol, names)
	if told {
		b = b.With(trace.BeamSearch, names)
	}
	return b
}
