// Package columns reads the logs that people's own servers, gateways and scripts
// write: tables of comma- or tab-separated values and JSON objects whose columns
// have names of their own.
//
// What a column means, its role, is inferred from its name, and the unit of times
// from the name and the values: epoch times by their magnitude, dates by their
// form, durations from what they would mean in each unit. Where two units can be
// true the reader asks instead of guessing. Everything that was inferred is a
// note of the run, with its evidence, and Options.Map overrides it.
//
// Records are requests, with stamps or latencies and counts, and perhaps lists of
// the times of tokens or the gaps between these; or events of requests: an id, a
// name, a time.
package columns

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/internal/assemble"
)

const formatName = "columns"

// Format reads any table of requests. It is the last resort: every other format
// that knows a file goes before it.
var Format = formats.Format{
	Name:     formatName,
	Title:    "any CSV, TSV or JSON log with a latency per request; see --map",
	Priority: 1000,
	Shape:    formats.Document,
	Sniff:    sniff,
	Open:     openTable,
	Learn:    suggest,
}

func sniff(h *formats.Head) (formats.Score, string) {
	s, _ := sampleOf(h.Start, nil)
	if s.csv && !s.header {
		return formats.No, "its first line does not name columns"
	}
	m := new(mapping)
	s.guess(m)
	s.eventShape(m)
	switch {
	case s.records == 0:
		return formats.No, "it has no rows under names of columns, and no objects"
	case !m.metrics() || !m.has(arrival, sent, id, model, prompt, output, ttft, gaps, times):
		return formats.No, "its columns name no latency of requests"
	}
	var names []string
	for _, e := range m.entries {
		names = append(names, about[e.role].name)
	}
	return formats.Maybe, "its columns look like " + strings.Join(names, ", ")
}

// sampleOf reads the head of a source. Names given in assignments tell a row of
// names from one of values.
func sampleOf(head []byte, given []assignment) (*sample, outcome) {
	in := &input{ctx: context.Background(), r: bytes.NewReader(nil), buf: bytes.Clone(head), size: 1}
	s := &sample{table: &table{}}
	s.delim, s.csv = delimiter(head)
	if !s.csv {
		s.profileAll(in)
		return s, found
	}
	res := s.read(in)
	if res != found {
		return s, res
	}
	s.header = isHeader(s.rec.cells, given)
	for i, c := range s.rec.cells {
		name := fmt.Sprint(i + 1)
		if s.header {
			name = string(c.raw)
		}
		s.names = append(s.names, name)
	}
	s.frozen = true
	if !s.header {
		s.take()
	}
	s.profileAll(in)
	return s, found
}

// isHeader tells whether a row names columns: no cell is a value.
func isHeader(row []cell, given []assignment) bool {
	letters := false
	for _, c := range row {
		for _, a := range given {
			if a.column == string(c.raw) && len(c.raw) > 0 && c.raw[0] > '9' {
				return true
			}
		}
		if _, ok := float(c.raw); ok {
			return false
		}
		if _, ok := parseDate(c.raw); ok || len(c.raw) > 200 {
			return false
		}
		letters = letters || len(c.raw) > 0
	}
	return letters
}

// delimiter tells what parts the cells of a table, or that it holds objects.
func delimiter(head []byte) (delim byte, csv bool) {
	lines := 0
	for line := range bytes.Lines(head) {
		line = bytes.TrimLeft(line, " \t\r\n,[]\x1e")
		if len(line) > 0 && line[0] == '{' {
			return 0, false
		}
		if lines++; lines > 5 {
			break
		}
	}
	delim = ','
	most := 0
	for _, d := range []byte(",;\t|") {
		t := &table{csv: true, delim: d}
		in := &input{ctx: context.Background(), r: bytes.NewReader(nil), buf: head, size: 1}
		width, same, rows := 0, 0, 0
		for rows < 50 {
			t.rec.cells = t.rec.cells[:0]
			if t.read(in) != found || t.rec.last && rows > 0 {
				break
			}
			if rows++; width == 0 {
				width = len(t.rec.cells)
			}
			if len(t.rec.cells) == width {
				same++
			}
		}
		if width > 1 && 10*same >= 8*rows && width > most {
			delim, most = d, width
		}
	}
	return delim, true
}

