package linelog

import (
	"bytes"

	"servescope/formats/internal/json"
	"servescope/formats/internal/pyrepr"
)

// The keys under which JSON loggers, and what collects logs (journalctl -o json,
// logcli -o jsonl, Cloud Logging, CloudWatch, Splunk), write what a text line has
// in its head.
var (
	messageKeys = [][]byte{[]byte("message"), []byte("msg"), []byte("log"), []byte("event"), []byte("line"), []byte("MESSAGE"), []byte("textPayload"), []byte("@message"), []byte("_raw")}
	timeKeys    = [][]byte{[]byte("asctime"), []byte("timestamp"), []byte("time"), []byte("ts"), []byte("@timestamp"), []byte("datetime"), []byte("created"), []byte("__REALTIME_TIMESTAMP"), []byte("timeUnixNano"), []byte("observedTimeUnixNano")}
	// Of these a message is one that is recognised: payload is called so, too.
	weakKeys = [][]byte{[]byte("body"), []byte("Body"), []byte("content"), []byte("text"), []byte("log_line")}
	valueKey = []byte("stringValue") // OpenTelemetry's {"stringValue": "…"}
	logsKey  = []byte(`"logRecords"`)

	levelKeys  = [][]byte{[]byte("levelname"), []byte("level"), []byte("severity")}
	loggerKeys = [][]byte{[]byte("name"), []byte("logger"), []byte("logger_name")}
)

// json scans a record of a JSON logger: its message is one behind a head. It
// reports false for another object. h has what stands in front of the record.
func (s *scanner) json(b []byte, h *found) bool {
	var msg, weak []byte
	o := object{b: b, i: 1}
	for o.next() {
		switch {
		case msg == nil && o.quoted && among(o.key, messageKeys):
			msg = s.unquote(o.value)
		case weak == nil && among(o.key, weakKeys):
			weak = o.message()
		case among(o.key, timeKeys):
			var st Stamp
			if nextStamp(o.value, 0, 0, &st) || epochStamp(o.value, &st) {
				h.stamp = st
			}
		case among(o.key, levelKeys):
			h.level = o.value
		case among(o.key, loggerKeys):
			h.tag = o.value
		}
	}
	if msg == nil && weak != nil {
		if weak = s.unquote(weak); s.known(weak) {
			msg = weak
		}
	}
	if msg == nil || !o.ended && !s.cut {
		return false
	}
	if !h.stamp.Known() { // the runtime's says when the object was written
		h.stamp, h.outer = s.outer, s.outer
	}
	msg = bytes.Trim(msg, "\r\n")
	s.nested = true
	outer := s.outer
	if !outer.Known() && h.stamp.Zoned {
		s.outer = h.stamp
	}
	first, rest, _ := bytes.Cut(msg, []byte{'\n'})
	s.message(first[escapes(first):], b, h)
	for len(rest) > 0 && !s.line.payload { // behind an open quote is text of a user
		var b []byte
		b, rest, _ = bytes.Cut(rest, []byte{'\n'})
		s.segment(b)
	}
	s.nested, s.outer = false, outer
	return true
}

// known reports whether a text is a record for certain.
func (s *scanner) known(msg []byte) bool {
	var h found
	if s.nextHead(msg, 0, s.outer, &h) {
		return true
	}
	_, k, _ := s.bareStart(msg)
	return k >= 0
}

// objects scans the records of JSON loggers that share a line: the elements of an
// array, and the log records of an export of OpenTelemetry. It reports false where
// there are none.
func (s *scanner) objects(b []byte) (ok bool) {
	if b[0] == '[' {
		b = b[1:]
	} else {
		b = logRecords(b)
	}
	for len(b) > 0 {
		switch b[0] {
		case ' ', ',':
			b = b[1:]
		case '{':
			var h found
			end := bracketEnd(b, 0)
			ok = s.json(b[:end], &h) || ok
			b = b[end:]
		default:
			b = logRecords(b)
		}
	}
	return ok
}

