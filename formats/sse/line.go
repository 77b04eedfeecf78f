package sse

import (
	"bytes"

	"servescope/formats"
	"servescope/formats/internal/json"
	"servescope/formats/internal/mapping"
	"servescope/formats/internal/numx"
)

// clock is what stamps count from.
type clock uint8

const (
	noClock  clock = iota
	relative       // some beginning, in the unit of the survey
	epoch          // 1970
	daytime        // midnight
)

// stamp is when a line was written.
type stamp struct {
	clock  clock
	at     int64 // ns; of relative ones, the number times 10^9
	digits int   // behind the point
}

// take takes the stamp off the beginning of a line.
func take(line []byte) (s stamp, rest []byte) {
	b := bytes.TrimLeft(line, " \t")
	closing := byte(0)
	if len(b) > 0 && (b[0] == '[' || b[0] == '(') {
		closing = b[0] + 2 // ]
		if b[0] == '(' {
			closing = ')'
		}
		b = b[1:]
	}
	n := 0
	for n < len(b) && n < 40 && (b[n]-'0' <= 9 || bytes.IndexByte([]byte(".,:-+TZ"), b[n]) >= 0) {
		n++
	}
	if n >= 10 && n+9 < len(b) && b[n] == ' ' && b[n+3] == ':' { // a date with a space in it
		for n++; n < len(b) && n < 40 && (b[n]-'0' <= 9 || bytes.IndexByte([]byte(".,:-+Z"), b[n]) >= 0); {
			n++
		}
	}
	if closing != 0 {
		n = bytes.IndexByte(b[:min(len(b), 40)], closing)
	}
	if n <= 0 || n < len(b) && bytes.IndexByte([]byte(" \t])"), b[n]) < 0 {
		return s, line
	}
	text := bytes.TrimSuffix(b[:n], []byte(":"))
	rest = b[n:]
	if closing != 0 {
		if len(rest) == 0 || rest[0] != closing {
			return s, line
		}
		rest = rest[1:]
	}
	if s = stampOf(text); s.clock == noClock {
		return s, line
	}
	return s, bytes.TrimLeft(rest, " \t")
}

// stampOf reads a stamp.
func stampOf(b []byte) (s stamp) {
	if k := bytes.LastIndexByte(b, '.'); k >= 0 {
		for _, c := range b[k+1:] {
			if c-'0' > 9 {
				break
			}
			s.digits++
		}
	}
	if v, n, ok := numx.Scaled(b, numx.Second); ok && n == len(b) && v >= 0 {
		s.clock, s.at = relative, v
		if v >= 1e18 {
			s.clock = epoch
		}
		return s
	}
	for _, e := range [...]struct {
		scale int
		from  int64
	}{{numx.Millisecond, 1e18}, {numx.Microsecond, 1e18}, {0, 1e18}} { // beyond seconds of ns
		if v, n, ok := numx.Scaled(b, e.scale); ok && n == len(b) && v >= e.from {
			s.clock, s.at = epoch, v
			s.digits += (9 - e.scale)
			return s
		}
	}
	if len(b) >= 8 && b[2] == ':' && b[5] == ':' {
		b = append([]byte("1970-01-01T"), b...)
		if t, _, ok := mapping.Date(b); ok {
			s.clock, s.at = daytime, t
		}
		return s
	}
	if t, _, ok := mapping.Date(b); ok {
		s.clock, s.at = epoch, t
	}
	return s
}

// what is what a line says.
type what uint8

const (
	other   what = iota
	noise        // blank lines, comments such as pings, fields of events without meaning here
	payload      // an object
	done         // the end mark
	sends        // the request was sent
	answers      // a status line
	ends         // the connection ended
	named        // the name of an event
)

// field reads what stands behind a stamp: a field of an event, a line of curl -v,
// or an object. body is the payload, the status or the name.
func field(b []byte) (w what, body []byte) {
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

// The members of JSON lines, the best names first.
const (
	stampNames = " t ts time timestamp at elapsed received_at "
	dataNames  = " data chunk line raw "
	eventNames = " event type kind "
	idNames    = " request_id req_id rid stream_id id "
)

// record is a JSON line.
type record struct {
	stamp
	unit  string // that the name of its stamp says
	event []byte
	id    []byte
	data  []byte // text of the event
	chunk chunk  // where it is an object
	whole bool   // there is one
}

func has(names string, name []byte) bool {
	return bytes.Contains([]byte(names), append(append([]byte(" "), name...), ' '))
}

// recordOf reads a JSON line.
func recordOf(b []byte) (r record, ok bool) {
	r.chunk.begin()
	_, ok = json.Walk(b, 0, func(path, raw []byte, kind formats.Kind) {
		name, rest, nested := bytes.Cut(path, []byte("."))
		if k := bytes.IndexByte(name, '['); k >= 0 {
			return
		}
		switch {
		case nested && has(dataNames, name):
			r.whole = true
			r.chunk.value(rest, raw, kind)
		case nested:
		case has(dataNames, name) && kind == formats.String:
			r.data = json.Text(raw)
		case has(eventNames, name) && kind == formats.String:
			r.event = json.Text(raw)
		case has(idNames, name):
			r.id = raw
		default:
			base, unit := name, ""
			if k := bytes.LastIndexByte(name, '_'); k > 0 && has(" s ms us ns ", name[k+1:]) {
				base, unit = name[:k], string(name[k+1:])
			}
			if has(stampNames, base) && r.clock == noClock {
				r.stamp, r.unit = stampOf(raw), unit
			}
		}
	})
	return r, ok && r.clock != noClock
}
