package vllmlog

import (
	"bytes"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/internal/assemble"
	"servescope/formats/internal/linelog"
	"servescope/formats/internal/responses"
)

// requests puts rows together from request lines.
type requests struct {
	assembler *assemble.Assembler
	writer    *assemble.Writer
	rows      *trace.Builder
	events    assemble.Events
	row       assemble.Row
	ended     ended
	answer    responses.Parser // of printed objects
	limit     int              // of open requests
	seen      bool             // any request line
}

func newRequests(run *trace.RunMeta, log *linelog.Log, opt formats.Options) requests {
	rows := trace.NewBuilder(trace.Requests)
	w := &assemble.Writer{Notes: assemble.Notes{File: log.File(), Log: log.Diags()}, Builder: rows, Run: run, Lists: opt.Lists}
	a := assemble.NewAssembler(w, opt.Memory)
	a.Untold = true
	return requests{assembler: a, writer: w, rows: rows, limit: int(max(minOpen, opt.Memory/bytesOpen))}
}

// Most versions print no line when a request ends, so that all requests of a log
// may be open. No server has as many as minOpen at a time; each takes less than
// bytesOpen bytes.
const minOpen, bytesOpen = 1 << 16, 1 << 10

// fineEnough is the coarsest step of stamps, in ns, from which gaps between
// chunks are taken.
const fineEnough = 1e6

// The problems of request lines.
var (
	coarseDeltas = &linelog.Problem{Code: "coarse_stamps", Severity: diag.Notice,
		Msg: "the lines of streamed chunks have stamps too coarse for the gaps between them: these are unknown",
		Fix: "log with a fraction of seconds, or take the log from the container runtime, which stamps lines itself"}
	sampledPreemptions = &linelog.Problem{Code: "preemptions_sampled", Severity: diag.Notice,
		Msg: "preemptions are logged the first and every 50th time only: requests do not tell theirs"}
)

// take takes a request line. It reports false for another.
func (q *requests) take(f *fold, r *linelog.Record) (p *linelog.Problem, ok bool) {
	q.writer.Clock = f.run.Clock
	q.row.Reset(r.Offset)
	id := r.Text(id)
	switch r.Kind.Name {
	case "received":
		return q.received(r, id), true
	case "added":
		return q.add(r, assemble.Dispatched, id), true
	case "finished":
		return q.add(r, assemble.Finish, id), true
	case "aborted in the engine":
		return q.abortAll(r), true
	case "aborted":
		return q.add(r, assemble.Abort, id), true
	case "failed":
		if class := r.Text(reason); len(class) > 0 && len(class) <= 64 {
			q.row.SetText(trace.ErrorClass, class)
		}
		return q.add(r, assemble.Failure, id), true
	case "response":
		return q.response(r, id), true
	case "delta":
		return q.delta(f, r, id), true
	case "frontend finished":
		return q.frontend(r), true
	case "request statistics":
		return q.statistics(f, r), true
	case "preempted":
		f.log.Note(sampledPreemptions, r.Offset)
		if n, ok := r.Int(preemptions); ok {
			f.load.preemptions = max(f.load.preemptions, n)
		}
		return nil, true
	}
	return nil, false
}

func (q *requests) received(r *linelog.Record, id []byte) *linelog.Problem {
	q.ended.drop(id)
	setInt(&q.row, r, trace.MaxTokens, maxTokens)
	setInt(&q.row, r, trace.NChoices, choices)
	setInt(&q.row, r, trace.BeamSearch, beamSearch)
	if width, ok := r.Int(beamWidth); ok && width > 0 {
		q.row.SetInt(trace.BeamSearch, 1)
	}
	if name := r.Text(lora); len(name) > 0 {
		q.row.SetText(trace.LoRA, name)
	}
	if r.Resolution > 1 {
		q.row.SetInt(trace.Resolution, r.Resolution)
	}
	q.event(r, assemble.Arrival, id, -1)
	q.assembler.Expire(q.limit)
	return nil
}

func setInt(row *assemble.Row, r *linelog.Record, c trace.Col, slot int) {
	if v, ok := r.Int(slot); ok {
		row.SetInt(c, v)
	}
}

// add adds an event to the request that a line means by id. What comes after the
// end of its request says that once more, in another place of the server.
func (q *requests) add(r *linelog.Record, kind assemble.Kind, id []byte) *linelog.Problem {
	own, open := q.resolve(id)
	if !open {
		if q.ended.meant(id) {
			return nil
		}
		if r.Cut {
			return linelog.Truncated
		}
		if r.Resolution > 1 {
			q.row.SetInt(trace.Resolution, r.Resolution)
		}
	}
	if kind == assemble.Dispatched && open && further(id) {
		return nil
	}
	q.event(r, kind, own, -1)
	return nil
}