// logRecords returns what follows the beginning of the next list of log records.
func logRecords(b []byte) []byte {
	k := bytes.Index(b, logsKey)
	if k < 0 {
		return nil
	}
	b = bytes.TrimLeft(b[k+len(logsKey):], " :")
	return bytes.TrimPrefix(b, []byte("["))
}

// member returns the message of a JSON logger of whose record this line holds one
// member, as where an array is indented; else the line.
func (s *scanner) member(line []byte) []byte {
	o := object{b: line}
	if o.next() && o.quoted && (among(o.key, messageKeys) || among(o.key, weakKeys)) {
		return s.unquote(o.value)
	}
	return line
}

// message scans the first line of the message of an object: another head may
// stand in it.
func (s *scanner) message(msg, object []byte, h *found) {
	var inner found
	if s.nextHead(msg, 0, s.outer, &inner) {
		s.segment(msg)
		return
	}
	if p, from, to := findProcess(msg[:min(len(msg), window)]); from == 0 {
		h.process = p
		msg = bytes.TrimLeft(msg[to:], " ")
	}
	s.begin(h, true)
	s.record.Object = object
	k, n := s.recognise(msg)
	if k < 0 {
		_, k, n = s.bareStart(msg) // an access line has no head of its own
	}
	if k >= 0 {
		s.values(k, msg, n)
	}
	s.end(k, msg)
}

func among(key []byte, keys [][]byte) bool {
	for _, k := range keys {
		if bytes.Equal(key, k) {
			return true
		}
	}
	return false
}

// object is a cursor over the members of a JSON object on one line.
type object struct {
	b          []byte
	i          int
	key, value []byte // value without its quotes, escapes as they are
	inner      []byte // a value that is an object
	quoted     bool
	ended      bool
}

// message returns the text of the value: a string, or an object of OpenTelemetry that
// holds one.
func (o *object) message() []byte {
	if o.quoted {
		return o.value
	}
	if in := (object{b: o.inner, i: 1}); o.inner != nil && in.next() && in.quoted && bytes.Equal(in.key, valueKey) {
		return in.value
	}
	return nil
}

// next moves to the next member.
func (o *object) next() bool {
	o.space()
	if o.i < len(o.b) && o.b[o.i] == ',' {
		o.i++
		o.space()
	}
	if o.i < len(o.b) && o.b[o.i] == '}' {
		o.ended = true
		return false
	}
	var ok bool
	if o.key, ok = o.text(); !ok {
		return false
	}
	o.key = json.Text(o.key)
	if o.space(); o.i >= len(o.b) || o.b[o.i] != ':' {
		return false
	}
	o.i++
	o.space()
	if o.inner = nil; o.i >= len(o.b) {
		return false
	}
	switch c := o.b[o.i]; c {
	case '"':
		o.quoted = true
		o.value, ok = o.text()
		return ok
	case '{', '[':
		end := bracketEnd(o.b, o.i)
		o.quoted, o.value = false, nil
		if ok = end < len(o.b); ok && c == '{' {
			o.inner = o.b[o.i:end]
		}
		o.i = end
		return ok
	}
	from := o.i
	for o.i < len(o.b) && o.b[o.i] != ',' && o.b[o.i] != '}' {
		o.i++
	}
	o.quoted, o.value = false, bytes.TrimSpace(o.b[from:o.i])
	return o.i < len(o.b)
}

func (o *object) space() {
	for o.i < len(o.b) && (o.b[o.i] == ' ' || o.b[o.i] == '\t') {
		o.i++
	}
}

// text reads a string.
func (o *object) text() ([]byte, bool) {
	if o.i >= len(o.b) || o.b[o.i] != '"' {
		return nil, false
	}
	end, closed := pyrepr.QuoteEnd(o.b, o.i)
	from := o.i + 1
	o.i = end
	if !closed {
		return nil, false
	}
	return o.b[from : end-1], true
}

// unquote returns the value of a string of JSON, in memory of the record if it has
// escapes: a value is not longer than what is written.
func (s *scanner) unquote(v []byte) []byte {
	if bytes.IndexByte(v, '\\') < 0 {
		return v
	}
	return json.AppendText(s.keep(v)[:0], v, len(v))
}
