// Package table defines the tables that are exported: the public schema of
// Parquet, Arrow and CSV files. It turns batches of the model into batches of
// these tables; the writers in render/arrow, render/parquet and render/csv put
// them into files.
//
// The schema of a table is fixed: every file of a table has all its columns with
// their real types, whatever the data hold, those that are null throughout and
// those of a file without rows included. Names say the unit:
//
//   - X_ns is int64 nanoseconds. Stamps are exact on the row's clock (column
//     clock: nanoseconds since the Unix epoch for a wall clock); durations are
//     columns of their own, so that nobody has to subtract timestamps.
//   - X, where X_ns is a stamp, is the same as a timestamp in UTC for readers
//     that want dates; null unless the clock is a wall clock. Microseconds by
//     default: Spark reads no others, and DuckDB drops the last three digits of
//     nanoseconds with a time zone.
//   - tpot_ns is a double, nanoseconds per token; every other double has its
//     unit in the metadata.
//
// Types are INT64, DOUBLE, BOOL, UTF8, dictionary-encoded UTF8, LIST<INT64> and
// TIMESTAMP only. NaN and infinities are null.
package table

import (
	"servescope/analyzer/kernel/request"
	"servescope/analyzer/metric"
	"servescope/analyzer/trace"
	"servescope/analyzer/trace/manifest"
	"servescope/analyzer/unit"
)

// Options says how tables are exported.
type Options struct {
	Nanos      bool               // timestamp columns in nanoseconds instead of microseconds
	Definition *metric.Definition // of ttft_ns, e2e_ns and tpot_ns; nil: the default
}

// Table is a table to export and the way from batches of the model to its rows.
// It holds buffers and counts rows: use one Table per file, from one goroutine.
type Table struct {
	*trace.Table              // what is written
	Source       *trace.Table // what Each takes

	// Manifest, if set, describes the export in the metadata of files that have
	// some. It is asked for once, when the first batch is there or there is none.
	Manifest func() *manifest.Manifest

	columns    []column
	definition *metric.Definition
	rows       int64 // rows of the source so far
	split      func(t *Table, b *trace.Batch, emit func(*trace.Batch) error) error
	scratch    scratch
}

// column is how one column of a table is filled from a batch of the source.
type column struct {
	trace.Field
	fill func(t *Table, dst *trace.Batch, c trace.Col, src *trace.Batch)
}

// Each turns a batch of the source into batches of the table. A batch is valid
// until emit returns. An error of emit ends the walk and is returned.
func (t *Table) Each(b *trace.Batch, emit func(*trace.Batch) error) error {
	if b.Table != t.Source {
		panic("table: a batch of " + b.Table.Name + " for " + t.Name)
	}
	defer func() { t.rows += int64(b.Rows) }()
	if t.split != nil {
		return t.split(t, b, emit)
	}
	dst := trace.NewBatch(t.Table, b.Run, b.File, b.Rows)
	t.scratch.reset()
	for i := range t.columns {
		t.columns[i].fill(t, dst, trace.Col(i), b)
	}
	return emit(dst)
}

// Rows exports a table of the model as it is, with the columns run, file and
// run_key in front.
func Rows(source *trace.Table, opt Options) *Table {
	t := &Table{Source: source}
	t.model(opt)
	return t.done(source.Name)
}

// Requests exports the requests table: its columns, the request's row number,
// and the latencies ttft_ns, e2e_ns and tpot_ns as in reports.
func Requests(opt Options) *Table {
	t := &Table{Source: trace.Requests, definition: opt.Definition}
	if t.definition == nil {
		t.definition = metric.Default
	}
	t.columns = append(t.columns, column{rowNumber, fillRow})
	t.model(opt)
	t.columns = append(t.columns, derived...)
	return t.done(trace.Requests.Name)
}

// Summaries exports the figures of a report as one table; see Summary.
func Summaries() *Table {
	return &Table{Table: summary, Source: summary, split: func(_ *Table, b *trace.Batch, emit func(*trace.Batch) error) error {
		return emit(b)
	}}
}

// All returns every table, in the order in which they are listed for people.
func All(opt Options) []*Table {
	return []*Table{
		Requests(opt), Tokens(), Summaries(), Rows(trace.Steps, opt), Rows(trace.Collectives, opt),
		Rows(trace.Histograms, opt), Rows(trace.ReportedTable, opt),
	}
}

// done completes the schema.
func (t *Table) done(name string) *Table {
	t.Table = &trace.Table{Name: name}
	for _, c := range t.columns {
		t.Table.Fields = append(t.Table.Fields, c.Field)
	}
	return t
}

var rowNumber = trace.Field{Name: "row", Type: trace.Int64,
	Doc: "number of the request in the export from 0; the tokens table refers to it"}

