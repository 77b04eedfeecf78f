package sse

import (
	"bytes"
	"context"
	"io"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
	"servescope/formats"
	"servescope/formats/internal/assemble"
	"servescope/formats/internal/jsonrows"
	"servescope/formats/internal/numx"
)

// mitmproxy (mitmdump -w, "save flows") appends a flow after the other, each a dictionary
// in the notation of tagged netstrings: the length in decimal digits, a colon, as many
// bytes, and a letter for the type:
//
//	52:4:type;4:http;8:response;27:15:timestamp_start;… }
//
// A flow has four stamps in s since 1970: the beginning and the end of the request, the
// arrival of the head of the response, and its end. The body of a response is there as a
// whole without times for its parts, so there is no time of a token; the head of a
// response comes before the first of them. The proxy stamps what it receives.

// floatStep is the step in ns of a float64 that holds seconds since the epoch.
const floatStep = 238

var (
	tornFlow = &problem{Code: "truncated", Severity: diag.DataLoss,
		Msg: "a flow is broken or cut off: it and what follows were not read"}
	longFlow = &problem{Code: "flow_too_long", Severity: diag.DataLoss,
		Msg: "a flow is longer than 64 MiB and was skipped"}
	timelessFlow = &problem{Code: "no_start", Severity: diag.DataLoss,
		Msg: "a flow does not say when its request began: it was skipped"}
	noParts = &problem{Code: "no_arrivals", Severity: diag.Notice,
		Msg: "mitmproxy keeps no times for the parts of a response: there is no time to first token and none between tokens", Fix: "record with curl --trace-time --trace-ascii FILE"}
	encodedBody = &problem{Code: "encoded_body", Severity: diag.Notice,
		Msg: "the body of a response is compressed: what it says of tokens is not read", Fix: "have mitmdump save it with --anticomp"}
)

// netstring cuts the value that b begins with into its bytes, its type and what
// follows. more is whether it is cut off.
func netstring(b []byte) (value []byte, kind byte, rest []byte, more, ok bool) {
	n, i := 0, 0
	for ; i < len(b) && i < 12 && b[i]-'0' <= 9; i++ {
		n = 10*n + int(b[i]-'0')
	}
	switch {
	case i == len(b):
		return nil, 0, nil, i < 12, false
	case i == 0 || b[i] != ':':
		return nil, 0, nil, false, false
	case len(b)-i-2 < n:
		return nil, 0, nil, true, false
	}
	end := i + 1 + n
	return b[i+1 : end], b[end], b[end+1:], false, true
}

// members calls f for each member of a dictionary.
func members(b []byte, f func(name string, value []byte, kind byte)) bool {
	for len(b) > 0 {
		name, _, rest, _, ok := netstring(b)
		if !ok {
			return false
		}
		value, kind, rest, _, ok := netstring(rest)
		if !ok {
			return false
		}
		f(string(name[:min(len(name), 64)]), value, kind)
		b = rest
	}
	return true
}

// isFlows tells whether a head is of flows that mitmproxy saved.
func isFlows(h *formats.Head) bool {
	i := bytes.IndexByte(h.Start, ':')
	if i < 2 || i > 11 || h.Start[0]-'0' > 9 {
		return false
	}
	name, kind, _, _, ok := netstring(h.Start[i+1:])
	if !ok || kind != ';' && kind != ',' {
		return false
	}
	_, _, _, more, ok := netstring(h.Start)
	if !ok && !more {
		return false
	}
	for _, known := range [...]string{"websocket", "request", "response", "error", "id", "type", "version", "client_conn", "server_conn", "intercepted", "marked", "metadata", "is_replay", "comment", "timestamp_created", "backup", "messages"} {
		if string(name) == known {
			return bytes.Contains(h.Start, []byte(":timestamp_start")) || !h.Whole()
		}
	}
	return false
}

// flows reads what mitmproxy saved.
type flows struct {
	*reader
	in    jsonrows.Input
	heads int64 // time to the head of responses that followed, in ns
	n     int64 // of these
}

func openFlows(ctx context.Context, rc io.ReadCloser, name string, opt formats.Options) *flows {
	r := &reader{ctx: ctx, src: rc, file: name, survey: survey{clock: epoch}, step: floatStep}
	r.account.Kinds = make(map[string]int64)
	r.run = trace.RunMeta{Format: "sse", Side: trace.Proxy, Clock: trace.Clock{Kind: trace.Wall}}
	r.writer = assemble.Writer{Notes: assemble.Notes{File: name, Log: &r.diags}, Builder: trace.NewBuilder(trace.Requests), Run: &r.run, Clock: r.run.Clock, Lists: opt.Lists}
	f := &flows{reader: r, in: jsonrows.Input{Ctx: ctx, R: rc, Size: 256 << 10}}
	if opt.Block > 0 {
		f.in.Size = opt.Block
	}
	return f
}

// Next implements formats.Reader.
func (f *flows) Next() bool {
	b := f.writer.Builder
	for !f.done && b.Rows() < 4096 {
		if !f.flow() {
			f.finishFlows()
		}
	}
	if b.Rows() == 0 {
		return false
	}
	f.batch = b.Take(&f.run, f.file)
	return true
}

