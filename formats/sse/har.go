package sse

import (
	"bytes"
	"context"
	"io"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/internal/assemble"
	"servescope/formats/internal/json"
	"servescope/formats/internal/mapping"
	"servescope/formats/internal/numx"
	"servescope/formats/internal/records"
)

// An HTTP archive (HAR 1.2), which browsers and proxies export, has the beginning and the
// duration of each request in ms, and the whole answer without times for its parts. The
// wait in its timings ends with the head of the answer, not with a token. Exported
// _eventSourceMessages have times of arrival in s since 1970.

const maxEntry = 64 << 20 // largest entry in bytes; the answer is part of it

const eventStream = "text/event-stream"

var (
	tornEntry = &problem{Code: "truncated", Severity: diag.DataLoss,
		Msg: "an entry of the archive is broken, cut off or too long: this entry and all later ones were not read"}
	noArrivals = &problem{Code: "no_arrivals", Severity: diag.Notice,
		Msg: "an archive has no times for the parts of an answer: there is no time to first token and none between tokens", Fix: "record with curl --trace-time --trace-ascii FILE, or export _eventSourceMessages"}
	noBeginning = &problem{Code: "no_start", Severity: diag.DataLoss,
		Msg: "an entry has no startedDateTime with a zone, or no time: it was skipped"}
)

// isArchive reports whether a head is that of an HTTP archive.
func isArchive(h *formats.Head) bool {
	keys := h.Keys()
	return len(keys) > 0 && keys[0].Name == "log" && keys[0].Kind == formats.Object &&
		bytes.Contains(h.Start, []byte(`"entries"`)) && bytes.Contains(h.Start, []byte(`"startedDateTime"`))
}

// archive reads an HTTP archive.
type archive struct {
	*reader
	in records.Input
}

func openArchive(ctx context.Context, rc io.ReadCloser, name string, opt formats.Options) *archive {
	r := &reader{ctx: ctx, src: rc, file: name, survey: survey{clock: epoch}, step: 1e6} // resolution of startedDateTime
	r.Counts.Kinds = make(map[string]int64)
	r.run = trace.RunMeta{Format: "sse", Side: trace.Client, Clock: trace.Clock{Kind: trace.Wall}}
	r.writer = assemble.Writer{Notes: assemble.Notes{File: name, Log: &r.Log}, Builder: trace.NewBuilder(trace.Requests), Run: &r.run, Clock: r.run.Clock, Lists: opt.Lists}
	a := &archive{r, records.Input{Ctx: ctx, R: rc, Size: 256 << 10}}
	if opt.Block > 0 {
		a.in.Size = opt.Block
	}
	return a
}

// Next implements formats.Reader.
func (a *archive) Next() bool {
	b := a.writer.Builder
	for !a.done && b.Rows() < 4096 && b.ListLen(trace.ChunkGaps) < 1<<19 {
		if !a.entry() {
			if a.Fail = a.in.Err; a.run.NoRequests == "" && a.rows == 0 {
				a.run.NoRequests = "no entry of the archive is a request to an API that generates tokens"
			}
			a.done = true
			a.Counts.Total = a.Counts.Parsed + a.Counts.Noise + a.Counts.Diagnosed
		}
	}
	if b.Rows() == 0 {
		return false
	}
	a.Current = b.Take(&a.run, a.file)
	return true
}

// entry reads the next entry. It reports false at the end.
func (a *archive) entry() bool {
	if a.in.Off == 0 && a.in.I == 0 && !a.seek() {
		return false
	}
	for a.in.I < len(a.in.Buf) || a.in.More() {
		switch a.in.Buf[a.in.I] {
		case ' ', '\t', '\r', '\n', ',':
			a.in.I++
			continue
		case '{':
		default:
			return false // the list has ended
		}
		a.off = a.in.At()
		for {
			text := a.in.Buf[a.in.I:]
			n, ok := json.Walk(text, 0, a.chunk.ignore)
			if ok {
				a.take(text[:n])
				a.in.I += n
				return true
			}
			if n < len(text) || len(text) > maxEntry || !a.in.More() {
				a.skip(tornEntry)
				return false
			}
		}
	}
	a.off = a.in.At()
	a.skip(tornEntry)
	return false
}