// reader implements formats.Reader.
type reader struct {
	*table
	src      io.Closer
	file     string
	in       *input
	m        *mapping
	by       [roles]*entry
	zones    [roles]zone
	row      assemble.Row
	writer   assemble.Writer
	run      trace.RunMeta
	batch    *trace.Batch
	diags    diag.Log
	account  formats.Account
	open     map[string]*open
	order    []*open // by their first event
	held     int64   // bytes
	memory   int64
	headless bool // the row of names is still to come
	done     bool
	err      error
}

func openTable(ctx context.Context, src formats.Source, _ formats.Range, opt formats.Options) (formats.Reader, error) {
	s, m, err := learn(src, opt.Map)
	if err != nil {
		return nil, err
	}
	rc, err := src.Open(0)
	if err != nil {
		return nil, err
	}
	t := &table{csv: s.csv, delim: s.delim, header: s.header, names: s.names, frozen: true}
	if !t.csv { // a path is looked up for every value: among as few as there are
		t.names = nil
		for i := range m.entries {
			e := &m.entries[i]
			if e.field = slices.Index(t.names, e.name); e.field < 0 {
				e.field = len(t.names)
				t.names = append(t.names, e.name)
			}
		}
	}
	t.rec.cells = make([]cell, len(t.names))
	r := &reader{table: t, src: rc, file: src.Name(), m: m, headless: s.header, open: make(map[string]*open)}
	r.in = &input{ctx: ctx, r: rc, size: chunk}
	if opt.Block > 0 {
		r.in.size = opt.Block
	}
	if r.memory = opt.Memory; r.memory <= 0 {
		r.memory = 256 << 20
	}
	r.begin(opt)
	return r, nil
}

// learn says what the columns of a source mean, from its head.
func learn(src formats.Source, list []string) (*sample, *mapping, error) {
	given, err := parseMap(list)
	if err != nil {
		return nil, nil, err
	}
	rc, err := src.Open(0)
	if err != nil {
		return nil, nil, err
	}
	defer rc.Close()
	head := make([]byte, formats.HeadSize)
	n, err := io.ReadFull(rc, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, nil, fmt.Errorf("%s: %w", src.Name(), err)
	}
	s, _ := sampleOf(head[:n], given)
	m := new(mapping)
	if s.assign(m, given); m.ask == "" {
		s.infer(m)
	}
	if m.ask == "" && !m.metrics() {
		m.ask, m.fix = "no column is known to hold a latency or stamps of requests", "say which with --map ROLE=COLUMN:UNIT"
		if len(s.names) > 0 {
			m.ask += "; there are " + s.columns()
		}
	}
	return s, m, nil
}

// suggest returns what the columns of a source mean, and what could not be told.
func suggest(src formats.Source, given []string) (list []string, ask string, err error) {
	if src == nil {
		_, err := parseMap(given)
		return nil, "", err
	}
	_, m, err := learn(src, given)
	if err != nil {
		return nil, "", err
	}
	if m.ask != "" {
		ask = m.ask + ": " + m.fix
	}
	return m.arguments(), ask, nil
}

