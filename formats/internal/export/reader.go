// Package export makes rows of the model of the columns of a file that servescope
// has written: what is read back is what was read when the file was written.
package export

import (
	"context"
	"fmt"
	"strings"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/analyzer/trace/manifest"
	"servescope/formats"
	"servescope/formats/internal/column"
)

// tables are those that can be read back, with what their rows are called.
var tables = map[string]*trace.Table{
	trace.Requests.Name: trace.Requests, trace.Steps.Name: trace.Steps,
	trace.Collectives.Name: trace.Collectives, trace.Histograms.Name: trace.Histograms,
	trace.ReportedTable.Name: trace.ReportedTable,
}

// File says what is being read.
type File struct {
	Name   string // of the source
	Format string // of the file
	Title  string // what it is called in messages: "Parquet file"
	First  bool   // the range begins the file: its reader tells what concerns the whole
	Lists  bool   // lists are wanted
}

// Reader reads an export; it is a formats.Reader.
type Reader struct {
	formats.Base
	ctx     context.Context
	file    File
	table   column.Table // nil: there is nothing to read
	columns columns
	index   map[runKey]*trace.RunMeta
	queue   []*trace.Batch // of the batch at hand, one per run
	ended   bool
}

// runKey is what names the run of a row.
type runKey struct {
	label, file string
	key         int64
}

// Broken returns a reader of a file of which nothing can be read.
func Broken(file File, msg string) *Reader {
	r := &Reader{file: file, Base: formats.Base{Counts: formats.Account{Kinds: map[string]int64{}}}}
	if file.First {
		r.refuse("damaged_file", msg, "copy or export the file again")
	}
	return r
}

// Nothing returns a reader of a range that has no rows of its own.
func Nothing(file File) *Reader {
	return &Reader{file: file, Base: formats.Base{Counts: formats.Account{Kinds: map[string]int64{}}}}
}

// Own reports whether t is a table of an export.
func Own(t column.Table) bool {
	_, named := t.Meta(manifest.TableKey)
	_, told := t.Meta(manifest.Key)
	return named || told
}

// Open begins to read t, which is one of an export. Whatever keeps it from being read as an export is told
// by a diagnostic of the reader.
func Open(ctx context.Context, file File, t column.Table) *Reader {
	r := &Reader{ctx: ctx, file: file, Base: formats.Base{Counts: formats.Account{Kinds: map[string]int64{}}}}
	name, _ := t.Meta(manifest.TableKey)
	text, ok := t.Meta(manifest.Key)
	model := tables[name]
	if model == nil || !ok {
		if file.First {
			r.unread(name)
		}
		return r
	}
	m, err := manifest.Parse([]byte(text))
	if err != nil {
		if file.First {
			r.refuse("damaged_file", fmt.Sprintf("the %s is an export of servescope, but %s", file.Title, err), "export the log again")
		}
		return r
	}
	r.columns = match(t.Fields(), model, file)
	if file.First {
		r.columns.note(&r.Log, file)
		r.lost(m)
	}
	r.describe(m)
	t.Select(r.columns.want)
	r.table = t
	return r
}

// unread says of a table that it is not read.
func (r *Reader) unread(name string) {
	if tables[name] != nil {
		r.refuse("not_read_back", fmt.Sprintf("the %s is the table %s of an export of servescope, but nothing in it describes its runs", r.file.Title, name),
			"export the log again with servescope convert")
		return
	}
	r.refuse("not_read_back", fmt.Sprintf("the %s is the table %s of an export of servescope, which is not read back", r.file.Title, name),
		"export and read the table requests: convert --table requests")
}

func (r *Reader) refuse(code, msg, fix string) {
	r.Log.Add(diag.Diag{Code: code, Severity: diag.Error, File: r.file.Name, Offset: -1, Msg: msg, Fix: fix})
}

// lost adds what was skipped, repaired or assumed when the export was made.
func (r *Reader) lost(m *manifest.Manifest) {
	for _, d := range m.Diags {
		own := d.Restore()
		if own.Code == "" || own.Count <= 0 {
			continue
		}
		where := d.File
		if d.Line > 0 {
			where += fmt.Sprintf(":%d", d.Line)
		}
		own.File, own.Offset, own.Line = r.file.Name, -1, 0
		own.Msg = strings.ToValidUTF8(fmt.Sprintf("%s: %s (said when it was exported)", where, d.Msg), "�")
		r.Log.Add(own)
	}
}

