package sse

import (
	"bytes"

	"servescope/formats"
	"servescope/formats/internal/json"
)

// The names of members of JSON lines, the best first.
const (
	stampNames = " t ts time timestamp at elapsed received_at "
	dataNames  = " data chunk line raw "
	eventNames = " event type kind "
	idNames    = " request_id req_id rid stream_id id "
)

// record is a line in JSON.
type record struct {
	stamp
	unit  string // in the name of the stamp
	event []byte
	id    []byte
	data  []byte // the event as text
	chunk chunk  // the event as an object
	whole bool   // chunk is set
}

// isAmong reports whether a name is in a list of names.
func isAmong(names string, name []byte) bool {
	return bytes.Contains([]byte(names), append(append([]byte(" "), name...), ' '))
}

// recordOf reads a line in JSON.
func recordOf(b []byte) (r record, ok bool) {
	r.chunk.begin()
	_, ok = json.Walk(b, 0, func(path, raw []byte, kind formats.Kind) {
		name, rest, nested := bytes.Cut(path, []byte("."))
		if k := bytes.IndexByte(name, '['); k >= 0 {
			return
		}
		switch {
		case nested && isAmong(dataNames, name):
			r.whole = true
			r.chunk.value(rest, raw, kind)
		case nested:
		case isAmong(dataNames, name) && kind == formats.String:
			r.data = json.Text(raw)
		case isAmong(eventNames, name) && kind == formats.String:
			r.event = json.Text(raw)
		case isAmong(idNames, name):
			r.id = raw
		default:
			base, unit := name, ""
			if k := bytes.LastIndexByte(name, '_'); k > 0 && isAmong(" s ms us ns ", name[k+1:]) {
				base, unit = name[:k], string(name[k+1:])
			}
			if isAmong(stampNames, base) && r.clock == noClock {
				r.stamp, r.unit = stampOf(raw), unit
			}
		}
	})
	return r, ok && r.clock != noClock
}
