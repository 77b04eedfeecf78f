package json

import (
	"bytes"
	"strings"
)

const (
	maxDepth = 32  // containers that Walk enters; deeper ones are skipped
	maxPath  = 512 // bytes of the names that lead to a value
)

// walker visits the scalars of an object by path: names joined by points, with
// [] for the elements of an array.
type walker struct {
	Scanner
	path  []byte
	visit func(path, raw []byte, kind Kind)
}

// Walk visits the scalars of the object that begins at b[i], in the order of the
// text, and arrays of scalars as a whole. raw is a value as it is written,
// strings without their quotes; see Text. Names are decoded. next is the offset behind
// the object; ok is false when it is not well formed, and next is then where that shows.
func Walk(b []byte, i int, visit func(path, raw []byte, kind Kind)) (next int, ok bool) {
	w := walker{Scanner: Scanner{b, i}, path: make([]byte, 0, 64), visit: visit}
	ok = w.object(0)
	return w.I, ok
}

// List returns where the first element of the array may begin that is the member
// of that path of the object in b, names joined by points, or -1. The object need
// not be whole.
func List(b []byte, path string) int {
	s := Scanner{B: b}
	for {
		name, rest, deeper := strings.Cut(path, ".")
		if !s.Take('{') {
			return -1
		}
		for {
			key, ok := s.Key()
			if !ok {
				return -1
			}
			if string(key) == name {
				break
			}
			if _, ok = s.Skip(); !ok || !s.Take(',') {
				return -1
			}
		}
		if !deeper {
			if !s.Take('[') {
				return -1
			}
			return s.I
		}
		path = rest
	}
}

func (w *walker) object(depth int) bool {
	base := len(w.path)
	return w.Each('{', '}', func() bool {
		name, ok := w.Key()
		if !ok {
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
	kind := w.Kind()
	enter := depth < maxDepth && len(w.path) < maxPath
	switch {
	case kind == String:
		raw, ok := w.String()
		if ok {
			w.visit(w.path, raw, String)
		}
		return ok
	case kind == Object && enter:
		return w.object(depth)
	case kind == Array && enter && w.ofObjects():
		w.path = append(w.path, "[]"...)
		ok := w.Each('[', ']', func() bool { return w.value(depth + 1) })
		w.path = w.path[:max(len(w.path)-2, 0)]
		return ok
	}
	raw, ok := w.Skip()
	if !ok {
		return false
	}
	switch kind {
	case Object:
		kind = Array
	case Broken: // a word
		kind = Number
	}
	w.visit(w.path, raw, kind)
	return true
}

// ofObjects tells whether the array at the cursor begins with an object.
func (w *walker) ofObjects() bool {
	rest := bytes.TrimLeft(w.B[w.I+1:], " \t\r\n")
	return len(rest) > 0 && rest[0] == '{'
}
