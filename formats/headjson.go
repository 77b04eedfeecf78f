package formats

import (
	"bytes"

	"servescope/formats/internal/json"
)

// Kind is the kind of a JSON value, with the name that package json gives it. NaN and
// Infinity, which Python's json writes, are numbers.
type Kind = json.Kind

// The kinds of values that a head may show. NoJSON is none.
const (
	NoJSON = json.EOF
	Object = json.Object
	Array  = json.Array
	String = json.String
	Number = json.Number
	Bool   = json.Bool
	Null   = json.Null
)

// Key is one member of a JSON object, as far as a head shows it.
type Key struct {
	Name  string // decoded
	Kind  Kind   // of the value; NoJSON when the head ends before it
	Elem  Kind   // of an array's first element; NoJSON when empty or cut off
	Value []byte // raw text of a scalar, quotes included; cut at the head's end
}

// Top returns the kind of the first JSON value of the head, or NoJSON.
func (h *Head) Top() Kind {
	return wordKind(h.Start[json.Space(h.Start, 0):])
}

// Keys returns the members of the first JSON object of the head: the top-level
// value, or the first element of a top-level array. It accepts an object that
// the head cuts off. A head that does not begin with one has no keys.
func (h *Head) Keys() []Key {
	rest := h.Start[json.Space(h.Start, 0):]
	return Keys(bytes.TrimPrefix(rest, []byte("[")))
}

// maxObjects is the number of objects of a head that are looked at: a damaged one, or
// something else, may stand before the first that tells.
const maxObjects = 64

// Objects returns the members of the JSON objects that begin the lines behind the
// first of the head's start: a damaged one may have none. Many formats ask for them.
// They must not be changed.
func (h *Head) Objects() [][]Key {
	if h.objects != nil {
		return h.objects()
	}
	return objects(h.Start)
}

func objects(rest []byte) (list [][]Key) {
	for range maxObjects {
		i := bytes.Index(rest, []byte("\n{"))
		if i < 0 {
			break
		}
		rest = rest[i+1:]
		list = append(list, Keys(rest))
	}
	return list
}

// Find returns the key with the given name.
func Find(keys []Key, name string) (Key, bool) {
	for _, k := range keys {
		if k.Name == name {
			return k, true
		}
	}
	return Key{}, false
}

// Keys returns the members of the JSON object that line begins with, if any, as far as
// they are there.
func Keys(line []byte) (keys []Key) {
	s := json.Scanner{B: line}
	if !s.Take('{') {
		return nil
	}
	for {
		name, ok := s.String()
		if !ok { // or the head ends in the name
			return keys
		}
		k := Key{Name: string(json.Text(name))}
		if s.Take(':') {
			s.Space()
			k.Kind = wordKind(s.B[s.I:])
		}
		switch k.Kind {
		case NoJSON:
			return append(keys, k)
		case Array:
			k.Elem = wordKind(s.B[json.Space(s.B, s.I+1):])
		}
		value, whole := s.Skip()
		if k.Kind != Object && k.Kind != Array {
			k.Value = value
		}
		if keys = append(keys, k); !whole || !s.Take(',') {
			return keys
		}
	}
}

// wordKind returns the kind of the value that b begins with, which may be cut off.
func wordKind(b []byte) Kind {
	s := json.Scanner{B: b}
	kind := s.Kind()
	for _, word := range [...]string{"true", "false", "null", "NaN", "Infinity"} {
		if n := min(len(b), len(word)); n > 0 && string(b[:n]) == word[:n] {
			return kind
		}
	}
	if kind == json.Broken || kind == Bool || kind == Null || kind == Number && b[0] > '9' {
		return NoJSON
	}
	return kind
}
