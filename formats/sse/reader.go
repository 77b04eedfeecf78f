package sse

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/internal/assemble"
)

type problem = assemble.Problem

var (
	notAnEvent = &problem{Code: "not_an_event", Severity: diag.Notice,
		Msg: "a line is not an event of a stream and was skipped"}
	badPayload = &problem{Code: "bad_payload", Severity: diag.DataLoss,
		Msg: "the payload of an event is not well formed: it counts as an event without a token"}
	unknownPayload = &problem{Code: "unknown_payload", Severity: diag.Notice,
		Msg: "the payload of an event belongs to no known API: it was skipped"}
	noStamp = &problem{Code: "no_stamp", Severity: diag.DataLoss,
		Msg: "an event has no time of its arrival and was skipped", Fix: "have every line stamped, as ts does"}
	otherClock = &problem{Code: "mixed_clocks", Severity: diag.DataLoss,
		Msg: "a stamp counts from another beginning than those before it: its line was skipped", Fix: "write the times of a transcript on one clock"}
	backwards = &problem{Code: "stamp_order", Severity: diag.Notice,
		Msg: "times go back within an answer", Fix: "record times since the beginning (ts -s), not since the line before (ts -i)"}
	notSent = &problem{Code: "no_send", Severity: diag.Notice,
		Msg: "a transcript does not tell when its request was sent: time to first token is unknown", Fix: "record with curl -v or --trace-time, or relative to the beginning with ts -s"}
	noEnd = &problem{Code: "no_end", Severity: diag.Notice,
		Msg: "an answer has no end: it counts as open"}
	tooLong = &problem{Code: "line_too_long", Severity: diag.DataLoss,
		Msg: "a line is longer than 8 MiB and was skipped"}
	crowded = &problem{Code: "request_expired", Severity: diag.DataLoss,
		Msg: "too many answers are open at a time: the oldest count as open"}
)

const maxLine = 8 << 20

// send is a request that was sent.
type send struct {
	id  string
	at  int64
	off int64 // of the line that says so
}

// reader reads a transcript. It implements formats.Reader.
type reader struct {
	formats.Base
	ctx     context.Context
	src     io.Closer
	in      *bufio.Reader
	file    string
	survey  survey
	line    []byte
	rows    int
	off     int64      // offset of the line
	behind  int64      // offset behind the line
	trace   *curlTrace // of a trace of curl, or nil
	chunk   chunk
	event   []byte // name of the event at hand
	open    []*stream
	current *stream
	sent    []send // requests without an answer yet
	label   []byte // id in a line of a script
	step    int64  // resolution of the stamps in ns
	last    int64  // the last stamp
	begun   bool   // last is set
	day     int64  // beginning of the day, for times of day
	fresh   bool   // relative times begin here
	row     assemble.Row
	writer  assemble.Writer
	run     trace.RunMeta
	done    bool
}

func open(ctx context.Context, src formats.Source, opt formats.Options) (formats.Reader, error) {
	rc, err := src.Open(0)
	if err != nil {
		return nil, err
	}
	size := 256 << 10
	if opt.Block > 0 {
		size = max(opt.Block, 16)
	}
	head, err := formats.ReadHead(src)
	if err != nil {
		rc.Close()
		return nil, err
	}
	if isArchive(head) {
		return openArchive(ctx, rc, src.Name(), opt), nil
	}
	r := &reader{ctx: ctx, src: rc, in: bufio.NewReaderSize(rc, size), file: src.Name(), survey: surveyOf(head.Start), fresh: true}
	r.Counts.Kinds = make(map[string]int64)
	r.run = trace.RunMeta{Format: "sse", Side: trace.Client, Clock: trace.Clock{Kind: r.survey.clockKind()}}
	r.run.Notes = r.survey.notes()
	r.step = 1
	for range 9 - min(r.survey.digits, 9) {
		r.step *= 10
	}
	if r.survey.trace {
		r.trace = new(curlTrace)
	}
	if r.survey.ask != "" {
		r.run.NoRequests = r.survey.ask
		r.Log.Add(diag.Diag{Code: "unknown_times", Severity: diag.Error, File: r.file, Offset: -1, Msg: r.survey.ask, Fix: r.survey.fix})
	}
	r.writer = assemble.Writer{Notes: assemble.Notes{File: r.file, Log: &r.Log}, Builder: trace.NewBuilder(trace.Requests), Run: &r.run, Clock: r.run.Clock, Lists: opt.Lists}
	return r, nil
}

// Next implements formats.Reader.
func (r *reader) Next() bool {
	b := r.writer.Builder
	for !r.done && b.Rows() < 4096 && b.ListLen(trace.ChunkGaps) < 1<<19 {
		r.next()
	}
	if b.Rows() == 0 {
		return false
	}
	r.Current = b.Take(&r.run, r.file)
	return true
}

// next reads a line and accounts for it.
func (r *reader) next() {
	long, ok := r.readLine()
	if !ok {
		r.end()
		return
	}
	p := tooLong
	kind := ""
	if !long {
		kind, p = r.use(bytes.TrimRight(r.line, "\r\n"))
	}
	switch {
	case p != nil:
		r.Counts.Diagnosed++
		r.note(p)
	case kind == "":
		r.Counts.Noise++
	default:
		r.Counts.Parsed++
		r.Counts.Kinds[kind]++
	}
}

