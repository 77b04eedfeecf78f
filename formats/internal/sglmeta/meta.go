package sglmeta

import (
	"bytes"

	"servescope/analyzer/trace"
	"servescope/formats/internal/numx"
)

// Meta is what is known of one request. The zero value knows nothing. It keeps
// copies of texts, and reuses its memory; it is not safe for concurrent use.
type Meta struct {
	// Received and Finished are the stamps of the log lines about the request,
	// for records without stamps of their own.
	Received, Finished Stamp

	have      uint64
	sentinels int // stamps of 0 or -1
	ints      [slots]int64
	texts     [slots][]byte
	guess     [2]int // the field that is expected next, of either table
}

// Stamp is a point in time on the wall clock.
type Stamp struct {
	T, Resolution int64 // ns
	Known         bool
}

// Reset forgets all values.
func (m *Meta) Reset() {
	m.Received, m.Finished = Stamp{}, Stamp{}
	m.have, m.sentinels = 0, 0
}

// Set takes a value of meta_info.
func (m *Meta) Set(key, value []byte) { m.take(metaFields, 0, key, value) }

// Param takes a parameter of the request.
func (m *Meta) Param(key, value []byte) { m.take(paramFields, 1, key, value) }

// ID returns the request's id, or nil.
func (m *Meta) ID() []byte {
	for _, s := range [...]int{id, rid} {
		if m.has(s) {
			return m.texts[s]
		}
	}
	return nil
}

// healthCheck begins the ids of the server's own requests.
var healthCheck = []byte("HEALTH_CHECK")

// HealthCheck reports whether the id is one of a probe of the server's own. It may
// stand behind the number of a tokenizer worker.
func HealthCheck(id []byte) bool {
	return bytes.Contains(id[:min(len(id), 40)], healthCheck)
}

// Ended reports whether the answer says why the request ended: the chunks of a
// stream before the last do not.
func (m *Meta) Ended() bool { return m.has(reason) }

// Streamed returns whether the answer was streamed, and whether that is known.
func (m *Meta) Streamed() (yes, known bool) { return m.ints[stream] != 0, m.has(stream) }

// Since returns the oldest release that writes the stamps that the record has, or
// "" where it has none. The generations are those of the package's description.
func (m *Meta) Since() string {
	switch {
	case m.has(dispatched) && !m.has(launchLatency):
		return "v0.5.12"
	case m.has(dispatched):
		return "v0.5.10"
	case m.has(sentToScheduler), m.has(scheduled), m.has(responseSentTS):
		return "v0.5.5"
	}
	return ""
}

// SinceBoot returns when the request came, in ns since the host's boot, or 0
// where that is not known.
func (m *Meta) SinceBoot() int64 {
	if m.has(receivedTime) && m.ints[receivedTime] < oldest {
		return m.ints[receivedTime]
	}
	return 0
}

// Inherit tells what was known of the same request earlier, for a record that
// does not say it itself.
func (m *Meta) Inherit(streamed, known bool) {
	if known && !m.has(stream) {
		m.ints[stream] = 0
		if streamed {
			m.ints[stream] = 1
		}
		m.have |= 1 << stream
	}
}

func (m *Meta) has(slot int) bool { return m.have>>slot&1 != 0 }

func (m *Meta) drop(slot int) { m.have &^= 1 << slot }

// take finds the field of a key, which mostly follows that of the key before.
func (m *Meta) take(fields []field, table int, key, value []byte) {
	for n := range fields {
		i := m.guess[table] + n
		if i >= len(fields) {
			i -= len(fields)
		}
		if string(key) == fields[i].key {
			m.guess[table] = i + 1
			m.put(&fields[i], value)
			return
		}
	}
}

// put reads a value.
func (m *Meta) put(f *field, value []byte) {
	if f.kind == present {
		m.have |= 1 << f.slot
		return
	}
	if absent(value) {
		return
	}
	n, ok := 0, true
	var v int64
	switch f.kind {
	case text:
		m.texts[f.slot] = append(m.texts[f.slot][:0], value[:min(len(value), trace.MaxText)]...)
		m.have |= 1 << f.slot
		return
	case count:
		if v, ok = boolean(value); ok {
			n = len(value)
		} else if v, n, ok = numx.ParseInt(value); v < 0 {
			return // -1 stands for unknown
		}
	case seconds:
		v, n, ok = numx.Seconds(value)
	case epoch:
		if v, n, ok = numx.Seconds(value); ok && v <= 0 {
			m.sentinels++
			return
		}
	}
	if !ok || n != len(value) {
		return
	}
	m.ints[f.slot] = v
	m.have |= 1 << f.slot
}

// absent reports whether a value is none.
func absent(v []byte) bool {
	switch string(v) {
	case "", "null", "None", "nan", "NaN", "inf", "-inf", "Infinity", "-Infinity":
		return true
	}
	return false
}

func boolean(v []byte) (int64, bool) {
	switch string(v) {
	case "true", "True":
		return 1, true
	case "false", "False":
		return 0, true
	}
	return 0, false
}
