package frame

import (
	"bytes"

	"servescope/formats/internal/json"
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
func Envelope(start []byte) *Framing { return envelope(start, object, parseRow) }

// TextEnvelope is Envelope where the texts are lines of any kind.
func TextEnvelope(start []byte) *Framing { return envelope(start, line, parseCell) }

// content returns dst with what the text behind its first bytes holds.
type content func(text []byte, from int) ([]byte, bool)

func envelope(start []byte, in content, row func(line, dst, header []byte, column int) (part, bool)) *Framing {
	f := &Framing{Name: "records of a log collector"}
	f.parse = func(line, dst []byte) (part, bool) { return parseEnvelope(line, dst, in) }
	if first := bytes.TrimLeft(start, " \t\r\n"); len(first) == 0 || first[0] != '{' {
		header, _, _ := bytes.Cut(start, []byte{'\n'})
		column := columnOf(header)
		if column < 0 {
			return nil
		}
		header = bytes.Clone(header)
		f.quoted = true
		f.parse = func(line, dst []byte) (part, bool) { return row(line, dst, header, column) }
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

// columnOf returns which column a row names that is of lines, or -1.
func columnOf(row []byte) int {
	n := 0
	for cell := range bytes.SplitSeq(row, []byte{','}) {
		if among(bytes.Trim(cell, "\"\r ")) {
			return n
		}
		n++
	}
	return -1
}

// parseEnvelope reads a record in JSON. One that holds no content is not wrapped.
func parseEnvelope(line, dst []byte, in content) (p part, ok bool) {
	s := json.Scanner{B: line}
	found := false
	p.end = s.Each('{', '}', func() bool {
		key, ok := s.Key()
		if !ok {
			return false
		}
		if found || !among(key) || s.Kind() != json.String {
			_, ok = s.Skip()
			return ok
		}
		text, ok := s.AppendString(dst)
		if ok {
			p.text, found = in(text, len(dst))
		}
		return ok
	})
	return p, p.end && found
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
func parseRow(line, dst, header []byte, _ int) (p part, ok bool) {
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

// parseCell reads the cell of a row that is a line. The header is a line without text.
func parseCell(line, dst, header []byte, column int) (p part, ok bool) {
	if bytes.Equal(line, header) {
		return part{end: true}, true
	}
	for n, i := 0, 0; n <= column; n++ {
		text := dst
		if i < len(line) && line[i] == '"' {
			for i++; i < len(line); i++ {
				if line[i] == '"' {
					if i++; i == len(line) || line[i] != '"' {
						break
					}
				}
				text = append(text, line[i])
			}
		} else {
			for ; i < len(line) && line[i] != ','; i++ {
				text = append(text, line[i])
			}
		}
		switch {
		case n == column:
			return part{text: bytes.TrimRight(text, "\r\n"), end: true}, true
		case i == len(line) || line[i] != ',':
			return p, false
		}
		i++
	}
	return p, false
}

// line returns dst with the line that the text behind its first bytes is.
func line(text []byte, from int) ([]byte, bool) {
	return text[:from+len(bytes.TrimRight(text[from:], "\r\n"))], true
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
