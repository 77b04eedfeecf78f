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

// reader makes requests of the records of a table. It implements formats.Reader.
type reader struct {
	formats.Base
	*table
	src           io.Closer
	file          string
	in            *records.Input
	m             *mapping
	by            [roles]*entry
	zones         [roles]zone
	row           assemble.Row
	writer        assemble.Writer
	run           trace.RunMeta
	open          map[string]*openRequest
	order         []*openRequest // in the order of their first events
	held          int64          // bytes
	memory        int64
	successStatus bool // statuses 0 and 1 say whether the request succeeded
	headRows      int  // rows still to come that stand above the first record
	part          bool // the range does not begin the file
	done          bool
}

// begin sets the fields that stay the same for all records.
func (r *reader) begin(name, format string, opt formats.Options) {
	r.file, r.open = name, make(map[string]*openRequest)
	r.rec.cells = make([]cell, len(r.table.names))
	if r.memory = opt.Memory; r.memory <= 0 {
		r.memory = 256 << 20
	}
	r.Counts.Kinds = make(map[string]int64)
	r.run = trace.RunMeta{Format: format, Side: trace.Server, Clock: trace.Clock{Kind: trace.RequestClock}, Notes: r.m.describe()}
	if r.part { // the reader of the first range has them
		r.run.Notes = nil
	}
	for i := range r.m.entries {
		e := &r.m.entries[i]
		r.by[e.role] = e
		if e.role == status {
			joined, _, _ := splitName(e.name)
			r.successStatus = strings.HasSuffix(joined, "success") || strings.HasSuffix(joined, "ok")
		}
		if c := roleInfo[e.role].class; c == stamp || c == stamps && !r.m.has(arrival, sent, firstToken, finished) {
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
		r.Log.Add(diag.Diag{Code: "mapping", Severity: diag.Error, File: r.file, Offset: -1, Msg: r.m.ask, Fix: r.m.fix})
	}
	for _, d := range r.m.doubts {
		if r.part {
			break
		}
		r.run.Notes = append(r.run.Notes, d)
		r.Log.Add(diag.Diag{Code: "doubtful_column", Severity: diag.Notice, File: r.file, Offset: -1, Msg: d, Fix: "say what the column is with --map ROLE=COLUMN:UNIT"})
	}
	r.writer = assemble.Writer{Notes: assemble.Notes{File: r.file, Log: &r.Log}, Builder: trace.NewBuilder(trace.Requests), Run: &r.run, Clock: r.run.Clock, Lists: opt.Lists}
}

// A batch ends at the first of these bounds.
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
	r.Current = b.Take(&r.run, r.file)
	return true
}

// record reads one record and accounts for it.
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
		r.Counts.Diagnosed++
		r.note(p)
	}
}

// use makes a row or an event of the record that was read.
func (r *reader) use() *problem {
	if r.headRows > 0 {
		r.headRows--
		r.mismatch = nil
		r.Counts.Noise++
		r.Counts.Kinds["header"]++
		return nil
	}
	if r.rec.ragged {
		return ragged
	}
	if r.m.ask != "" {
		return unreadable
	}
	r.noteMismatch()
	if n := r.width - 1; r.flat && r.rec.last && n >= 0 && r.rec.cells[n].set {
		r.rec.cells[n].set = false
		r.note(lastCell)
	}
	if r.over {
		r.note(several)
	}
	if r.flat && r.typed == nil {
		if r.blank() {
			r.Counts.Noise++
			r.Counts.Kinds["blank"]++
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
	if (r.lines || r.m.logged && !r.flat) && !r.isOfRequest() {
		return otherLine
	}
	kind := "request"
	var p *problem
	if r.m.events {
		kind = "event"
		p = r.event()
		r.forgetEnded()
	} else {
		p = r.request()
	}
	if p == nil {
		r.Counts.Parsed++
		r.Counts.Kinds[kind]++
	}
	return p
}

// noteMismatch notes that a record contradicts the directories of its file.
func (r *reader) noteMismatch() {
	if r.mismatch == nil {
		return
	}
	r.add(diag.Diag{Code: "partition_mismatch", Severity: diag.Notice,
		Msg: "records have another value in column " + quoteName(r.mismatch.name) + " than the directory of the file says: that of the directory counts", Fix: "move the file, or rename the directory"})
	r.mismatch = nil
}

// summaries are the names that spreadsheets and data frames give to rows that sum others
// up.
const summaries = " total totals grand_total sum subtotal average avg mean median min minimum max maximum count std stdev std_dev stddev" +
	" gesamt summe mittelwert durchschnitt somme moyenne 25% 50% 75% 90% 95% 99% p50 p90 p95 p99 "

// summary reports whether a row sums others up: its first cell says so, and it has
// neither an arrival nor an end, as requests have. An event may have such a name.
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

// isOfRequest reports whether a line measures a request. Other lines of a server have
// stamps and models too, and say how long something took.
func (r *reader) isOfRequest() bool {
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

// filled reports whether the record has a value for a role.
func (r *reader) filled(role role) bool {
	e := r.by[role]
	return e != nil && r.rec.cells[e.field].set
}

// note adds the diagnostic of a problem of the record.
func (r *reader) note(p *problem) {
	r.add(diag.Diag{Code: p.Code, Severity: p.Severity, Msg: p.Msg, Fix: p.Fix})
}

// add adds a diagnostic of the record. A row of a columnar table has a number in place of
// an offset.
func (r *reader) add(d diag.Diag) {
	if d.File, d.Offset = r.file, r.rec.off; r.typed != nil {
		d.Offset, d.Line = -1, r.rec.off
	}
	r.Log.Add(d)
}

// offset returns the offset of a record, or -1 for rows of columnar tables.
func (r *reader) offset(off int64) int64 {
	if r.typed != nil {
		return -1
	}
	return off
}

// end accounts for the whole source.
func (r *reader) end() {
	r.done = true
	if err := r.failed(); err != nil {
		r.Fail = fmt.Errorf("%s: %w", r.file, err)
		return
	}
	r.damage()
	r.giveUp()
	r.Counts.Total = r.Counts.Parsed + r.Counts.Noise + r.Counts.Diagnosed
}

// failed returns the error that ended reading, if any.
func (r *reader) failed() error {
	if r.typed != nil {
		return r.typed.err
	}
	return r.in.Err
}

// damage notes the parts of a columnar table that could not be read.
func (r *reader) damage() {
	if r.typed == nil {
		return
	}
	for _, d := range r.typed.from.Damage() {
		n := max(1, d.Rows)
		r.Counts.Diagnosed += n
		r.Log.Add(diag.Diag{Code: d.Code, Severity: diag.DataLoss, File: r.file, Offset: d.Offset, Count: n, Msg: d.Msg, Fix: "copy or export the file again"})
	}
}

// Runs implements formats.Reader.
func (r *reader) Runs() []*trace.RunMeta { return []*trace.RunMeta{&r.run} }

// Close implements formats.Reader.
func (r *reader) Close() error {
	if r.src == nil {
		return nil
	}
	err := r.src.Close()
	r.src = nil
	return err
}
