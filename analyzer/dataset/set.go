package dataset

import (
	"maps"
	"path"
	"servescope/analyzer/diag"
	"servescope/analyzer/join"
	"servescope/analyzer/kernel/request"
	"servescope/analyzer/trace"
	"slices"
	"sort"
	"strings"
)

// Set holds everything that was read from the inputs of one analysis. It is read-only
// once Arrange has returned.
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
	Multi       *Multichoice      // nil where each row is a request
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
		for _, key := range slices.Sorted(maps.Keys(in.Records)) {
			if b := in.Records[key].Seen.ReportedBatch(in.Source.Name()); b.Rows > 0 {
				if err := f(b); err != nil {
					return err
				}
			}
		}
	}
	return nil
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

// Choices returns what kernels need to join rows to requests; nil where every row
// is one.
func (s *Set) Choices() *request.Choices {
	if s.Multi == nil {
		return nil
	}
	return s.Multi.Choices
}

// ShortName is the shortest end of an input's path that no other input has.
func (s *Set) ShortName(f *Input) string {
	name := slashed(f)
	if s.tails == nil {
		s.tails = tailsOf(s.Inputs)
	}
	parts := strings.Split(name, "/")
	for n := 1; n < len(parts); n++ {
		short := path.Join(parts[len(parts)-n:]...)
		others := s.tails[short]
		if name == short || strings.HasSuffix(name, "/"+short) {
			others--
		}
		if others == 0 {
			return short
		}
	}
	return name
}

// NameOfInput is the shortest name that tells an input from the others.
func (s *Set) NameOfInput(index int32) string { return s.ShortName(s.Inputs[index]) }

// SeveralRanks tells which runs have steps of several ranks.
func (s *Set) SeveralRanks() map[int32]bool {
	type ranks [5]int64
	first := make(map[int32]ranks)
	several := make(map[int32]bool)
	for _, r := range OpenEach(s.Steps) {
		var columns [len(ranks{})]trace.Ints
		for i, c := range []trace.Col{trace.StepDP, trace.StepTP, trace.StepPP, trace.StepEP, trace.StepRank} {
			columns[i] = r.Cols.Ints(c)
		}
		for i := range r.Cols.Rows {
			var at ranks
			for j := range columns {
				at[j], _ = columns[j].At(i)
			}
			if old, ok := first[r.Slot]; !ok {
				first[r.Slot] = at
			} else if old != at {
				several[r.Slot] = true
			}
		}
	}
	return several
}

// Preview returns the runs as they would be named if metas, by input and key, were all
// that is read of them. It may be called while the inputs are read.
func (s *Set) Preview(metas map[*Input]map[int64]*trace.RunMeta) []*Run {
	t := &Set{Joined: s.Joined}
	s.Slots.mu.Lock()
	t.Slots.index = maps.Clone(s.Slots.index)
	s.Slots.mu.Unlock()
	for _, f := range s.Inputs {
		own := &Input{Index: f.Index, Source: f.Source, Label: f.Label, Format: f.Format, Records: make(map[int64]*Record)}
		for _, m := range metas[f] {
			own.addRecord(m)
		}
		t.Inputs = append(t.Inputs, own)
	}
	makeRuns(t)
	return t.Runs
}

func (s *Set) LabelOf(slot int32) string {
	for _, r := range s.Runs {
		if r.Slot == slot {
			return r.Label
		}
	}
	return ""
}