func (f *flows) finishFlows() {
	f.done, f.err = true, f.in.Err
	if f.rows == 0 {
		f.run.NoRequests = "no flow is a request to an API that generates tokens"
	}
	if f.n > 0 {
		f.run.Reported = append(f.run.Reported, trace.Reported{Key: "response.timestamp_start after request.timestamp_start", Stat: "mean", Value: float64(f.heads) / float64(f.n), Unit: unit.Nanosecond})
		f.run.Notes = append(f.run.Notes, "head: the head of a response comes before its first token: TTFT is at least the time to that, and at most that to the end")
	}
	f.account.Total = f.account.Parsed + f.account.Noise + f.account.Diagnosed
}

// flow reads the next flow, and reports whether there is one.
func (f *flows) flow() bool {
	for {
		text := f.in.Buf[f.in.I:]
		f.off = f.in.At()
		value, kind, rest, more, ok := netstring(text)
		switch {
		case ok && len(value) <= maxEntry && kind == '}':
			f.in.I = len(f.in.Buf) - len(rest)
			f.take(value)
			return true
		case length(text) > maxEntry:
			return f.drop(length(text))
		case !ok && (more || len(text) == 0) && f.in.More():
			continue
		case f.in.Err == nil && len(bytes.TrimSpace(text)) > 0:
			f.account.Diagnosed++
			f.note(tornFlow)
		}
		return false
	}
}

// length returns how long the netstring is that a text begins with, 0 where it does
// not say.
func length(text []byte) int64 {
	n, digits, ok := numx.ParseInt(text)
	if !ok || digits > 11 || digits == len(text) || text[digits] != ':' {
		return 0
	}
	return n + int64(digits) + 2
}

// drop skips a flow of so many bytes. It reports false at the end.
func (f *flows) drop(left int64) bool {
	f.account.Diagnosed++
	for f.note(longFlow); left > 0; {
		k := min(left, int64(len(f.in.Buf)-f.in.I))
		f.in.I += int(k)
		if left -= k; left > 0 && k == 0 && !f.in.More() {
			return false
		}
	}
	return true
}

// message is what a flow says of a request or a response.
type message struct {
	method, path, status, body []byte
	mime, encoding             []byte
	began, ended               int64
	there, starts, ends, whole bool
}

func (m *message) read(b []byte, kind byte) {
	if kind != '}' {
		return
	}
	m.there = true
	members(b, func(name string, value []byte, kind byte) {
		switch name {
		case "method":
			m.method = value
		case "path":
			m.path = value
		case "status_code", "code":
			m.status = value
		case "content":
			m.body, m.whole = value, kind != '~'
		case "timestamp_start":
			m.began, m.starts = seconds(value, kind)
		case "timestamp_end":
			m.ended, m.ends = seconds(value, kind)
		case "headers":
			m.headers(value)
		}
	})
}

// headers reads a list of pairs.
func (m *message) headers(b []byte) {
	for len(b) > 0 {
		pair, _, rest, _, ok := netstring(b)
		if b = rest; !ok {
			return
		}
		name, _, after, _, ok := netstring(pair)
		value, _, _, _, ok2 := netstring(after)
		switch {
		case !ok || !ok2:
		case bytes.EqualFold(name, []byte("content-type")):
			m.mime = value
		case bytes.EqualFold(name, []byte("content-encoding")):
			m.encoding = value
		}
	}
}

func seconds(b []byte, kind byte) (int64, bool) {
	if kind != '^' && kind != '#' {
		return 0, false
	}
	ns, n, ok := numx.Seconds(b)
	return ns, ok && n == len(b) && ns > 0
}

// take makes the row of a flow.
func (f *flows) take(flow []byte) {
	var request, response message
	var cause []byte
	http := true
	whole := members(flow, func(name string, value []byte, kind byte) {
		switch {
		case name == "type":
			http = string(value) == "http"
		case name == "request":
			request.read(value, kind)
		case name == "response":
			response.read(value, kind)
		case name == "error" && kind == '}':
			members(value, func(name string, value []byte, _ byte) {
				if name == "msg" {
					cause = value
				}
			})
		}
	})
	x := exchange{method: request.method, url: request.path, mime: response.mime}
	switch {
	case whole && (!http || !x.generates()):
		f.account.Noise++
		return
	case !whole || !request.starts:
		f.account.Diagnosed++
		f.note(timelessFlow)
		return
	}
	f.account.Parsed++
	f.account.Kinds["request"]++
	f.label = nil
	f.began(request.began)
	s := f.begin(nil)
	s.proxy, s.silent = true, true
	s.whole = !bytes.HasPrefix(response.mime, []byte(eventStream))
	f.answer(s, &request, &response, cause)
	f.finish(s)
}

// answer tells how a request ended.
func (f *flows) answer(s *stream, request, response *message, cause []byte) {
	if len(response.status) == 3 && response.status[0] >= '4' {
		s.failed, s.class = true, append([]byte("HTTP "), response.status...)
	} else if s.aborted = bytes.Contains(bytes.ToLower(cause), []byte("client")); cause != nil && !s.aborted {
		s.failed, s.class = true, []byte("connection")
	}
	s.timeless = !response.ends || response.ended < request.began
	if !s.timeless {
		s.last, s.ended = response.ended, !s.failed
	}
	if !response.there || s.failed {
		return
	}
	if f.note(noParts); response.starts && !s.whole && response.began >= request.began {
		f.heads, f.n = f.heads+response.began-request.began, f.n+1
	}
	if e := response.encoding; len(e) > 0 && !bytes.EqualFold(e, []byte("identity")) {
		f.note(encodedBody)
		return
	}
	last := s.last
	f.tell(s, response.body)
	s.last = last
}
