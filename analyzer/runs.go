package analyzer

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
)

// run is one run of the report: the result records that are one, because they
// have the same label or come from one record.
type run struct {
	slot    int32 // index in facts and kernel states
	label   string
	format  string
	members []*trace.RunMeta // in order of (input, key)
}

// slots numbers runs while inputs are read in parallel. The numbers depend on
// which goroutine comes first: nothing that is reported may depend on them.
type slots struct {
	mu    sync.Mutex
	index map[slotKey]int32
}

// slotKey identifies a run: the user's label, or an input and a record in it.
type slotKey struct {
	label string
	file  int
	key   int64
}

// of returns the number of the run with the given key in f.
func (s *slots) of(f *file, key int64) int32 {
	k := slotKey{file: f.index, key: key}
	if f.label != "" {
		k = slotKey{label: f.label}
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

// view returns the description of a batch's run as kernels see it. Records that
// a label unites keep clocks of their own unless these have a common origin.
func (f *file) view(m *trace.RunMeta) *trace.RunMeta {
	if f.label == "" || m.Clock.Kind == trace.Wall || m.Clock.Source != "" {
		return m
	}
	own := *m
	own.Clock.Source = fmt.Sprintf("%s@%d", f.source.Name(), m.Key)
	return &own
}

// mergeMeta completes dst with what another part of the same record says.
func mergeMeta(dst, src *trace.RunMeta) {
	text := func(d *string, s string) {
		if *d == "" {
			*d = s
		}
	}
	text(&dst.Label, src.Label)
	text(&dst.Engine, src.Engine)
	text(&dst.Version, src.Version)
	text(&dst.Model, src.Model)
	text(&dst.DefaultDefinition, src.DefaultDefinition)
	if !dst.HasDuration {
		dst.Duration, dst.HasDuration = src.Duration, src.HasDuration
	}
	for _, p := range src.Config {
		if !slices.ContainsFunc(dst.Config, func(q trace.Pair) bool { return q.Key == p.Key }) {
			dst.Config = append(dst.Config, p)
		}
	}
	for _, n := range src.Notes {
		if !slices.Contains(dst.Notes, n) {
			dst.Notes = append(dst.Notes, n)
		}
	}
	if len(dst.Reported) == 0 {
		dst.Reported = src.Reported
	}
}

// meta is what is known of one record of an input.
type meta struct {
	name  string // of the record, for people
	trace *trace.RunMeta
	view  *trace.RunMeta // the same as kernels and exports see it
}

// addMetas files what the readers of f's parts know about runs. rows holds the
// runs that have rows, by part: a part without rows of a run knows less about
// its clock than one with rows.
func (f *file) addMetas(parts []part, rows []map[int64]*trace.RunMeta) {
	f.metas = make(map[int64]*meta)
	for _, withRows := range []bool{true, false} {
		for i, p := range parts {
			for _, m := range p.runs {
				if (rows[i][m.Key] != nil) == withRows {
					f.addMeta(m)
				}
			}
			for _, m := range rows[i] { // in case the reader forgot to list it
				if withRows && f.metas[m.Key] == nil {
					f.addMeta(m)
				}
			}
		}
	}
	for key, m := range f.metas {
		for _, r := range rows {
			if r[key] != nil {
				m.trace.NoRequests = ""
			}
		}
	}
}

func (f *file) addMeta(m *trace.RunMeta) {
	if old := f.metas[m.Key]; old != nil {
		mergeMeta(old.trace, m)
		return
	}
	own := *m
	own.Config, own.Notes = slices.Clone(m.Config), slices.Clone(m.Notes)
	f.metas[m.Key] = &meta{trace: &own}
}

// makeRuns lists the runs in the order of their first record and names them.
func (s *Session) makeRuns() {
	bySlot := make(map[int32]*run)
	for _, f := range s.files {
		keys := make([]int64, 0, len(f.metas))
		for key := range f.metas {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		for i, key := range keys {
			m := f.metas[key]
			slot := s.slots.of(f, key)
			m.name = s.shortName(f)
			if len(keys) > 1 {
				m.name += fmt.Sprintf("#%d", i+1)
			}
			r := bySlot[slot]
			if r == nil {
				r = &run{slot: slot, label: cmp.Or(f.label, m.name), format: m.trace.Format}
				bySlot[slot] = r
				s.runs = append(s.runs, r)
			}
			r.members = append(r.members, m.trace)
		}
	}
	s.uniqueLabels()
	for _, r := range s.runs {
		for _, m := range r.members {
			m.Label = r.label
		}
		s.checkClocks(r)
	}
	for _, f := range s.files {
		for _, m := range f.metas {
			m.view = f.view(m.trace)
		}
	}
}

// shortName is the shortest end of an input's path that no other input has.
func (s *Session) shortName(f *file) string {
	name := strings.ReplaceAll(f.source.Name(), "\\", "/")
	parts := strings.Split(name, "/")
	for n := 1; n < len(parts); n++ {
		short := path.Join(parts[len(parts)-n:]...)
		if !slices.ContainsFunc(s.files, func(o *file) bool {
			other := strings.ReplaceAll(o.source.Name(), "\\", "/")
			return o != f && other != name && (other == short || strings.HasSuffix(other, "/"+short))
		}) {
			return short
		}
	}
	return name
}

// uniqueLabels numbers the runs of one label: the same file given twice.
func (s *Session) uniqueLabels() {
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

// checkClocks says when a run's records have no common clock: figures over
// time are null then.
func (s *Session) checkClocks(r *run) {
	first := r.members[0]
	differ := slices.ContainsFunc(r.members, func(m *trace.RunMeta) bool { return m.Clock != first.Clock })
	if len(r.members) < 2 || first.Clock.Kind == trace.Wall && !differ {
		return
	}
	kinds := make([]string, 0, len(r.members))
	for _, m := range r.members {
		kinds = append(kinds, m.Clock.Kind.String())
	}
	slices.SortFunc(kinds, cmp.Compare[string])
	s.diags.Add(diag.Diag{
		Code: "clock_mismatch", Severity: diag.Notice, File: r.label, Offset: -1,
		Msg: fmt.Sprintf("the %d records of this run have no common clock (%s): figures over time are null", len(r.members), strings.Join(slices.Compact(kinds), ", ")),
		Fix: "give them different labels to report them as runs of their own",
	})
}
