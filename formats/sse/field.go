package sse

import "bytes"

// fieldKind is the kind of text that arrived.
type fieldKind uint8

const (
	other   fieldKind = iota
	noise             // blank lines, comments such as pings, fields of events without meaning here
	payload           // an object
	done              // the end mark
	sends             // the request was sent
	answers           // a status line
	ends              // the connection ended
	named             // the name of an event
)

// field classifies the text behind a stamp: a field of an event, a line of curl -v, or an
// object. body is the payload, the HTTP status or the name of the event.
func field(b []byte) (w fieldKind, body []byte) {
	b = bytes.TrimSpace(b)
	switch {
	case len(b) == 0, b[0] == ':':
		return noise, nil
	case bytes.HasPrefix(b, []byte("{ [")): // curl -v: { [102 bytes data]
		return noise, nil
	case b[0] == '{':
		return payload, b
	case bytes.HasPrefix(b, []byte("data:")):
		switch b = bytes.TrimSpace(b[5:]); {
		case string(b) == "[DONE]":
			return done, nil
		case len(b) > 0 && b[0] == '{':
			return payload, b
		case len(b) == 0:
			return noise, nil
		}
		return other, nil
	case bytes.HasPrefix(b, []byte("event:")):
		return named, bytes.TrimSpace(b[6:])
	case string(b) == "[DONE]":
		return done, nil
	case bytes.HasPrefix(b, []byte("> POST ")), bytes.HasPrefix(b, []byte("> GET ")):
		return sends, nil
	case bytes.HasPrefix(b, []byte("< HTTP/")):
		_, code, _ := bytes.Cut(b, []byte(" "))
		return answers, code
	case b[0] == '>', b[0] == '<', b[0] == '*', b[0] == '}', bytes.HasPrefix(b, []byte("id:")), bytes.HasPrefix(b, []byte("retry:")):
		return noise, nil
	}
	return other, nil
}