// describe makes the runs. What is told of the whole of one is told by the reader
// of the first range alone.
func (r *Reader) describe(m *manifest.Manifest) {
	formatOf := make(map[string]string)
	for _, in := range m.Inputs {
		formatOf[in.Name] = in.Format
	}
	r.index = make(map[runKey]*trace.RunMeta, len(m.Runs))
	for i := range m.Runs {
		from := &m.Runs[i]
		own := from.Meta
		own.Key, own.Format, own.Origin = int64(i), r.file.Format, m.Origin
		if r.file.First {
			note := fmt.Sprintf("an export of %s, read as %s", from.File, formatOf[from.File])
			if m.Selection != "" {
				note += ": the rows that were chosen by " + m.Selection
			}
			own.Notes = append([]string{note}, own.Notes...)
		} else {
			own.Config, own.Reported, own.Doubts, own.Notes = nil, nil, nil, nil
		}
		r.index[runKey{from.Meta.Label, from.File, from.Meta.Key}] = &own
		r.List = append(r.List, &own)
	}
}

// Next implements formats.Reader.
func (r *Reader) Next() bool {
	for r.Fail == nil && !r.ended {
		if len(r.queue) > 0 {
			r.Current, r.queue = r.queue[0], r.queue[1:]
			return true
		}
		if r.table == nil {
			r.ended = true
			break
		}
		if r.Fail = r.ctx.Err(); r.Fail != nil {
			break
		}
		if !r.table.Next() {
			r.finish()
			break
		}
		r.convert(r.table.Batch())
	}
	return false
}

// finish notes what could not be read.
func (r *Reader) finish() {
	r.ended = true
	if err := r.table.Err(); err != nil {
		r.Fail = fmt.Errorf("%s: %w", r.file.Name, err)
	}
	for _, d := range r.table.Damage() {
		r.Log.Add(diag.Diag{Code: d.Code, Severity: diag.DataLoss, File: r.file.Name, Offset: d.Offset, Count: max(1, d.Rows), Msg: d.Msg,
			Fix: "copy or export the file again"})
		r.Counts.Total += max(1, d.Rows)
		r.Counts.Diagnosed += max(1, d.Rows)
	}
}

// convert queues the rows of b by their runs.
func (r *Reader) convert(b *column.Batch) {
	r.Counts.Total += int64(b.Rows)
	whole := r.columns.batch(b, &r.Log)
	ends, metas := r.segments(b)
	from := 0
	for i, to := range ends {
		if metas[i] == nil {
			r.Counts.Diagnosed += int64(to - from)
			r.Log.Add(diag.Diag{Code: "unknown_run", Severity: diag.DataLoss, File: r.file.Name, Offset: -1, Count: int64(to - from),
				Msg: "rows name a run that the file does not describe: they were left out", Fix: "export the log again"})
		} else {
			own := whole
			if len(ends) > 1 {
				keep := make([]bool, b.Rows)
				for k := from; k < to; k++ {
					keep[k] = true
				}
				own = whole.Select(keep)
				whole.Implausible = trace.Implausible{} // counted once
			}
			own.Run = metas[i]
			r.queue = append(r.queue, own)
			r.Counts.Parsed += int64(to - from)
			r.Counts.Kinds[r.columns.model.Name] += int64(to - from)
		}
		from = to
	}
}

// segments cuts the rows where their run changes: the end of each part, and its
// run, nil where the file does not describe it.
func (r *Reader) segments(b *column.Batch) (ends []int, metas []*trace.RunMeta) {
	label, file, key := r.columns.column(b, r.columns.run), r.columns.column(b, r.columns.name), r.columns.column(b, r.columns.key)
	at := func(i int) runKey { return runKey{textAt(label, i), textAt(file, i), intAt(key, i)} }
	last := at(0)
	for i := 1; i <= b.Rows; i++ {
		if i < b.Rows && sameText(label, i-1, i) && sameText(file, i-1, i) && intAt(key, i-1) == intAt(key, i) {
			continue
		}
		ends, metas = append(ends, i), append(metas, r.index[last])
		if i < b.Rows {
			last = at(i)
		}
	}
	return ends, metas
}

// Close implements formats.Reader.
func (r *Reader) Close() error {
	r.ended, r.queue = true, nil
	return nil
}