// model adds run, file, run_key and the columns of the source.
func (t *Table) model(opt Options) {
	t.columns = append(t.columns,
		column{trace.Field{Name: "run", Type: trace.Dict, Doc: "label of the run"}, constant(func(b *trace.Batch) string {
			if b.Run == nil {
				return ""
			}
			return b.Run.Label
		})},
		column{trace.Field{Name: "file", Type: trace.Dict, Doc: "source the row was read from"}, constant(func(b *trace.Batch) string { return b.File })},
		column{trace.Field{Name: "run_key", Type: trace.Int64, Doc: "which record of the source describes the run: its byte offset, or 0"}, fillKey},
	)
	for i, f := range t.Source.Fields {
		src := trace.Col(i)
		f.Values = nil
		stamp := f
		if f.Unit == unit.Nanosecond && f.Type == trace.Int64 {
			f.Name += "_ns"
		}
		fill := func(_ *Table, dst *trace.Batch, c trace.Col, b *trace.Batch) { dst.Share(c, b, src) }
		if of, ok := inherited[src]; ok && t.Source == trace.Requests {
			fill = inherit(src, of)
		}
		t.columns = append(t.columns, column{f, fill})
		if f.Stamp {
			stamp.Type, stamp.Unit, stamp.Doc = trace.Time, unit.Microsecond, stamp.Doc+"; wall clocks only"
			if opt.Nanos {
				stamp.Unit = unit.Nanosecond
			}
			t.columns = append(t.columns, column{stamp, timestamp(src, opt.Nanos)})
		}
	}
}

// constant fills a dictionary column with one text; an empty one is null.
func constant(of func(*trace.Batch) string) func(*Table, *trace.Batch, trace.Col, *trace.Batch) {
	return func(t *Table, dst *trace.Batch, c trace.Col, b *trace.Batch) {
		if s := of(b); s != "" {
			dst.SetDicts(c, trace.Dicts{Codes: t.scratch.zeros(b.Rows), Values: []string{s}})
		}
	}
}

// timestamp fills a Time column with stamps of wall clocks, rounded down.
func timestamp(src trace.Col, nanos bool) func(*Table, *trace.Batch, trace.Col, *trace.Batch) {
	return func(t *Table, dst *trace.Batch, c trace.Col, b *trace.Batch) {
		wall, any := t.scratch.wallRows(b)
		if !any || !b.Has(src) {
			return
		}
		in := b.Ints(src)
		valid := in.Valid
		if wall != nil {
			valid = t.scratch.bitmap(b.Rows)
			for i := range valid {
				valid[i] = wall[i]
				if in.Valid != nil {
					valid[i] &= in.Valid[i]
				}
			}
		}
		if nanos {
			dst.SetInts(c, trace.Ints{Values: in.Values, Valid: valid})
			return
		}
		out := t.scratch.ints(b.Rows)
		for i, v := range in.Values[:b.Rows] {
			q := v / 1000
			if v%1000 < 0 {
				q--
			}
			out[i] = q
		}
		dst.SetInts(c, trace.Ints{Values: out, Valid: valid})
	}
}

// fillKey fills a column with the key of the batch's run.
func fillKey(t *Table, dst *trace.Batch, c trace.Col, b *trace.Batch) {
	if b.Run == nil {
		return
	}
	out := t.scratch.ints(b.Rows)
	for i := range out {
		out[i] = b.Run.Key
	}
	dst.SetInts(c, trace.Ints{Values: out})
}

// fillRow numbers the rows.
func fillRow(t *Table, dst *trace.Batch, c trace.Col, b *trace.Batch) {
	out := t.scratch.ints(b.Rows)
	for i := range out {
		out[i] = t.rows + int64(i)
	}
	dst.SetInts(c, trace.Ints{Values: out})
}

// Metadata returns the keys and values of the file's metadata.
func (t *Table) Metadata() [][2]string {
	out := [][2]string{{manifest.TableKey, t.Name}}
	if t.Manifest != nil {
		out = append(out, [2]string{manifest.Key, t.Manifest().String()})
	}
	return append(out, [2]string{"pandas", Pandas(t.Table)})
}

// latencies computes the derived columns of b, once per batch.
func (t *Table) latencies(b *trace.Batch) *latencies {
	s := &t.scratch
	if s.latencies != nil {
		return s.latencies
	}
	n := b.Rows
	out := &latencies{
		trace.Ints{Values: s.ints(n), Valid: s.bitmap(n)}, trace.Ints{Values: s.ints(n), Valid: s.bitmap(n)},
		trace.Floats{Values: s.floats(n), Valid: s.bitmap(n)},
	}
	l := request.LatenciesOf(b, t.definition)
	for i := range n {
		var ok [3]bool
		l.Load(i)
		out.ttft.Values[i], ok[0] = l.TTFT()
		out.e2e.Values[i], ok[1] = l.E2E()
		out.tpot.Values[i], ok[2] = l.TPOT()
		for k, valid := range []trace.Bitmap{out.ttft.Valid, out.e2e.Valid, out.tpot.Valid} {
			if ok[k] {
				valid[i>>3] |= 1 << (i & 7)
			}
		}
	}
	s.latencies = out
	return out
}
