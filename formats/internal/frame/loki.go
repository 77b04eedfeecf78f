package frame

import (
	"bytes"
	"cmp"
	"io"
	"slices"

	"servescope/formats/internal/json"
)

// Answers tells whether a text is what Loki's HTTP API answers to a query for lines:
//
//	{"status":"success","data":{"resultType":"streams","result":[
//	  {"stream":{"app":"llm"},"values":[["1796047501123000000","LINE"], … ]}, … ],"stats":{}}}
//
// Grafana Loki, HTTP API, GET /loki/api/v1/query_range. A third element of a value holds
// its structured metadata. The newest come first, unless direction=forward was asked for.
func Answers(start []byte) bool {
	var room [256]byte
	text := room[:0]
	for _, c := range start {
		if c > ' ' {
			text = append(text, c)
		}
		if len(text) == len(room) {
			break
		}
	}
	return len(text) > 0 && text[0] == '{' && bytes.Contains(text, []byte(`"data":{"resultType":"streams","result":[`))
}

// Answer reads the lines of answers of Loki, in the order of their times. One goroutine
// uses it.
type Answer struct {
	lines []stamped
	text  []byte
	at    int // of the line being read
	off   int // in it
}

// stamped is a line, text[from:to], and its time in ns since 1970.
type stamped struct {
	ns       int64
	from, to int
}

// ReadAnswer reads answers of at most limit bytes from r, all of which it keeps. whole is
// false where they end too early, or go on behind the limit.
func ReadAnswer(r io.Reader, limit int64) (a *Answer, whole bool, err error) {
	text, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, false, err
	}
	for i, c := range text { // within no string
		if c == '\n' {
			text[i] = ' '
		}
	}
	a = &Answer{text: text}
	s := json.Scanner{B: text[:min(int64(len(text)), limit)]}
	w := 0
	for whole = true; whole; {
		if s.Kind() == json.EOF {
			break
		}
		whole = a.object(&s, &w, "data", "result")
	}
	slices.SortStableFunc(a.lines, func(x, y stamped) int { return cmp.Compare(x.ns, y.ns) })
	return a, whole && int64(len(text)) <= limit, nil
}

// object goes over an object, and along a path into the streams in it. What the lines
// hold is written to the beginning of the text, up to w, all of which has been read.
func (a *Answer) object(s *json.Scanner, w *int, path ...string) bool {
	return s.Each('{', '}', func() bool {
		key, ok := s.Key()
		switch {
		case !ok:
			return false
		case string(key) != path[0]:
			_, ok = s.Skip()
			return ok
		case len(path) > 1:
			return a.object(s, w, path[1:]...)
		case path[0] == "values":
			return a.stream(s, w)
		}
		return s.Each('[', ']', func() bool { return a.object(s, w, "values") })
	})
}

// stream reads the lines of a stream.
func (a *Answer) stream(s *json.Scanner, w *int) bool {
	first := len(a.lines)
	ok := s.Each('[', ']', func() bool {
		n := 0
		var line stamped
		return s.Each('[', ']', func() (ok bool) {
			var word []byte
			switch n++; n {
			case 1:
				word, ok = s.String()
				for _, c := range word {
					line.ns = line.ns*10 + int64(c-'0')
				}
				return ok
			case 2:
				if word, ok = s.AppendString(a.text[:*w]); ok {
					line.from, line.to = *w, len(word)
					*w = line.to
					a.lines = append(a.lines, line)
				}
				return ok
			}
			_, ok = s.Skip()
			return ok
		})
	})
	if own := a.lines[first:]; len(own) > 1 && own[0].ns > own[len(own)-1].ns { // those of one time, too
		for i, j := 0, len(own)-1; i < j; i, j = i+1, j-1 {
			own[i], own[j] = own[j], own[i]
		}
	}
	return ok
}

// Read implements io.Reader: each line has a line end.
func (a *Answer) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if a.at == len(a.lines) {
			if n == 0 {
				return 0, io.EOF
			}
			break
		}
		l := a.lines[a.at]
		line := bytes.TrimRight(a.text[l.from:l.to], "\r\n")
		if a.off < len(line) {
			m := copy(p[n:], line[a.off:])
			n, a.off = n+m, a.off+m
			continue
		}
		p[n] = '\n'
		n, a.at, a.off = n+1, a.at+1, 0
	}
	return n, nil
}
