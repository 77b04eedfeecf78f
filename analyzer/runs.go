package analyzer

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
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
type slots struct {
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
func (s *slots) of(f *file, m *trace.RunMeta) int32 {
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

// view returns the description of a run as kernels see it.
func (f *file) view(m *trace.RunMeta) *trace.RunMeta {
	if f.label == "" {
		return m
	}
	own := *m
	own.Clock = f.ownClock(m.Clock, m.Key)
	return &own
}

// ownClock is a clock of a record of f. Records that a label unites keep clocks
// of their own unless these have a common origin.
func (f *file) ownClock(c trace.Clock, key int64) trace.Clock {
	if f.label != "" && c.Kind != trace.Wall && c.Source == "" {
		c.Source = fmt.Sprintf("%s@%d", f.source.Name(), key)
	}
	return c
}

// clockColumns are the columns of the tables that name the clock of a row.
var clockColumns = map[*trace.Table]trace.Col{
	trace.Requests: trace.ClockCol, trace.Steps: trace.StepClock,
	trace.Collectives: trace.CollectiveClock, trace.Histograms: trace.HistogramClock,
}

// seen returns a batch of f as kernels see it: with the given run, and with
// clocks of its own where a label unites records.
func (f *file) seen(b *trace.Batch, run *trace.RunMeta) *trace.Batch {
	own := *b
	if clock, ok := clockColumns[b.Table]; ok && f.label != "" {
		own = *b.WithNames(clock, func(name string) string {
			if c, ok := trace.ParseClock(name); ok {
				return f.ownClock(c, run.Key).String()
			}
			return name
		})
	}
	own.Run = run
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
	text(&dst.NoTPOT, src.NoTPOT)
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
	for _, d := range src.Doubts {
		dst.Doubt(d)
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
	for _, f := range s.files {
		for _, m := range f.metas {
			m.view = f.view(m.trace)
		}
	}
}

// shortName is the shortest end of an input's path that no other input has.
func (s *Session) shortName(f *file) string {
	name := slashed(f)
	if s.tails == nil {
		s.tails = tailsOf(s.files)
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

// slashed returns the path of an input with slashes alone.
func slashed(f *file) string { return strings.ReplaceAll(f.source.Name(), "\\", "/") }

// tailsOf returns how many of the paths of files, which may be thousands, end with
// some of their last parts, or are these.
func tailsOf(files []*file) map[string]int {
	tails := make(map[string]int)
	seen := make(map[string]bool)
	for _, f := range files {
		name := slashed(f)
		if seen[name] {
			continue
		}
		seen[name] = true
		tails[name]++
		for i := range name {
			if name[i] == '/' {
				tails[name[i+1:]]++
			}
		}
	}
	return tails
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

// checkClocks says when the records that a label unites have no common clock:
// figures over time are null then.
func (s *Session) checkClocks() {
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
	for _, r := range s.rows {
		if r.file.label == "" && !united[r.slot] {
			continue
		}
		r := opened{r, r.open()}
		names, sides := clocksOf(r.batch), r.batch.Dicts(trace.SideCol)
		for i := range r.batch.Rows {
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
