package dataset

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"servescope/analyzer/diag"
	"servescope/analyzer/join"
	"servescope/analyzer/trace"
)

// Run is one run of the report: the result records that are one, because they
// have the same label or come from one record.
type Run struct {
	Slot    int32 // index in facts and kernel states
	Label   string
	Format  string
	Members []*trace.RunMeta // in order of (input, key)
	Ranks   int              // traces of ranks of one deployment that it is made of; 0: none
	Models  []string         // that its requests name, sorted
	Engines []string         // the same
	Join    *join.Summary    // what came of linking its rows by ids; nil where inputs are not joined
}

// Slots numbers runs while inputs are read in parallel. The numbers depend on
// which goroutine comes first: nothing that is reported may depend on them.
type Slots struct {
	mu    sync.Mutex
	index map[slotKey]int32
}

// slotKey identifies a run: the user's label, an input and a record in it, or the
// label and the origin that an export has kept.
type slotKey struct {
	label, origin string
	file          int
	key           int64
}

// Of returns the number of the run of f that m, as its reader made it, describes.
func (s *Slots) Of(f *Input, m *trace.RunMeta) int32 {
	k := slotKey{file: f.Index, key: m.Key}
	switch {
	case f.Label != "":
		k = slotKey{label: f.Label}
	case m.Origin != "":
		k = slotKey{label: m.Label, origin: m.Origin}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	n, ok := s.index[k]
	if !ok {
		if s.index == nil {
			s.index = make(map[slotKey]int32)
		}
		n = int32(len(s.index))
		s.index[k] = n
	}
	return n
}

// Len returns how many runs have a number.
func (s *Slots) Len() int { return len(s.index) }

// makeRuns lists the runs in the order of their first record and names them.
func makeRuns(s *Set) {
	bySlot := make(map[int32]*Run)
	for _, f := range s.Inputs {
		keys := make([]int64, 0, len(f.Records))
		for key := range f.Records {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		for i, key := range keys {
			m := f.Records[key]
			slot := s.Slots.Of(f, m.Meta)
			m.Name = s.ShortName(f)
			if len(keys) > 1 {
				m.Name += fmt.Sprintf("#%d", i+1)
			}
			var kept string
			if m.Meta.Origin != "" {
				kept = m.Meta.Label
			}
			r := bySlot[slot]
			if r == nil {
				r = &Run{Slot: slot, Label: cmp.Or(f.Label, kept, m.Name), Format: m.Meta.Format}
				bySlot[slot] = r
				s.Runs = append(s.Runs, r)
			}
			if i := slices.IndexFunc(r.Members, m.Meta.Twin); i >= 0 {
				m.Meta = r.Members[i] // another table of the same export
				continue
			}
			r.Members = append(r.Members, m.Meta)
		}
	}
	uniqueLabels(s)
	for _, r := range s.Runs {
		for _, m := range r.Members {
			m.Label = r.Label
		}
	}
	for _, f := range s.Inputs {
		for _, m := range f.Records {
			m.Seen = f.SeenRun(m.Meta)
		}
	}
}

// uniqueLabels numbers the runs of one label: the same file given twice.
func uniqueLabels(s *Set) {
	count := make(map[string]int)
	for _, r := range s.Runs {
		count[r.Label]++
	}
	given := make(map[string]int)
	for _, r := range s.Runs {
		base := r.Label
		if count[base] == 1 {
			continue
		}
		for {
			given[base]++
			if r.Label = fmt.Sprintf("%s#%d", base, given[base]); count[r.Label] == 0 {
				break
			}
		}
	}
}

// checkClocks says when the records that a label unites have no common clock:
// figures over time are null then.
func checkClocks(s *Set) {
	type of struct {
		slot int32
		side string
	}
	clock := make(map[of]string)
	mixed := make(map[int32][]string)
	united := make(map[int32]bool) // by a label that an export has kept
	for _, r := range s.Runs {
		united[r.Slot] = len(r.Members) > 1 && r.Members[0].Origin != ""
	}
	for _, r := range s.Requests {
		if r.File.Label == "" && !united[r.Slot] {
			continue
		}
		r := Opened{r, r.Open()}
		names, sides := ClocksOf(r.Cols), r.Cols.Dicts(trace.SideCol)
		for i := range r.Cols.Rows {
			name, key := names.At(i), of{r.Slot, ""}
			if code, ok := sides.At(i); ok {
				key.side = sides.Values[code]
			}
			switch c, _ := trace.ParseClock(name); c.Kind {
			case trace.RequestClock:
				continue
			case trace.Wall:
				name = trace.Wall.String()
			}
			if old, ok := clock[key]; !ok {
				clock[key] = name
			} else if old != name && !slices.Contains(mixed[r.Slot], name) {
				mixed[r.Slot] = append(mixed[r.Slot], name)
			}
		}
	}
	for _, r := range s.Runs {
		if n := len(mixed[r.Slot]); n > 0 {
			s.Diags.Add(diag.Diag{
				Code: "clock_mismatch", Severity: diag.Notice, File: r.Label, Offset: -1,
				Msg: fmt.Sprintf("the %d records of this run have no common clock: figures over time are null", len(r.Members)),
				Fix: "give them different labels to report them as separate runs",
			})
		}
	}
}
