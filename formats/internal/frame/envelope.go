package frame

import (
	"bytes"
)

// envelopes are the members under which what collects logs keeps the line of a process,
// in the records of CloudWatch, Loki, Fluentd, Cloud Logging, journald, Splunk.
var envelopes = []string{"message", "@message", "log", "line", "textPayload", "MESSAGE", "_raw", "msg"}

const (
	firstLines = 32  // of a text, by which an envelope is known
	mostBefore = 200 // bytes of a stamp or a level in front of an object
)

// Envelope returns the framing of a text whose lines are objects, or rows of a table
// parted by commas, that hold further ones as text: a quarter of the first lines at least,
// since the process writes others, too. It is nil where they hold none.
func Envelope(start []byte) *Framing {
	f := &Framing{Name: "records of a log collector", parse: parseEnvelope}
	if first := bytes.TrimLeft(start, " \t\r\n"); len(first) == 0 || first[0] != '{' {
		header, _, _ := bytes.Cut(start, []byte{'\n'})
		if !isHeader(header) {
			return nil
		}
		header = bytes.Clone(header)
		f.quoted = true
		f.parse = func(line, dst []byte) (part, bool) { return parseRow(line, dst, header) }
	}
	s := NewScanner(bytes.NewReader(start), f, len(start))
	lines, n := 0, 0
	for ; lines < firstLines && s.Next(); lines++ {
		if line := s.Line(); line.Flaw == Sound && len(line.Text) > 0 {
			n++
		}
	}
	if n == 0 || 4*n < lines {
		return nil
	}
	return f
}

// isHeader tells whether a row names a column of lines.
func isHeader(row []byte) bool {
	for cell := range bytes.SplitSeq(row, []byte{','}) {
		cell = bytes.Trim(cell, "\"\r ")
		for _, name := range envelopes {
			if string(cell) == name {
				return true
			}
		}
	}
	return false
}

// parseEnvelope reads a record in JSON. One that holds no object is not wrapped.
func parseEnvelope(line, dst []byte) (p part, ok bool) {
	s := scan{b: line}
	if !s.take('{') {
		return p, false
	}
	for found := false; ; {
		key, ok := s.raw()
		if !ok || !s.take(':') {
			return p, false
		}
		s.space()
		if !found && among(key) && s.i < len(s.b) && s.b[s.i] == '"' {
			var text []byte
			if text, ok = s.unquote(dst); ok {
				p.text, found = object(text, len(dst))
			}
		} else {
			ok = s.skip()
		}
		switch {
		case !ok:
			return p, false
		case s.take(','):
			continue
		}
		p.end = true
		return p, found && s.take('}')
	}
}

func among(key []byte) bool {
	for _, name := range envelopes {
		if string(key) == name {
			return true
		}
	}
	return false
}

// parseRow reads a row of a table. The header is a line without text.
func parseRow(line, dst []byte, header []byte) (p part, ok bool) {
	if bytes.Equal(line, header) {
		return part{end: true}, true
	}
	for i := 0; i < len(line); {
		if line[i] != '"' {
			k := bytes.IndexByte(line[i:], ',')
			if k < 0 {
				break
			}
			i += k + 1
			continue
		}
		text := dst
		for i++; i < len(line); i++ {
			if line[i] == '"' {
				if i++; i == len(line) || line[i] != '"' {
					break
				}
			}
			text = append(text, line[i])
		}
		if own, ok := object(text, len(dst)); ok {
			return part{text: own, end: true}, true
		}
		if i < len(line) && line[i] == ',' {
			i++
		}
	}
	return p, false
}

// object returns dst with the object of JSON that the text behind its first bytes ends
// with, on one line.
func object(text []byte, from int) ([]byte, bool) {
	own := bytes.TrimSpace(text[from:])
	if len(own) < 2 || own[len(own)-1] != '}' {
		return nil, false
	}
	if own[0] != '{' {
		k := bytes.Index(own[:min(len(own), mostBefore)], []byte(`{"`))
		if k < 0 {
			return nil, false
		}
		own = own[k:]
	}
	if rest := bytes.TrimLeft(own[1:], " \t\r\n"); rest[0] != '"' {
		return nil, false
	}
	for i, c := range own {
		if c == '\n' || c == '\r' { // within no string
			own[i] = ' '
		}
	}
	return append(text[:from], own...), true
}
