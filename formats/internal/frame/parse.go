package frame

import (
	"bytes"

	"servescope/formats/internal/json"
)

// parseCRI reads "TIME STREAM TAGS TEXT", the log format of the Kubernetes
// container runtime interface. The first of the tags, separated by colons, is P
// for a part that another follows and F for the last one.
func parseCRI(line, dst []byte) (p part, ok bool) {
	time, rest, ok := bytes.Cut(line, []byte{' '})
	if !ok || !isTime(time) {
		return p, false
	}
	name, rest, ok := bytes.Cut(rest, []byte{' '})
	if !ok {
		return p, false
	}
	if p.stream, ok = parseStream(name); !ok {
		return p, false
	}
	tags, text, _ := bytes.Cut(rest, []byte{' '})
	tag, _, _ := bytes.Cut(tags, []byte{':'})
	if string(tag) != "P" && string(tag) != "F" {
		return p, false
	}
	p.time, p.text, p.end = time, append(dst, text...), tag[0] == 'F'
	return p, true
}

// isTime reports whether b begins like RFC 3339: 2026-03-01T09:00:00.
func isTime(b []byte) bool {
	const shape = "0000-00-00T00:00:00"
	if len(b) < len(shape) {
		return false
	}
	for i := range len(shape) {
		if digit := b[i] >= '0' && b[i] <= '9'; digit != (shape[i] == '0') || !digit && b[i] != shape[i] {
			return false
		}
	}
	return true
}

// parseDocker reads {"log":"TEXT\n","stream":"stdout","time":"…"}, the lines of
// Docker's json-file driver; the members may come in any order and others among
// them, as log shippers write them. A text without its line end is a part.
func parseDocker(line, dst []byte) (p part, ok bool) {
	s := json.Scanner{B: line}
	var hasLog, hasStream bool
	whole := s.Each('{', '}', func() bool {
		key, ok := s.Key()
		if !ok {
			return false
		}
		switch string(key) {
		case "log":
			p.text, hasLog = s.AppendString(dst)
			ok = hasLog
		case "stream":
			var name []byte
			name, ok = s.String()
			p.stream, hasStream = parseStream(name)
		case "time":
			p.time, ok = s.String()
		default:
			_, ok = s.Skip()
		}
		return ok
	})
	if s.Space(); !whole || s.I < len(line) || !hasLog || !hasStream || !isTime(p.time) {
		return p, false
	}
	if n := len(p.text); n > 0 && p.text[n-1] == '\n' {
		p.text, p.end = p.text[:n-1], true
	}
	return p, true
}
