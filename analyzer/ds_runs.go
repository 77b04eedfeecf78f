package analyzer

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"

	"servescope/analyzer/diag"
	"servescope/analyzer/join"
	"servescope/analyzer/trace"
)

// run is one run of the report: the result records that are one, because they
// have the same label or come from one record.
type run struct {
	slot    int32 // index in facts and kernel states
	label   string
	format  string
	members []*trace.RunMeta // in order of (input, key)
	ranks   int              // traces of ranks of one deployment that it is made of; 0: none
	models  []string         // that its requests name, sorted
	engines []string         // the same
	summary *join.Summary    // of linking its rows; nil before it is asked for
}

// slots numbers runs while inputs are read in parallel. The numbers depend on
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

// of returns the number of the run of f that m, as its reader made it, describes.
func (s *Slots) of(f *Input, m *trace.RunMeta) int32 {
	k := slotKey{file: f.index, key: m.Key}
	switch {
	case f.label != "":
		k = slotKey{label: f.label}
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

// len returns how many runs have a number.
func (s *Slots) len() int { return len(s.index) }

// Preview returns the runs as they would be named if metas, by input and key, were all
// that is read of them. It may be called while the inputs are read.
func (s *Set) Preview(metas map[*Input]map[int64]*trace.RunMeta) []*run {
	t := &Set{joined: s.joined}
	s.slots.mu.Lock()
	t.slots.index = maps.Clone(s.slots.index)
	s.slots.mu.Unlock()
	for _, f := range s.inputs {
		own := &Input{index: f.index, source: f.source, label: f.label, format: f.format, metas: make(map[int64]*meta)}
		for _, m := range metas[f] {
			own.addMeta(m)
		}
		t.inputs = append(t.inputs, own)
	}
	t.makeRuns()
	return t.runs
}

// makeRuns lists the runs in the order of their first record and names them.
func (s *Set) makeRuns() {
	bySlot := make(map[int32]*run)
	for _, f := range s.inputs {
		keys := make([]int64, 0, len(f.metas))
		for key := range f.metas {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		for i, key := range keys {
			m := f.metas[key]
			slot := s.slots.of(f, m.trace)
			m.name = s.shortName(f)
			if len(keys) > 1 {
				m.name += fmt.Sprintf("#%d", i+1)
			}
			var kept string
			if m.trace.Origin != "" {
				kept = m.trace.Label
			}
			r := bySlot[slot]
			if r == nil {
				r = &run{slot: slot, label: cmp.Or(f.label, kept, m.name), format: m.trace.Format}
				bySlot[slot] = r
				s.runs = append(s.runs, r)
			}
			if i := slices.IndexFunc(r.members, m.trace.Twin); i >= 0 {
				m.trace = r.members[i] // another table of the same export
				continue
			}
			r.members = append(r.members, m.trace)
		}
	}
	s.uniqueLabels()
	for _, r := range s.runs {
		for _, m := range r.members {
			m.Label = r.label
		}
	}
	for _, f := range s.inputs {
		for _, m := range f.metas {
			m.view = f.view(m.trace)
		}
	}
}

// uniqueLabels numbers the runs of one label: the same file given twice.
func (s *Set) uniqueLabels() {
	count := make(map[string]int)
	for _, r := range s.runs {
		count[r.label]++
	}
	given := make(map[string]int)
	for _, r := range s.runs {
		base := r.label
		if count[base] == 1 {
			continue
		}
		for {
			given[base]++
			if r.label = fmt.Sprintf("%s#%d", base, given[base]); count[r.label] == 0 {
				break
			}
		}
	}
}

// checkClocks says when the records that a label unites have no common clock:
// figures over time are null then.
func (s *Set) checkClocks() {
	type of struct {
		slot int32
		side string
	}
	clock := make(map[of]string)
	mixed := make(map[int32][]string)
	united := make(map[int32]bool) // by a label that an export has kept
	for _, r := range s.runs {
		united[r.slot] = len(r.members) > 1 && r.members[0].Origin != ""
	}
	for _, r := range s.requests {
		if r.file.label == "" && !united[r.slot] {
			continue
		}
		r := opened{r, r.open()}
		names, sides := clocksOf(r.cols), r.cols.Dicts(trace.SideCol)
		for i := range r.cols.Rows {
			name, key := names.at(i), of{r.slot, ""}
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
			} else if old != name && !slices.Contains(mixed[r.slot], name) {
				mixed[r.slot] = append(mixed[r.slot], name)
			}
		}
	}
	for _, r := range s.runs {
		if n := len(mixed[r.slot]); n > 0 {
			s.diags.Add(diag.Diag{
				Code: "clock_mismatch", Severity: diag.Notice, File: r.label, Offset: -1,
				Msg: fmt.Sprintf("the %d records of this run have no common clock: figures over time are null", len(r.members)),
				Fix: "give them different labels to report them as runs of their own",
			})
		}
	}
}

func (s *Set) labelOf(slot int32) string {
	for _, r := range s.runs {
		if r.slot == slot {
			return r.label
		}
	}
	return ""
}