// begin sets up what does not change from record to record.
func (r *reader) begin(opt formats.Options) {
	r.account.Kinds = make(map[string]int64)
	r.run = trace.RunMeta{Format: formatName, Side: trace.Server, Clock: trace.Clock{Kind: trace.RequestClock}, Notes: r.m.remarks()}
	for i := range r.m.entries {
		e := &r.m.entries[i]
		r.by[e.role] = e
		if c := about[e.role].class; c == stamp || c == stamps && !r.m.has(arrival, sent, firstToken, finished) {
			if r.run.Clock.Kind = trace.RunClock; e.epoch {
				r.run.Clock.Kind = trace.Wall
			}
		}
	}
	for i := range r.zones {
		r.zones[i].loc = opt.TZ
	}
	if r.by[sent] != nil {
		r.run.Side = trace.Client
	}
	if r.m.ask != "" {
		r.run.Notes = nil
		r.run.NoRequests = r.m.ask + ": " + r.m.fix
		r.diags.Add(diag.Diag{Code: "mapping", Severity: diag.Error, File: r.file, Offset: -1, Msg: r.m.ask, Fix: r.m.fix})
	}
	for _, d := range r.m.doubts {
		r.run.Notes = append(r.run.Notes, d)
		r.diags.Add(diag.Diag{Code: "doubtful_column", Severity: diag.Notice, File: r.file, Offset: -1, Msg: d, Fix: "say what the column is with --map ROLE=COLUMN:UNIT"})
	}
	r.writer = assemble.Writer{Notes: assemble.Notes{File: r.file, Log: &r.diags}, Builder: trace.NewBuilder(trace.Requests), Run: &r.run, Clock: r.run.Clock, Lists: opt.Lists}
}

// A batch ends with either of them.
const (
	batchRows = 4096
	batchList = 1 << 19
)

// Next implements formats.Reader.
func (r *reader) Next() bool {
	b := r.writer.Builder
	for !r.done && b.Rows() < batchRows && b.ListLen(trace.ChunkGaps) < batchList {
		r.record()
	}
	if b.Rows() == 0 {
		return false
	}
	r.batch = b.Take(&r.run, r.file)
	return true
}

// record reads one record.
func (r *reader) record() {
	var p *problem
	switch r.read(r.in) {
	case ended:
		r.end()
		return
	case bad:
		p = notARecord
	case truncated:
		p = cutOff
	case long:
		p = tooLong
	case found:
		p = r.use()
	}
	if p != nil {
		r.account.Diagnosed++
		r.note(p)
	}
}

func (r *reader) note(p *problem) { r.writer.Note(p, r.rec.off) }

// use makes a row or an event of the record that was read.
func (r *reader) use() *problem {
	if r.headless {
		r.headless = false
		r.account.Noise++
		r.account.Kinds["header"]++
		return nil
	}
	if r.rec.ragged {
		return ragged
	}
	if r.m.ask != "" {
		return unreadable
	}
	if n := len(r.rec.cells) - 1; r.csv && r.rec.last && n >= 0 && r.rec.cells[n].set {
		r.rec.cells[n].set = false
		r.note(lastCell)
	}
	kind := "request"
	var p *problem
	if r.m.events {
		kind = "event"
		p = r.event()
		r.sweep()
	} else {
		p = r.request()
	}
	if p == nil {
		r.account.Parsed++
		r.account.Kinds[kind]++
	}
	return p
}

func (r *reader) end() {
	r.done = true
	if r.in.err != nil {
		r.err = fmt.Errorf("%s: %w", r.file, r.in.err)
		return
	}
	r.giveUp()
	r.account.Total = r.account.Parsed + r.account.Noise + r.account.Diagnosed
}

// Batch implements formats.Reader.
func (r *reader) Batch() *trace.Batch { return r.batch }

// Err implements formats.Reader.
func (r *reader) Err() error { return r.err }

// Diags implements formats.Reader.
func (r *reader) Diags() *diag.Log { return &r.diags }

// Runs implements formats.Reader.
func (r *reader) Runs() []*trace.RunMeta { return []*trace.RunMeta{&r.run} }

// Account implements formats.Reader: of records, and of lines that are none.
func (r *reader) Account() formats.Account { return r.account }

// Close implements formats.Reader.
func (r *reader) Close() error {
	if r.src == nil {
		return nil
	}
	err := r.src.Close()
	r.src = nil
	return err
}
