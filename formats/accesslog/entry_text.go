package accesslog

import (
	"bytes"
	"time"

	"servescope/formats/internal/numx"
	"servescope/formats/internal/records"
)

// line takes a line of text. It reports whether the line is of a request.
func (e *entry) line(b []byte) bool {
	before, behind, ok := e.request(b)
	if !ok {
		return false
	}
	var room [64]token
	if len(bytes.TrimSpace(behind)) == 0 {
		return e.haproxy(before, room[:0])
	}
	list := tokens(behind, room[:0])
	from := bytes.LastIndexByte(before, '[')
	if from < 0 || len(list) < 2 || !isStatus(list[0].text) {
		return false
	}
	stamp, _, ok := bytes.Cut(before[from+1:], []byte("]"))
	if !ok {
		return false
	}
	e.status, e.step = list[0].text, 1e6
	if e.at, ok = records.Date(stamp); ok {
		return e.envoy(list[1:])
	}
	if e.at, ok = clfDate(stamp); !ok {
		return false
	}
	e.common(list[1:])
	return true
}

// isStatus reports whether a word is an HTTP status.
func isStatus(b []byte) bool {
	return len(b) == 3 && len(bytes.Trim(b, "0123456789")) == 0 || string(b) == "0"
}

// clfDate reads the date of the common log format, 01/Mar/2026:09:00:01 +0000. A fraction
// may follow the seconds, and the zone may be missing.
func clfDate(b []byte) (s records.Stamp, ok bool) {
	for _, layout := range [...]string{"02/Jan/2006:15:04:05 -0700", "02/Jan/2006:15:04:05"} {
		t, err := time.Parse(layout, string(b))
		if err != nil || t.Year() < 1970 || t.Year() > 2200 {
			continue
		}
		s = records.Stamp{T: t.UnixNano(), Step: 1e9, Zoned: len(layout) > 21}
		text, _, _ := bytes.Cut(b, []byte(" "))
		if _, fraction, ok := bytes.Cut(text, []byte(".")); ok {
			for range min(len(fraction), 9) {
				s.Step /= 10
			}
		}
		return s, true
	}
	return s, false
}

// envoy takes the fields behind the status in a line of Envoy: flags, further fields in
// Istio's format, BYTES_RECEIVED BYTES_SENT DURATION UPSTREAM_SERVICE_TIME, and in quotes
// X-FORWARDED-FOR, USER-AGENT, X-REQUEST-ID, AUTHORITY, UPSTREAM_HOST.
func (e *entry) envoy(list []token) bool {
	for i := 1; i+4 < len(list); i++ {
		received, ok1 := whole(list[i])
		_, ok2 := whole(list[i+1])
		took, ok3 := whole(list[i+2])
		head, told := whole(list[i+3])
		if !ok1 || !ok2 || !ok3 || received < 0 || !told && string(list[i+3].text) != "-" || !list[i+4].quoted {
			continue
		}
		e.program, e.took, e.timed = "Envoy", took*1e6, true
		if told {
			e.head = head * 1e6
		}
		rest := list[i+4:]
		if len(rest) > 2 && rest[2].quoted && string(rest[2].text) != "-" {
			e.id = rest[2].text
		}
		if len(rest) > 4 && rest[4].quoted && string(rest[4].text) != "-" {
			e.replica = rest[4].text
		}
		flags := list[0].text
		e.gone = bytes.Contains(flags, []byte("DC"))
		e.failed = string(e.status) == "0" && !e.gone
		return true
	}
	return false
}

// whole reads a whole number.
func whole(t token) (int64, bool) {
	n, k, ok := numx.ParseInt(t.text)
	return n, ok && !t.quoted && k == len(t.text) && n >= 0 && n < 1e12
}

// common takes the fields behind the status in the common log format: the bytes sent, the
// referrer, the agent, and fields that were added behind these.
func (e *entry) common(list []token) {
	e.program, e.ends = "nginx", true
	var numbers [][]byte
	for i, t := range list[1:] {
		key, value, pair := bytes.Cut(t.text, []byte("="))
		switch {
		case t.quoted && !isNumber(t.text):
		case pair && len(key) > 0 && len(key) < 40:
			e.pair(string(key), bytes.Trim(value, `",;`))
		case i == len(list)-2 && bytes.HasSuffix(t.text, []byte("ms")) && isNumber(t.text[:len(t.text)-2]):
			e.program, e.ends = "Traefik", false
			e.took, _, e.timed = numx.Scaled(t.text[:len(t.text)-2], numx.Millisecond)
			if e.replica = list[len(list)-2].text; string(e.replica) == "-" {
				e.replica = nil
			}
		case isNumber(t.text):
			numbers = append(numbers, t.text)
		}
	}
	if e.timed || len(numbers) == 0 {
		return
	}
	e.number = numbers[0]
	if ns, ok := threeDecimals(e.number); ok {
		e.took, e.timed = ns, true
		for _, n := range numbers[1:] {
			other, _, _ := numx.Seconds(n)
			e.mixed = e.mixed || other > ns+1e6
		}
		return
	}
	e.program, e.ends, e.bare = "Apache", false, true
}

