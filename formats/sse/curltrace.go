package sse

import (
	"bytes"

	"servescope/formats/internal/json"
)

// sectionKind is the kind of a section of a trace of curl: a line that announces what
// follows, then lines with that. The lines of --trace-ascii have an offset and up to 64
// bytes. Bytes outside ASCII and line feeds are written as points, but a line feed behind
// a carriage return ends the line instead, and both are left out. The lines of --trace
// have an offset, up to 16 bytes in hexadecimal, and the same bytes as text.
type sectionKind uint8

const (
	nothing sectionKind = iota
	info
	sendHeader
	recvHeader
	recvData
	otherSection // any other section
)

// sectionOf returns the kind of the section that a line announces, or nothing.
func sectionOf(rest []byte) sectionKind {
	if len(rest) > 0 && rest[0] == '[' { // numbers of the transfer and the connection
		if k := bytes.IndexByte(rest, ']'); k >= 0 && k < 40 {
			rest = bytes.TrimLeft(rest[k+1:], " ")
		}
	}
	switch {
	case bytes.HasPrefix(rest, []byte("== Info")):
		return info
	case bytes.HasPrefix(rest, []byte("=> Send header")):
		return sendHeader
	case bytes.HasPrefix(rest, []byte("<= Recv header")):
		return recvHeader
	case bytes.HasPrefix(rest, []byte("<= Recv data")):
		return recvData
	case bytes.HasPrefix(rest, []byte("=> Send ")), bytes.HasPrefix(rest, []byte("<= Recv ")):
		return otherSection
	}
	return nothing
}

// maxPending is the largest event, in bytes, that is put together.
const maxPending = 8 << 20

// curlTrace puts the events of a trace of curl together.
type curlTrace struct {
	kind    sectionKind
	at      int64
	expect  int
	pending []byte
}

// isDumped reports whether a line has an offset and bytes.
func isDumped(line []byte) bool {
	k := bytes.IndexByte(line, ':')
	return k >= 4 && k <= 8 && len(line) > k+1 && line[k+1] == ' ' && hex(line[:k]) >= 0
}

// hex reads a hexadecimal number. It returns -1 if b is none.
func hex(b []byte) int {
	v := 0
	for _, c := range b {
		switch {
		case c-'0' <= 9:
			v = v<<4 | int(c-'0')
		case c >= 'a' && c <= 'f':
			v = v<<4 | int(c-'a'+10)
		default:
			return -1
		}
	}
	return v
}

// hexWidth is the width, in characters, of the hexadecimal bytes in a line of --trace.
const hexWidth = 16 * len("00 ")

// bytesOf returns the bytes in a line of --trace, behind its offset. It reports false for
// a line of --trace-ascii.
func bytesOf(text []byte) (b []byte, ok bool) {
	n := len(text) - hexWidth // the text behind has a character for each byte
	if n < 1 || n > 16 {
		return nil, false
	}
	for i := range n {
		v := hex(text[3*i : 3*i+2])
		if v < 0 || text[3*i+2] != ' ' {
			return nil, false
		}
		b = append(b, byte(v))
	}
	return b, len(bytes.TrimSpace(text[3*n:hexWidth])) == 0
}

// take takes a line of the trace.
func (d *curlTrace) take(r *reader, line []byte) (kind string, p *problem) {
	if s, rest := takeStamp(line); s.clock != noClock {
		if k := sectionOf(rest); k != nothing {
			at, p := r.time(&s)
			if p != nil {
				return "", p
			}
			d.kind, d.at, d.expect = k, at, 0
			if k == info && (bytes.Contains(rest, []byte("left intact")) || bytes.Contains(rest, []byte("losing connection"))) {
				d.pending = d.pending[:0]
				r.close(at)
				return "end", nil
			}
			return "", nil
		}
	}
	if !isDumped(line) {
		return "", notAnEvent
	}
	k := bytes.IndexByte(line, ':')
	off, text := hex(line[:k]), line[k+2:]
	if b, ok := bytesOf(text); ok {
		text = b
	}
	switch {
	case off == 0 && d.kind == sendHeader && (bytes.HasPrefix(text, []byte("POST ")) || bytes.HasPrefix(text, []byte("GET "))):
		d.pending = d.pending[:0]
		r.addSent(d.at)
		return "send", nil
	case off == 0 && d.kind == recvHeader && bytes.HasPrefix(text, []byte("HTTP/")):
		_, code, _ := bytes.Cut(text, []byte(" "))
		r.status(d.at, code)
		return "status", nil
	case d.kind != recvData:
		return "", nil
	}
	if off == d.expect+2 {
		d.pending = append(d.pending, '\r', '\n')
	}
	d.pending = append(d.pending, text...)
	d.expect = off + len(text)
	return d.events(r)
}

// events takes the events that have arrived in full.
func (d *curlTrace) events(r *reader) (kind string, p *problem) {
	for {
		b := d.pending
		from := bytes.Index(b, []byte("data:"))
		if bare := bytes.TrimLeft(b, " .\r\n0123456789abcdef"); from < 0 && len(bare) > 0 && bare[0] == '{' {
			from = len(b) - len(bare)
		} else if from >= 0 {
			if bytes.Contains(b[:from], []byte("event: error")) {
				r.event = append(r.event[:0], "error"...)
			}
			from += 5
			from += len(b[from:]) - len(bytes.TrimLeft(b[from:], " "))
		}
		switch {
		case from < 0 || from == len(b):
			if len(b) > maxPending {
				d.pending = b[:0]
				return kind, tooLong
			}
			return kind, nil
		case bytes.HasPrefix(b[from:], []byte("[DONE]")):
			kind, p = r.arrived(d.at, []byte("[DONE]"))
			from += 6
		case b[from] == '{':
			end, ok := json.Walk(b, from, r.chunk.ignore)
			switch {
			case ok:
				kind, p = r.arrived(d.at, b[from:end])
			case end >= len(b) && len(b) < maxPending:
				return kind, p // the rest is to come
			default:
				p = badPayload
				end = from + 1
			}
			from = end
		case len(b) < from+6 && bytes.HasPrefix([]byte("[DONE]"), b[from:]):
			return kind, p
		}
		d.pending = append(b[:0], b[from:]...)
		if p != nil {
			return kind, p
		}
	}
}
