package sglanglog

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/formats/internal/linelog"
	"servescope/formats/internal/pyrepr"
	"servescope/formats/internal/sglmeta"
)

// requests is what request logs have shown so far.
type requests struct {
	seen  bool // a line of a request came
	out   bool // the record has an answer
	meta  sglmeta.Meta
	ids   [][]byte // of the record, where it is about several requests
	open  map[string]begun
	bytes int // of the ids of open requests
	note  func(*sglmeta.Problem)
	at    int64 // offset of the record
}

// begun is a request that was received.
type begun struct {
	at       sglmeta.Stamp
	boot     int64 // s since the host's boot in ns, 0: not known
	offset   int64
	streamed bool
	known    bool // streamed is
}

// maxOpen bounds the ids of open requests, in bytes.
const maxOpen = 64 << 20

var tooManyOpen = &linelog.Problem{Code: "too_many_open_requests", Severity: diag.DataLoss,
	Msg: "so many requests have no Finish record that some are not kept: those are missing among the open ones"}

// read reads the object of a record into meta. It reports whether it is whole.
func (f *fold) read(r *linelog.Record) bool {
	q := &f.requests
	q.seen = true
	q.at = r.Offset
	q.meta.Reset()
	q.out = false
	q.ids = q.ids[:0]
	if q.note == nil {
		q.note = func(p *sglmeta.Problem) { f.log.Note((*linelog.Problem)(p), q.at) }
		q.open = make(map[string]begun)
	}
	text := r.Object
	if text == nil {
		text = bytes.TrimPrefix(bytes.TrimPrefix(r.Message, []byte("Finish: ")), []byte("Receive: "))
	}
	return pyrepr.Walk(text, q.value)
}

// value takes one value of a record's object.
func (q *requests) value(path, value []byte, kind pyrepr.Kind) {
	if key, ok := bytes.CutPrefix(path, []byte("out.meta_info.")); ok {
		if kind != pyrepr.List {
			q.meta.Set(key, value)
		}
		return
	}
	q.out = q.out || string(path) == "out.meta_info"
	key, ok := bytes.CutPrefix(path, []byte("obj."))
	if !ok {
		if key, ok = bytes.CutPrefix(path, []byte("in.")); !ok && string(path) != "rid" {
			return
		}
		if !ok {
			key = path
		}
	}
	if kind == pyrepr.List {
		if string(key) == "rid" {
			pyrepr.Texts(value, func(id []byte) { q.ids = append(q.ids, id) })
		}
		return
	}
	q.meta.Param(key, value)
}

// receive takes the record of one or several requests that came in. They become
// rows when they finish, or as open ones at the end.
func (f *fold) receive(r *linelog.Record) *linelog.Problem {
	if !f.read(r) {
		return torn
	}
	q := &f.requests
	if id := q.meta.ID(); len(id) > 0 && len(q.ids) == 0 {
		q.ids = append(q.ids, id)
	}
	if len(q.ids) == 0 {
		return noID
	}
	b := begun{at: sglmeta.Stamp{T: r.T, Resolution: r.Resolution, Known: r.Timed}, offset: r.Offset, boot: q.meta.SinceBoot()}
	b.streamed, b.known = q.meta.Streamed()
	for _, id := range q.ids {
		if sglmeta.HealthCheck(id) {
			f.facts.health++
			continue
		}
		id = id[:min(len(id), trace.MaxText)]
		if _, again := q.open[string(id)]; !again {
			if q.bytes += len(id); q.bytes > maxOpen {
				q.bytes -= len(id)
				f.log.Note(tooManyOpen, r.Offset)
				continue
			}
		}
		q.open[string(id)] = b
	}
	return nil
}

var noID = &linelog.Problem{Code: "no_request_id", Severity: diag.DataLoss, Msg: "a line about a request does not name it and was skipped"}

// finish takes the record of a request that ended, and makes its row.
func (f *fold) finish(r *linelog.Record) *linelog.Problem {
	if !f.read(r) || !f.requests.out {
		return torn
	}
	q := &f.requests
	m := &q.meta
	id := m.ID()
	if sglmeta.HealthCheck(id) {
		f.facts.health++
		return nil
	}
	if b, ok := q.open[string(id)]; ok {
		m.Received = b.at
		m.Inherit(b.streamed, b.known)
		delete(q.open, string(id))
		q.bytes -= len(id)
	}
	m.Finished = sglmeta.Stamp{T: r.T, Resolution: r.Resolution, Known: r.Timed}
	f.facts.since(m.Since())
	m.Row(f.rows, q.note)
	f.rows.Int(trace.Offset, r.Offset)
	f.rows.EndRow()
	return nil
}

// openRequests makes rows of the requests that did not end, in order of the file.
func (f *fold) openRequests() {
	ids := make([]string, 0, len(f.requests.open))
	for id := range f.requests.open {
		ids = append(ids, id)
	}
	open := f.requests.open
	slices.SortFunc(ids, func(a, b string) int {
		if d := open[a].offset - open[b].offset; d != 0 {
			return int(d)
		}
		return strings.Compare(a, b)
	})
	for _, id := range ids {
		o := open[id]
		b := f.rows
		b.Text(trace.RequestID, []byte(id))
		b.Code(trace.StatusCol, int32(trace.Open))
		switch {
		case o.at.Known:
			b.Int(trace.Received, o.at.T)
			if o.at.Resolution > 1 {
				b.Int(trace.Resolution, o.at.Resolution)
			}
		case o.boot > 0:
			b.Dict(trace.ClockCol, []byte(trace.Monotonic.String()))
			b.Int(trace.Received, o.boot)
		}
		if o.known {
			b.Bool(trace.Stream, o.streamed)
		}
		b.Int(trace.Offset, o.offset)
		b.EndRow()
	}
}

// setReplica sets the data-parallel rank that a line's head names.
func (f *fold) setReplica(r *linelog.Record) {
	if at := placeOf(r.Ranks); at[0] >= 0 {
		f.rows.Dict(trace.Replica, strconv.AppendInt(f.digits[:0], at[0], 10))
	}
}
