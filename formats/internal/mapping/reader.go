package mapping

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/internal/assemble"
	"servescope/formats/internal/records"
)

// reader implements formats.Reader.
type reader struct {
	*table
	src      io.Closer
	file     string
	in       *records.Input
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
	truth    bool // the status is whether the request succeeded
	headless int  // rows still to come that say how to read the others
	part     bool // the rows are of a range that does not begin the file
	done     bool
	err      error
}

// begin sets up what does not change from record to record.
func (r *reader) begin(name, format string, opt formats.Options) {
	r.file, r.open = name, make(map[string]*open)
	r.rec.cells = make([]cell, len(r.table.names))
	if r.memory = opt.Memory; r.memory <= 0 {
		r.memory = 256 << 20
	}
	r.account.Kinds = make(map[string]int64)
	r.run = trace.RunMeta{Format: format, Side: trace.Server, Clock: trace.Clock{Kind: trace.RequestClock}, Notes: r.m.remarks()}
	if r.part { // what concerns the whole is told by the reader of the first range
		r.run.Notes = nil
	}
	for i := range r.m.entries {
		e := &r.m.entries[i]
		r.by[e.role] = e
		if e.role == status {
			joined, _, _ := words(e.name)
			r.truth = strings.HasSuffix(joined, "success") || strings.HasSuffix(joined, "ok")
		}
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
		r.run.NoRequests = strings.TrimSuffix(r.m.ask+": "+r.m.fix, ": ")
		r.diags.Add(diag.Diag{Code: "mapping", Severity: diag.Error, File: r.file, Offset: -1, Msg: r.m.ask, Fix: r.m.fix})
	}
	for _, d := range r.m.doubts {
		if r.part {
			break
		}
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
	case other:
		p = otherLine
	case found:
		p = r.use()
	}
	if p != nil {
		r.account.Diagnosed++
		r.note(p)
	}
}

// use makes a row or an event of the record that was read.
func (r *reader) use() *problem {
	if r.headless > 0 {
		r.headless--
		r.parted = nil
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
	r.disagreed()
	if n := r.width - 1; r.flat && r.rec.last && n >= 0 && r.rec.cells[n].set {
		r.rec.cells[n].set = false
		r.note(lastCell)
	}
	if r.over {
		r.note(several)
	}
	if r.flat && r.typed == nil {
		if r.blank() {
			r.account.Noise++
			r.account.Kinds["blank"]++
			return nil
		}
		if r.summary() {
			return summed
		}
	}
	if r.m.wrapped && !r.found {
		if r.torn {
			return notARecord
		}
		return otherText
	}
	if r.short {
		r.note(lastValue)
	}
	if (r.lines || r.m.logged && !r.flat) && !r.concerns() {
		return otherLine
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

// disagreed notes that the file says otherwise than its directories.
func (r *reader) disagreed() {
	if r.parted == nil {
		return
	}
	r.add(diag.Diag{Code: "partition_mismatch", Severity: diag.Notice,
		Msg: "records have another value in column " + label(r.parted.name) + " than the directory of the file says: that of the directory counts", Fix: "move the file, or rename the directory"})
	r.parted = nil
}

// summaries are what spreadsheets and data frames call the rows below others that
// sum them up.
const summaries = " total totals grand_total sum subtotal average avg mean median min minimum max maximum count std stdev std_dev stddev" +
	" gesamt summe mittelwert durchschnitt somme moyenne 25% 50% 75% 90% 95% 99% p50 p90 p95 p99 "

// summary tells whether a row sums others up: what it begins with says so, and it has
// neither an arrival nor an end, where requests do. A column that is one of names or
// events may hold such words.
func (r *reader) summary() bool {
	for i := range r.rec.cells {
		raw := bytes.TrimRight(bytes.TrimSpace(r.rec.cells[i].raw), ": ")
		if len(raw) == 0 {
			continue
		}
		if len(raw) > 12 || raw[0] >= '0' && raw[0] <= '9' && raw[len(raw)-1] != '%' {
			return false
		}
		word := string(bytes.ReplaceAll(bytes.ToLower(raw), []byte(" "), []byte("_")))
		if !strings.Contains(summaries, " "+word+" ") {
			return false
		}
		break
	}
	for _, role := range [...]role{arrival, sent, firstToken, lastToken, finished, event} {
		if e := r.by[role]; e != nil && r.rec.cells[e.field].set && !isNull(r.rec.cells[e.field].raw) {
			return false
		}
	}
	return true
}

// concerns tells whether a line is of a request: other lines of a server have stamps and
// models, too, and say how long something took.
func (r *reader) concerns() bool {
	if r.m.events {
		return r.filled(id) && r.filled(event)
	}
	for _, role := range [...]role{sent, firstToken, lastToken, ttft, tpot, gaps, times, prompt, output} {
		if r.filled(role) {
			return true
		}
	}
	if r.filled(arrival) && r.filled(finished) {
		return true
	}
	if r.by[id] == nil {
		return r.filled(e2e)
	}
	return r.filled(id) && (r.filled(e2e) || r.filled(failure) || r.filled(status))
}

// filled tells whether the record has a value for a role.
func (r *reader) filled(role role) bool {
	e := r.by[role]
	return e != nil && r.rec.cells[e.field].set
}

func (r *reader) note(p *problem) {
	r.add(diag.Diag{Code: p.Code, Severity: p.Severity, Msg: p.Msg, Fix: p.Fix})
}

// add adds a diagnostic of the record: rows of columnar tables have no offset, but
// a number.
func (r *reader) add(d diag.Diag) {
	if d.File, d.Offset = r.file, r.rec.off; r.typed != nil {
		d.Offset, d.Line = -1, r.rec.off
	}
	r.diags.Add(d)
}

// place returns the offset of a record, or -1 where it has none.
func (r *reader) place(off int64) int64 {
	if r.typed != nil {
		return -1
	}
	return off
}

func (r *reader) end() {
	r.done = true
	if err := r.failed(); err != nil {
		r.err = fmt.Errorf("%s: %w", r.file, err)
		return
	}
	r.damage()
	r.giveUp()
	r.account.Total = r.account.Parsed + r.account.Noise + r.account.Diagnosed
}

// failed returns an error of reading.
func (r *reader) failed() error {
	if r.typed != nil {
		return r.typed.err
	}
	return r.in.Err
}

// damage notes what of a columnar table could not be read.
func (r *reader) damage() {
	if r.typed == nil {
		return
	}
	for _, d := range r.typed.from.Damage() {
		n := max(1, d.Rows)
		r.account.Diagnosed += n
		r.diags.Add(diag.Diag{Code: d.Code, Severity: diag.DataLoss, File: r.file, Offset: d.Offset, Count: n, Msg: d.Msg, Fix: "copy or export the file again"})
	}
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
