package sse

import (
	"bytes"

	"servescope/formats"
	"servescope/formats/internal/json"
)

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
