// Package benchcsv reads the summary.csv of vllm bench sweep (since v0.11.1): a
// table as pandas writes it, a row per run, with the settings that were swept and
// the keys of a result of vllm bench serve as columns; cells that a run has not
// are empty. Requests are in the result files beside it (run=N.json).
package benchcsv

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
	"servescope/formats"
	"servescope/formats/internal/numx"
	"servescope/formats/internal/servebench"
)

const formatName = "benchcsv"

// Format reads the summary of a sweep.
var Format = formats.Format{
	Name:     formatName,
	Title:    "summary.csv of vllm bench sweep, a row per run",
	Priority: 112,
	Shape:    formats.Document,
	Sniff:    sniff,
	Open: func(ctx context.Context, src formats.Source, _ formats.Range, opt formats.Options) (formats.Reader, error) {
		return open(ctx, src)
	},
}

// minFigures is how many columns of a header must be figures of a result.
const minFigures = 3

func sniff(h *formats.Head) (formats.Score, string) {
	lines := h.Lines()
	if len(lines) == 0 {
		return formats.No, "it has no line"
	}
	header, err := csv.NewReader(bytes.NewReader(lines[0])).Read()
	if err != nil || !isHeader(header) {
		return formats.No, "the first line does not name figures of a benchmark as columns"
	}
	return formats.Sure, "its columns are keys of vLLM's benchmark results"
}

func isHeader(columns []string) bool {
	n := 0
	for _, c := range columns {
		if _, ok := servebench.Figure(c, "1"); ok {
			n++
		}
	}
	return n >= minFigures
}

const (
	maxRow  = 64 << 20 // bytes of the longest row
	maxRuns = 10_000
	maxCell = 200
)

// reader implements formats.Reader. It has no rows.
type reader struct {
	formats.Base
	src    formats.Source
	in     input
	csv    *csv.Reader
	header []string
	done   bool
}

// input counts what is read, ends with the context, and refuses endless rows.
type input struct {
	ctx   context.Context
	rc    io.ReadCloser
	total int64
	limit int64
	last  byte
}

var errRow = errors.New("a row is longer than 64 MiB")

func (r *input) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	if r.total > r.limit {
		return 0, errRow
	}
	n, err := r.rc.Read(b)
	if r.total += int64(n); n > 0 {
		r.last = b[n-1]
	}
	return n, err
}

func open(ctx context.Context, src formats.Source) (formats.Reader, error) {
	rc, err := src.Open(0)
	if err != nil {
		return nil, err
	}
	r := &reader{src: src, in: input{ctx: ctx, rc: rc}}
	r.csv = csv.NewReader(&r.in)
	r.csv.FieldsPerRecord, r.csv.ReuseRecord = -1, true
	r.Counts.Kinds = make(map[string]int64)
	return r, nil
}

// Next implements formats.Reader: there is no batch.
func (r *reader) Next() bool {
	for !r.done {
		at := r.csv.InputOffset()
		r.in.limit = at + maxRow
		row, err := r.csv.Read()
		var bad *csv.ParseError
		switch {
		case err == io.EOF:
			r.end()
		case errors.As(err, &bad):
			r.skip("bad_row", at, "a row is not well formed CSV")
		case errors.Is(err, errRow):
			r.skip("long_row", at, "a row is longer than 64 MiB, or its quotes do not end: reading stops there")
			r.end()
		case err != nil:
			r.done, r.Fail = true, fmt.Errorf("%s: %w", r.src.Name(), err)
		case r.csv.InputOffset() == r.in.total && r.in.last != '\n' && r.in.last != '\r':
			r.skip("truncated", at, "the file ends within a row")
		case r.header == nil:
			r.head(row, at)
		default:
			r.row(row, at)
		}
	}
	return false
}

func (r *reader) end() {
	r.done = true
	r.Counts.Total = r.Counts.Parsed + r.Counts.Noise + r.Counts.Diagnosed
	if len(r.List) == 0 {
		r.Log.Add(diag.Diag{Code: "no_runs", Severity: diag.Error, File: r.src.Name(), Offset: -1, Msg: "the file has no row of a run under a header of figures"})
	}
}

func (r *reader) head(row []string, at int64) {
	if !isHeader(row) {
		r.skip("not_a_header", at, "a row before the header names no figures")
		return
	}
	for _, c := range row {
		r.header = append(r.header, strings.ToValidUTF8(strings.TrimPrefix(c, "\uFEFF"), "\uFFFD"))
	}
	r.Counts.Noise++
	r.Counts.Kinds["header"]++
}

// row makes a run of a row.
func (r *reader) row(row []string, at int64) {
	switch {
	case len(row) != len(r.header):
		r.skip("ragged_row", at, "a row has another number of cells than the header")
		return
	case len(r.List) >= maxRuns:
		r.skip("too_many_runs", at, "the table has more rows than are kept")
		return
	}
	m := &trace.RunMeta{Key: at, Format: formatName, Engine: "vllm", Version: "≥v0.11.1", Side: trace.Client, Clock: trace.Clock{Kind: trace.RunClock},
		DefaultDefinition: "vllm-2026", NoRequests: "a summary of runs holds no per-request data; read the result files beside it (run=N.json)"}
	failed := r.cell(row, "completed") == "0"
	for i, cell := range row {
		cell = strings.ToValidUTF8(cell, "\uFFFD")
		key := r.header[i]
		if cell == "" || key == "" || len(cell) > maxCell || strings.HasPrefix(cell, "[") {
			continue
		}
		if key == "duration" {
			if ns, n, ok := numx.Seconds([]byte(cell)); ok && n == len(cell) && ns > 0 {
				m.Duration, m.HasDuration = ns, true
			}
			continue
		}
		if f, ok := servebench.Figure(key, cell); ok {
			if failed && f.Unit == unit.Nanosecond && f.Value == 0 { // nothing was measured
				continue
			}
			m.Reported = append(m.Reported, f)
			continue
		}
		if key == "model_id" {
			m.Model = cell
		}
		m.Config = append(m.Config, trace.Pair{Key: key, Value: cell})
	}
	r.List = append(r.List, m)
	r.Counts.Parsed++
	r.Counts.Kinds["run"]++
}

// cell returns the cell of a row in the column with the given name, or "".
func (r *reader) cell(row []string, name string) string {
	if i := slices.Index(r.header, name); i >= 0 {
		return row[i]
	}
	return ""
}

func (r *reader) skip(code string, at int64, msg string) {
	r.Counts.Diagnosed++
	r.Log.Add(diag.Diag{Code: code, Severity: diag.DataLoss, File: r.src.Name(), Offset: at, Msg: msg})
}

// Close implements formats.Reader.
func (r *reader) Close() error {
	if r.in.rc == nil {
		return nil
	}
	err := r.in.rc.Close()
	r.in.rc = nil
	return err
}