// pair takes a field that has a name, such as people write in nginx's log_format.
func (e *entry) pair(key string, value []byte) {
	switch key {
	case "rt", "request_time", "req_time":
		e.took, e.timed = seconds(value)
	case "uht", "upstream_header_time":
		e.head, _ = seconds(value)
	case "request_id", "req_id", "rid", "id":
		e.id = value
	case "upstream_addr", "ua", "upstream":
		if len(value) > 0 && value[0]-'0' <= 9 {
			e.replica = value
		}
	}
}

// seconds reads a time of nginx. The times of several upstreams, one after the other, are
// not one of the request.
func seconds(b []byte) (int64, bool) {
	ns, n, ok := numx.Seconds(bytes.TrimSuffix(b, []byte("s")))
	if !ok || n != len(bytes.TrimSuffix(b, []byte("s"))) || ns < 0 {
		return 0, false
	}
	return ns, true
}

// isNumber reports whether a word has digits and points only.
func isNumber(b []byte) bool {
	return len(b) > 0 && len(b) < 20 && b[0]-'0' <= 9 && len(bytes.Trim(b, "0123456789.")) == 0 && bytes.Count(b, []byte(".")) <= 1
}

// threeDecimals reads a time as nginx writes it, with three decimals, and no other
// number.
func threeDecimals(b []byte) (int64, bool) {
	i := bytes.IndexByte(b, '.')
	if i < 1 || len(b)-i != 4 {
		return 0, false
	}
	return seconds(b)
}

// haproxy takes what stands before the request in HAProxy's HTTP log:
//
//	… 10.0.1.2:33317 [06/Feb/2026:12:14:14.655] http-in static/srv1 10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 {…} "GET / HTTP/1.1"
func (e *entry) haproxy(before []byte, room []token) bool {
	from := bytes.IndexByte(before, '[')
	for from >= 0 { // behind that of a process: haproxy[14389]:
		var ok bool
		stamp, rest, _ := bytes.Cut(before[from+1:], []byte("]"))
		if e.at, ok = clfDate(stamp); ok && e.at.Step < 1e9 {
			list := tokens(rest, room)
			return len(list) > 8 && e.timers(list)
		}
		next := bytes.IndexByte(before[from+1:], '[')
		if next < 0 {
			return false
		}
		from += 1 + next
	}
	return false
}

// timers takes the words behind the time in a line of HAProxy: frontend, backend/server,
// timers, status, bytes, two cookies, and the state at disconnection.
func (e *entry) timers(list []token) bool {
	parts := bytes.Split(list[2].text, []byte("/"))
	if len(parts) != 5 {
		return false
	}
	var ms [5]int64
	for i, p := range parts {
		n, k, ok := numx.ParseInt(bytes.TrimPrefix(p, []byte("+")))
		if !ok || k != len(bytes.TrimPrefix(p, []byte("+"))) || n < -1 || n > 1e10 {
			return false
		}
		ms[i] = n
	}
	e.program, e.status, e.step = "HAProxy", list[3].text, 1e6
	if _, server, ok := bytes.Cut(list[1].text, []byte("/")); ok && string(server) != "<NOSRV>" {
		e.replica = server
	}
	if ms[4] >= 0 && parts[4][0] != '+' { // +: logged before the end
		e.took, e.timed = ms[4]*1e6, true
	}
	if ms[0] >= 0 && ms[1] >= 0 && ms[2] >= 0 {
		e.proxy, e.passed = (ms[0]+ms[1]+ms[2])*1e6, true
		if ms[3] >= 0 {
			e.head = e.proxy + ms[3]*1e6
		}
	}
	end := list[7].text
	if len(end) > 0 && end[0] != '-' {
		e.gone = end[0] == 'C' || end[0] == 'c'
		e.failed = !e.gone
	}
	return true
}