// readLine reads the next line. long is true for a line that is too long, ok is false at
// the end.
func (r *reader) readLine() (long, ok bool) {
	if r.Fail = r.ctx.Err(); r.Fail != nil {
		return false, false
	}
	r.off = r.behind
	r.line = r.line[:0]
	for {
		part, err := r.in.ReadSlice('\n')
		r.behind += int64(len(part))
		if len(r.line) < maxLine {
			r.line = append(r.line, part...)
		} else {
			long = true
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err == nil, errors.Is(err, io.EOF) && r.behind > r.off:
			return long, true
		case !errors.Is(err, io.EOF):
			r.Fail = fmt.Errorf("%s: %w", r.file, err)
		}
		return false, false
	}
}

// use takes a line. kind is the kind of record that the account counts, or "" for noise.
func (r *reader) use(line []byte) (kind string, p *problem) {
	switch {
	case r.survey.ask != "":
		return "", notAnEvent
	case r.trace != nil:
		return r.trace.take(r, line)
	case len(bytes.TrimSpace(line)) == 0:
		return "", nil
	case r.survey.kind == jsonLine:
		return r.json(line)
	}
	s, rest := takeStamp(line)
	if s.clock == noClock {
		if w, _ := field(rest); w == noise {
			return "", nil
		}
		return "", noStamp
	}
	at, p := r.time(&s)
	if p != nil {
		return "", p
	}
	return r.arrived(at, rest)
}

// json takes a line in JSON.
func (r *reader) json(line []byte) (kind string, p *problem) {
	rec, ok := recordOf(line)
	if !ok {
		return "", notAnEvent
	}
	at, p := r.time(&rec.stamp)
	if p != nil {
		return "", p
	}
	r.label = rec.id
	switch string(rec.event) {
	case "send", "sent", "request", "request_sent", "start", "begin":
		r.addSent(at)
		return "send", nil
	case "end", "close", "closed", "finish", "finished":
		r.close(at)
		return "end", nil
	}
	if rec.whole {
		r.chunk = rec.chunk
		return r.add(at)
	}
	if rec.data == nil {
		return "", notAnEvent
	}
	return r.arrived(at, rec.data)
}

// time returns the time of arrival of a line, in ns on the clock of the run.
func (r *reader) time(s *stamp) (at int64, p *problem) {
	if s.clock != r.survey.clock {
		return 0, otherClock
	}
	at = s.at
	switch s.clock {
	case relative:
		if at = at / r.survey.per; r.survey.since {
			at += r.last
		}
		if r.begun && at < r.last && r.current == nil {
			r.fresh = true
		}
	case daytime:
		if at += r.day; r.begun && at < r.last-12*3600e9 { // past midnight
			r.day += 24 * 3600e9
			at += 24 * 3600e9
		}
	}
	r.last, r.begun = at, true
	return at, nil
}

// arrived takes a text and the time of its arrival.
func (r *reader) arrived(at int64, b []byte) (kind string, p *problem) {
	w, body := field(b)
	switch w {
	case noise:
		return "", nil
	case named:
		r.event = append(r.event[:0], body...)
		return "", nil
	case sends:
		r.addSent(at)
		return "send", nil
	case answers:
		r.status(at, body)
		return "status", nil
	case ends:
		r.close(at)
		return "end", nil
	case done:
		s := r.answerAtHand()
		if s == nil {
			return "", notAnEvent
		}
		s.last, s.ended = at, true
		r.finish(s)
		return "end", nil
	case payload:
		if !r.chunk.read(body) {
			r.note(badPayload)
			r.chunk.begin()
			r.chunk.known = true
		}
		if string(r.event) == "error" {
			r.chunk.failed, r.chunk.known = true, true
		}
		r.event = r.event[:0]
		return r.add(at)
	}
	return "", notAnEvent
}

// addSent notes that a request was sent.
func (r *reader) addSent(at int64) {
	r.current = nil
	id := string(r.label[:min(len(r.label), trace.MaxText)])
	for i, q := range r.sent {
		if q.id == id || len(r.sent) >= maxOpen {
			r.sent = append(r.sent[:i], r.sent[i+1:]...)
			r.writeUnanswered(q)
			break
		}
	}
	r.sent = append(r.sent, send{id, at, r.off})
}

// status takes the HTTP status of an answer. Only an error begins one.
func (r *reader) status(at int64, code []byte) {
	if len(code) < 3 || code[0] != '4' && code[0] != '5' {
		return
	}
	s := r.begin(r.label)
	s.failed, s.class = true, append([]byte("HTTP "), code[:3]...)
	s.last = at
}

// end writes the answers that are still open.
func (r *reader) end() {
	if r.done = true; r.Fail != nil {
		return
	}
	for len(r.open) > 0 {
		r.finish(r.open[0])
	}
	for _, q := range r.sent {
		r.writeUnanswered(q)
	}
	if r.rows == 0 && r.run.NoRequests == "" {
		r.run.NoRequests = "no line is an event of a stream behind the time of its arrival"
	}
	r.Counts.Total = r.Counts.Parsed + r.Counts.Noise + r.Counts.Diagnosed
}

func (r *reader) note(p *problem) { r.writer.Note(p, r.off) }

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
