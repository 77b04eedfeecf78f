package dataset

import (
	"errors"
	"fmt"
	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/formats"
	"slices"
	"strings"
	"sync/atomic"
)

// Input is one input and what reading it brought to light.
type Input struct {
	Index   int
	Source  formats.Source
	Label   string          // as the user gave it, or ""
	Format  *formats.Format // nil: not recognised
	Reason  string
	Account formats.Account
	Diags   *diag.Log
	Records map[int64]*Record // by RunMeta.Key
	Rows    int64             // rows of any table, and figures that the producer computed
	length  atomic.Int64      // bytes read from the start, of a source that does not know its size
}

// Reached notes that the bytes up to off have been read.
func (f *Input) Reached(off int64) {
	for n := f.length.Load(); n < off && !f.length.CompareAndSwap(n, off); n = f.length.Load() {
	}
}

// Size returns the length of the file in bytes; where the source does not know it, the
// number of bytes that have been read.
func (f *Input) Size() int64 {
	if n := f.Source.Size(); n >= 0 {
		return n
	}
	return f.length.Load()
}

// SeenRun returns the description of a run as kernels see it.
func (f *Input) SeenRun(m *trace.RunMeta) *trace.RunMeta {
	if f.Label == "" {
		return m
	}
	own := *m
	own.Clock = f.ownClock(m.Clock, m.Key)
	return &own
}

// ownClock is a clock of a record of f. Records that a label unites keep clocks
// of their own unless these have a common origin.
func (f *Input) ownClock(c trace.Clock, key int64) trace.Clock {
	if f.Label != "" && c.Kind != trace.Wall && c.Source == "" {
		c.Source = fmt.Sprintf("%s@%d", f.Source.Name(), key)
	}
	return c
}

// clockColumns are the columns of the tables that name the clock of a row.
var clockColumns = map[*trace.Table]trace.Col{
	trace.Requests: trace.ClockCol, trace.Steps: trace.StepClock,
	trace.Collectives: trace.CollectiveClock, trace.Histograms: trace.HistogramClock,
}

// SeenBatch returns a batch of f as kernels see it: with the given run, and with
// clocks of its own where a label unites records.
func (f *Input) SeenBatch(b *trace.Batch, run *trace.RunMeta) *trace.Batch {
	own := *b
	if clock, ok := clockColumns[b.Table]; ok && f.Label != "" {
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

// Record describes one record of an input.
type Record struct {
	Name string // of the record, for people
	Meta *trace.RunMeta
	Seen *trace.RunMeta // the same as kernels and exports see it
}

// AddRecords files what the readers of f's parts know about runs. rows holds the
// runs that have rows, by part: a part without rows of a run knows less about
// its clock than one with rows.
func (f *Input) AddRecords(runs [][]*trace.RunMeta, rows []map[int64]*trace.RunMeta) {
	f.Records = make(map[int64]*Record)
	for _, withRows := range []bool{true, false} {
		for i := range runs {
			for _, m := range runs[i] {
				if (rows[i][m.Key] != nil) == withRows {
					f.addRecord(m)
				}
			}
			for _, m := range rows[i] { // in case the reader forgot to list it
				if withRows && f.Records[m.Key] == nil {
					f.addRecord(m)
				}
			}
		}
	}
	for key, m := range f.Records {
		for _, r := range rows {
			if r[key] != nil {
				m.Meta.NoRequests = ""
			}
		}
	}
}

func (f *Input) addRecord(m *trace.RunMeta) {
	if old := f.Records[m.Key]; old != nil {
		mergeMeta(old.Meta, m)
		return
	}
	own := *m
	own.Config, own.Notes = slices.Clone(m.Config), slices.Clone(m.Notes)
	f.Records[m.Key] = &Record{Meta: &own}
}

// ErrChanged reports that an input is another one than before.
var ErrChanged = errors.New("the input has changed since it was first read; analyze a copy")

// Changed returns ErrChanged for an input.
func Changed(f *Input) error { return NameError(f, ErrChanged) }

// NameError puts the name of the input before an error that lacks it.
func NameError(f *Input, err error) error {
	if strings.Contains(err.Error(), f.Source.Name()) {
		return err
	}
	return fmt.Errorf("%s: %w", f.Source.Name(), err)
}
