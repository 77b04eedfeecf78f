package accesslog

import (
	"bytes"

	"servescope/formats/internal/numx"
	"servescope/formats/internal/records"
)

// entry is what a line of an access log says of a request.
type entry struct {
	program      string
	method, path []byte
	status       []byte
	at           records.Stamp
	ends         bool  // that is when the request ended, not when it began
	took         int64 // in ns
	timed        bool  // that is told
	step         int64 // of that, in ns
	number       []byte
	bare         bool  // number is what it took, in a unit that is not told
	mixed        bool  // several numbers, of which the first is not the greatest
	head         int64 // to the head of the response, in ns; 0: not told
	proxy        int64 // until the request was passed on, in ns
	passed       bool  // proxy is told
	id, replica  []byte
	gone         bool // the client has gone
	failed       bool
}

// scales are the powers of ten of units.
var scales = map[string]int{"s": numx.Second, "ms": numx.Millisecond, "us": numx.Microsecond}

// generates reports whether the request is for tokens, by its path.
func (e *entry) generates() bool {
	if string(e.method) != "POST" {
		return false
	}
	path, _, _ := bytes.Cut(e.path, []byte("?"))
	path = bytes.TrimRight(path, "/")
	for _, end := range [...]string{"/completions", "/responses", "/messages", "/generate", "/generate_stream", "/api/chat", "/api/generate", "/chat"} {
		if bytes.HasSuffix(path, []byte(end)) {
			return true
		}
	}
	return false
}

// object takes a JSON line of Caddy or Traefik.
func (e *entry) object(v *records.Fields) (ok bool) {
	switch {
	case v.Has(traefikStart, traefikTook, requestMethod):
		e.program, e.method, e.path, e.status = "Traefik", v.Text(requestMethod), v.Text(requestPath), v.Text(downstream)
		e.replica = v.Text(service)
		e.took, e.timed = v.Span(traefikTook, numx.Nanosecond)
		if e.at, ok = records.Date(v.Text(traefikStart)); !ok {
			return false
		}
	case v.Has(caddyTime, caddyTook, method, uri) && (v.Is(message, "handled request") || bytes.HasPrefix(v.Text(logger), []byte("http.log.access"))):
		e.program, e.method, e.path, e.status, e.ends = "Caddy", v.Text(method), v.Text(uri), v.Text(status), true
		e.took, e.timed = caddyDuration(v.Text(caddyTook))
		if e.at, ok = v.Time(caddyTime); !ok {
			return false
		}
	}
	e.step = 1
	return e.timed && e.took >= 0
}

// caddyDuration reads a duration of Caddy: by default a float in s; by its configuration
// a whole number of ns or the text of a Go duration.
func caddyDuration(b []byte) (int64, bool) {
	if ns, ok := records.Duration(b); ok {
		return ns, true
	}
	if n, k, ok := numx.ParseInt(b); ok && k == len(b) && n >= 1e5 { // more than a day in s
		return n, true
	}
	ns, n, ok := numx.Seconds(b)
	return ns, ok && n == len(b) && ns >= 0
}

// token is a word behind the request, or a text in quotes.
type token struct {
	text   []byte
	quoted bool
}

// tokens appends the words and quoted texts of b to list.
func tokens(b []byte, list []token) []token {
	for len(list) < 64 {
		b = bytes.TrimLeft(b, " \t")
		if len(b) == 0 {
			return list
		}
		i := 0
		for i < len(b) && b[i] != ' ' && b[i] != '\t' {
			if b[i] != '"' {
				i++
				continue
			}
			end := quote(b, i+1)
			if end < 0 {
				return list
			}
			i = end + 1
		}
		t := token{text: b[:i]}
		if i > 1 && b[0] == '"' && b[i-1] == '"' {
			t = token{b[1 : i-1], true}
		}
		list, b = append(list, t), b[i:]
	}
	return list
}

// quote returns the index of the closing quote of the text that begins at i, or -1.
func quote(b []byte, i int) int {
	for ; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return -1
}

// request finds the request in quotes, "POST /v1/completions HTTP/1.1". It returns the
// text before and behind it.
func (e *entry) request(b []byte) (before, behind []byte, ok bool) {
	for i := 0; ; {
		k := bytes.IndexByte(b[i:], '"')
		if k < 0 {
			return nil, nil, false
		}
		from := i + k + 1
		end := quote(b, from)
		if end < 0 {
			return nil, nil, false
		}
		words := bytes.Fields(b[from:end])
		if len(words) >= 2 && len(words) <= 3 && len(words[0]) >= 3 && len(bytes.Trim(words[0], "ABCDEFGHIJKLMNOPQRSTUVWXYZ")) == 0 && (words[1][0] == '/' || bytes.HasPrefix(words[1], []byte("http"))) {
			e.method, e.path = words[0], words[1]
			return b[:from-1], b[end+1:], true
		}
		i = end + 1
	}
}