// seek moves to the first entry. It reports false if there is none.
func (a *archive) seek() bool {
	name := []byte(`"entries"`)
	for {
		if k := bytes.Index(a.in.Buf, name); k >= 0 {
			rest := bytes.TrimLeft(a.in.Buf[k+len(name):], " \t\r\n:")
			if len(rest) > 0 {
				a.in.I = len(a.in.Buf) - len(rest) + 1
				return rest[0] == '['
			}
		}
		if len(a.in.Buf) > maxEntry || !a.in.More() {
			a.off = a.in.At()
			a.skip(tornEntry)
			return false
		}
	}
}

// skip accounts for an entry that cannot be read.
func (a *archive) skip(p *problem) {
	if a.in.Err == nil {
		a.Counts.Diagnosed++
		a.note(p)
	}
}

// exchange is a request and its answer in an entry.
type exchange struct {
	method, url, mime, started, took, status, text []byte
}

func (x *exchange) value(path, raw []byte, _ formats.Kind) {
	switch string(path) {
	case "startedDateTime":
		x.started = raw
	case "time":
		x.took = raw
	case "request.method":
		x.method = raw
	case "request.url":
		x.url = raw
	case "response.status":
		x.status = raw
	case "response.content.mimeType":
		x.mime = raw
	case "response.content.text":
		x.text = raw
	}
}

// generates reports whether the request is for tokens.
func (x *exchange) generates() bool {
	if string(x.method) != "POST" {
		return false
	}
	path, _, _ := bytes.Cut(x.url, []byte("?"))
	for _, end := range [...]string{"/completions", "/responses", "/messages", "/generate", "/generate_stream", "/api/chat"} {
		if bytes.HasSuffix(bytes.TrimRight(path, "/"), []byte(end)) {
			return true
		}
	}
	return bytes.HasPrefix(x.mime, []byte(eventStream))
}

// take makes the row of an entry.
func (a *archive) take(text []byte) {
	var x exchange
	json.Walk(text, 0, x.value)
	if !x.generates() {
		a.Counts.Noise++
		return
	}
	from, zoned, ok := mapping.Date(x.started)
	took, n, timed := numx.Scaled(x.took, numx.Millisecond)
	if !ok || !zoned || !timed || n != len(x.took) || took < 0 {
		a.skip(noBeginning)
		return
	}
	a.Counts.Parsed++
	a.Counts.Kinds["request"]++
	a.label = nil
	a.addSent(from)
	s := a.begin(nil)
	s.whole = !bytes.HasPrefix(x.mime, []byte(eventStream))
	if len(x.status) == 3 && x.status[0] >= '4' {
		s.failed, s.class = true, append([]byte("HTTP "), x.status...)
	}
	if !a.messages(s, text, from, from+took) {
		a.note(noArrivals)
		s.silent = true
		a.takeUntimed(s, json.Text(x.text))
	}
	s.last, s.ended = from+took, len(x.status) == 3 && x.status[0] == '2'
	a.finish(s)
}

// messages takes the events of an entry whose times lie within it. It reports false if
// there are none.
func (a *archive) messages(s *stream, text []byte, from, till int64) bool {
	i := json.List(text, "_eventSourceMessages")
	if i < 0 {
		return false
	}
	const slack = int64(1e9) // between the two clocks of a browser
	before := a.rows
	records.Each(text, i, func(element []byte, _ int) {
		var data, at []byte
		json.Walk(element, 0, func(path, raw []byte, _ formats.Kind) {
			switch string(path) {
			case "data":
				data = json.Text(raw)
			case "time":
				at = raw
			}
		})
		t, n, ok := numx.Scaled(at, numx.Second)
		if w, body := field(data); w == payload && ok && n == len(at) && t >= from-slack && t <= till+slack && a.rows == before && a.chunk.read(body) && a.chunk.known {
			if s.id == "" {
				s.id = string(a.chunk.id[:min(len(a.chunk.id), trace.MaxText)])
			}
			s.add(&a.chunk, t)
		}
	})
	return s.events > 0
}