// event hands an event to the assembler.
func (q *requests) event(r *linelog.Record, kind assemble.Kind, id []byte, tokens int64) {
	q.seen = true
	e := &q.events
	e.Reset(r.Offset, nil)
	e.Add(assemble.Event{Hash: assemble.Hash(id), At: r.T, ID: e.Keep(id), Tokens: tokens, Kind: kind, Timed: r.Timed, Sort: -1}, &q.row)
	q.assembler.Fold(e)
	if kind >= assemble.Finish {
		q.ended.add(id)
	}
}

// abortAll takes the engine's line, which may name several requests.
func (q *requests) abortAll(r *linelog.Record) (p *linelog.Problem) {
	for list := r.Text(ids); len(list) > 0; {
		var id []byte
		id, list, _ = bytes.Cut(list, []byte{','})
		if p = q.add(r, assemble.Abort, id); p != nil {
			return p
		}
	}
	return nil
}

// response takes the line of a complete response. For a stream it does not say
// why it ended, but perhaps how many tokens it had.
func (q *requests) response(r *linelog.Record, id []byte) *linelog.Problem {
	if why := r.Text(finishReason); len(why) > 0 && string(why) != "streaming_complete" {
		q.row.SetText(trace.FinishReason, why)
	} else if string(why) == "streaming_complete" {
		q.row.SetInt(trace.Stream, 1)
	}
	if n, ok := r.Int(outputTokens); ok {
		q.row.SetInt(trace.OutputTokens, n)
		q.row.SetInt(trace.OutputTokensSource, int64(trace.FromServer))
	}
	return q.add(r, assemble.Finish, id)
}

// delta takes the line of one chunk of a stream.
func (q *requests) delta(f *fold, r *linelog.Record, id []byte) *linelog.Problem {
	if r.Resolution > fineEnough || !r.Timed {
		f.log.Note(coarseDeltas, r.Offset)
		return nil
	}
	return q.add(r, assemble.Token, id)
}

// frontend takes the line of the Rust frontend, the only one that counts tokens.
//
//	http{request_id=chatcmpl-9f}: chat completion finished stream=true …
func (q *requests) frontend(r *linelog.Record) *linelog.Problem {
	_, rest, ok := bytes.Cut(r.Message, []byte("request_id="))
	if !ok {
		return noID
	}
	end := bytes.IndexAny(rest, " ,}")
	if end <= 0 || end > trace.MaxText {
		return noID
	}
	setInt(&q.row, r, trace.PromptTokens, promptTokens)
	setInt(&q.row, r, trace.OutputTokens, outputTokens)
	setInt(&q.row, r, trace.Stream, stream)
	q.row.SetInt(trace.OutputTokensSource, int64(trace.FromServer))
	if why := r.Text(finishReason); len(why) > 0 {
		q.row.SetText(trace.FinishReason, why)
	}
	if name := r.Text(modelName); len(name) > 0 {
		q.row.SetText(trace.Model, name)
	}
	return q.add(r, assemble.Finish, bytes.Trim(rest[:end], `"`))
}

// statistics takes an object with the times of a request.
func (q *requests) statistics(f *fold, r *linelog.Record) *linelog.Problem {
	text := r.Message
	if !bytes.HasPrefix(text, []byte("RequestOutput(")) {
		for _, name := range statistics {
			if k := bytes.Index(text, []byte(name)); k >= 0 {
				text = text[k:]
			}
		}
	}
	q.answer.Begin()
	whole := q.answer.Repr(text)
	switch k := q.answer.Kind(); {
	case r.Cut:
		return linelog.Truncated
	case !whole:
		return torn
	case k != responses.FinishedRequestStats && k != responses.RequestMetrics && k != responses.RequestStateStats:
		return timeless
	}
	q.seen = true
	q.answer.Rows(q.rows, r.Offset, func(p *assemble.Problem) { f.log.Note((*linelog.Problem)(p), r.Offset) })
	return nil
}

// The problems of printed objects.
var (
	timeless = &linelog.Problem{Code: "no_statistics", Severity: diag.Notice, Msg: "the output of a request is printed without its times",
		Fix: "make the engine with disable_log_stats=False"}
	torn = &linelog.Problem{Code: "torn_record", Severity: diag.DataLoss, Msg: "an object with the times of a request is cut off, or another writer's text is in it: it was skipped"}
)

var noID = &linelog.Problem{Code: "no_request_id", Severity: diag.DataLoss, Msg: "a line about a request does not name it and was skipped"}

// batch returns rows that are ready, or nil.
func (q *requests) batch(f *fold, all bool) *trace.Batch {
	if all {
		q.assembler.Flush(func() bool { return linelog.Ready(q.rows, false) })
	}
	if linelog.Ready(q.rows, all) {
		return q.rows.Take(f.run, f.log.File())
	}
	return nil
}
