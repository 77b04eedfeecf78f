package sglanglog

import (
	"bytes"

	"servescope/analyzer/trace"
	"servescope/formats/internal/linelog"
	"servescope/formats/internal/numx"
	"servescope/formats/internal/pyrepr"
)

// response is what the gateway says of one response.
type response struct{ id, status, latency []byte }

// gateway takes the line of a response of the gateway, formerly router:
//
//	http_request{method=POST … request_id="gnt-…" status_code=200 latency=3520254}: …: finished processing request
//
// latency is in µs, up to the headers of the response: the first byte of a stream,
// or all of an answer that is not streamed. The line is written then, so the
// request came that much earlier; the stamp's step moves both alike.
func (f *fold) gateway(r *linelog.Record) *linelog.Problem {
	var p response
	if r.Object != nil {
		if !pyrepr.Walk(r.Object, p.member) {
			return torn
		}
	} else {
		p.text(r.Message)
	}
	if len(p.latency) == 0 {
		return nil // "started processing request"
	}
	us, n, ok := numx.Scaled(p.latency, numx.Microsecond)
	switch {
	case r.Cut && r.Object == nil && !bytes.Contains(r.Message, []byte("}")):
		return torn
	case !ok || n != len(p.latency) || us < 0:
		return badStats
	}
	f.requests.seen = true
	b := f.rows
	b.Code(trace.SideCol, int32(trace.Proxy))
	if len(p.id) > 0 {
		b.Text(trace.RequestID, p.id)
	}
	if r.Timed {
		b.Int(trace.Received, r.T-us)
		b.Int(trace.FirstEvent, r.T)
	} else {
		b.Dict(trace.ClockCol, []byte(trace.RequestClock.String()))
		b.Int(trace.Received, 0)
		b.Int(trace.FirstEvent, us)
	}
	if code, _, ok := numx.ParseInt(p.status); ok && code >= 400 {
		b.Code(trace.StatusCol, int32(trace.Failed))
		b.Dict(trace.ErrorClass, append([]byte("http_"), p.status...))
	} else {
		b.Code(trace.StatusCol, int32(trace.OK))
	}
	b.Int(trace.Offset, r.Offset)
	b.EndRow()
	return nil
}

// member takes a value of a JSON record, whatever span it stands in.
func (p *response) member(path, value []byte, kind pyrepr.Kind) {
	switch string(path[bytes.LastIndexByte(path, '.')+1:]) {
	case "request_id":
		p.id = value
	case "status_code":
		p.status = value
	case "latency":
		p.latency = value
	}
}

// text takes the values of a line, which may be coloured.
func (p *response) text(msg []byte) {
	if bytes.IndexByte(msg, 0x1b) >= 0 {
		msg = plain(msg)
	}
	p.id = bytes.Trim(spanValue(msg, "request_id="), `"`)
	p.status = spanValue(msg, "status_code=")
	p.latency = spanValue(msg, "latency=")
}

// spanValue returns what stands behind a key up to a space or the span's end.
func spanValue(b []byte, key string) []byte {
	k := bytes.Index(b, []byte(key))
	if k < 0 {
		return nil
	}
	v := b[k+len(key):]
	if end := bytes.IndexAny(v, " }"); end >= 0 {
		v = v[:end]
	}
	return v
}

// plain returns b without colours.
func plain(b []byte) []byte {
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); i++ {
		if b[i] != 0x1b {
			out = append(out, b[i])
			continue
		}
		for i++; i < len(b) && (b[i] == '[' || b[i] == ';' || b[i]-'0' <= 9); i++ {
		}
	}
	return out
}
