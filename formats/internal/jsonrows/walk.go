// Package jsonrows reads files of one JSON object per line whose objects become
// rows of the requests table, as servers and scripts append them: several
// objects glued together on a line, objects that break off in the middle, stream
// captures ("data: {…}"), elements of an array one per line.
package jsonrows

import (
	"bytes"
	"strings"

	"servescope/formats"
)

const (
	maxDepth = 32  // containers that are entered; deeper ones are skipped
	maxPath  = 512 // bytes of the names that lead to a value
)

// walker visits the scalars of an object by path: names joined by points, with
// [] for the elements of an array.
type walker struct {
	b     []byte
	i     int
	path  []byte
	visit func(path, raw []byte, kind formats.Kind)
}

// Walk visits the scalars of the object that begins at b[i], in the order of the
// text, and arrays of scalars as a whole. raw is a value as it is written,
// strings without their quotes; see Text. next is the offset behind the object;
// ok is false when it is not well formed, and next is then where that shows.
func Walk(b []byte, i int, visit func(path, raw []byte, kind formats.Kind)) (next int, ok bool) {
	w := walker{b: b, i: i, path: make([]byte, 0, 64), visit: visit}
	ok = w.object(0)
	return w.i, ok
}

// List returns where the first element of the array may begin that is the member
// of that path of the object in b, names joined by points, or -1. The object need
// not be whole.
func List(b []byte, path string) int {
	w := walker{b: b, visit: func([]byte, []byte, formats.Kind) {}}
	return w.list(path)
}

func (w *walker) list(path string) int {
	name, rest, deeper := strings.Cut(path, ".")
	for more := w.next('{'); more; more = w.value(1) && w.next(',') {
		w.space()
		key, ok := w.str()
		switch {
		case !ok || !w.next(':'):
			return -1
		case string(key) != name:
		case deeper:
			return w.list(rest)
		case w.next('['):
			return w.i
		}
	}
	return -1
}

func (w *walker) space() {
	for w.i < len(w.b) && (w.b[w.i] == ' ' || w.b[w.i] == '\t' || w.b[w.i] == '\r' || w.b[w.i] == '\n') {
		w.i++
	}
}

func (w *walker) next(c byte) bool {
	if w.space(); w.i < len(w.b) && w.b[w.i] == c {
		w.i++
		return true
	}
	return false
}

// members reads what stands between the brackets of a container.
func (w *walker) members(opening, closing byte, member func() bool) bool {
	if !w.next(opening) {
		return false
	}
	if w.next(closing) {
		return true
	}
	for {
		if !member() {
			return false
		}
		if w.next(closing) {
			return true
		}
		if !w.next(',') {
			return false
		}
	}
}

func (w *walker) object(depth int) bool {
	base := len(w.path)
	return w.members('{', '}', func() bool {
		w.space()
		name, ok := w.str()
		if !ok || !w.next(':') {
			return false
		}
		if base > 0 {
			w.path = append(w.path, '.')
		}
		w.path = append(w.path, name[:min(len(name), maxPath)]...)
		ok = w.value(depth + 1)
		w.path = w.path[:base]
		return ok
	})
}

func (w *walker) value(depth int) bool {
	w.space()
	if w.i >= len(w.b) {
		return false
	}
	from := w.i
	switch c := w.b[w.i]; {
	case c == '"':
		s, ok := w.str()
		if ok {
			w.visit(w.path, s, formats.String)
		}
		return ok
	case c == '{' && depth < maxDepth && len(w.path) < maxPath:
		return w.object(depth)
	case c == '[' && depth < maxDepth && len(w.path) < maxPath && w.ofObjects():
		w.path = append(w.path, "[]"...)
		ok := w.members('[', ']', func() bool { return w.value(depth + 1) })
		w.path = w.path[:max(len(w.path)-2, 0)]
		return ok
	case c == '{' || c == '[':
		if !w.skip() {
			return false
		}
		w.visit(w.path, w.b[from:w.i], formats.Array)
		return true
	}
	for w.i < len(w.b) && bare(w.b[w.i]) {
		w.i++
	}
	if w.i == from || w.i == len(w.b) { // the rest of a number may be missing
		return false
	}
	w.visit(w.path, w.b[from:w.i], kindOf(w.b[from:w.i]))
	return true
}

// ofObjects tells whether the array at the cursor begins with an object.
func (w *walker) ofObjects() bool {
	rest := bytes.TrimLeft(w.b[w.i+1:], " \t\r\n")
	return len(rest) > 0 && rest[0] == '{'
}

func bare(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '-' || c == '+' || c == '.'
}

func kindOf(raw []byte) formats.Kind {
	switch raw[0] {
	case 't', 'f':
		return formats.Bool
	case 'n':
		return formats.Null
	}
	return formats.Number
}

// str reads the string at the cursor and returns it without its quotes.
func (w *walker) str() ([]byte, bool) {
	if w.i >= len(w.b) || w.b[w.i] != '"' {
		return nil, false
	}
	from := w.i + 1
	for i := from; ; i++ {
		n := bytes.IndexByte(w.b[i:], '"')
		if n < 0 {
			w.i = len(w.b)
			return nil, false
		}
		i += n
		run := i // of backslashes before the quote
		for run > from && w.b[run-1] == '\\' {
			run--
		}
		if (i-run)%2 == 0 {
			w.i = i + 1
			return w.b[from:i], true
		}
	}
}

// skip moves behind the container at the cursor.
func (w *walker) skip() bool {
	for depth := 0; w.i < len(w.b); w.i++ {
		switch w.b[w.i] {
		case '"':
			if _, ok := w.str(); !ok {
				return false
			}
			w.i--
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				w.i++
				return true
			}
		}
	}
	return false
}
