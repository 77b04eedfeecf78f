package formats

import "bytes"

// Kind is the kind of a JSON value.
type Kind uint8

// The kinds. NaN and Infinity, which Python's json writes, are numbers.
const (
	NoJSON Kind = iota
	Object
	Array
	String
	Number
	Bool
	Null
)

// Key is one member of a JSON object, as far as a head shows it.
type Key struct {
	Name  string // without quotes, escapes left as they are
	Kind  Kind   // of the value; NoJSON when the head ends before it
	Elem  Kind   // of an array's first element; NoJSON when empty or cut off
	Value []byte // raw text of a scalar, quotes included; cut at the head's end
}

// Top returns the kind of the first JSON value of the head, or NoJSON.
func (h *Head) Top() Kind {
	s := jsonScan{b: h.Start}
	s.space()
	return s.kind()
}

// Keys returns the members of the first JSON object of the head: the top-level
// value, or the first element of a top-level array. It accepts an object that
// the head cuts off. A head that does not begin with one has no keys.
func (h *Head) Keys() []Key {
	s := jsonScan{b: h.Start}
	s.space()
	if s.kind() == Array {
		s.i++
		s.space()
	}
	return s.object()
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

// Keys returns the members of the JSON object that line begins with, if any.
func Keys(line []byte) []Key {
	s := jsonScan{b: line}
	s.space()
	return s.object()
}

// jsonScan walks over JSON text without checking it: good enough to see keys.
type jsonScan struct {
	b []byte
	i int
}

func (s *jsonScan) space() {
	for s.i < len(s.b) && (s.b[s.i] == ' ' || s.b[s.i] == '\n' || s.b[s.i] == '\r' || s.b[s.i] == '\t') {
		s.i++
	}
}

// kind returns the kind of the value at the cursor without moving.
func (s *jsonScan) kind() Kind {
	if s.i >= len(s.b) {
		return NoJSON
	}
	rest := s.b[s.i:]
	switch c := rest[0]; {
	case c == '{':
		return Object
	case c == '[':
		return Array
	case c == '"':
		return String
	case c >= '0' && c <= '9', c == '-':
		return Number
	case literal(rest, "NaN"), literal(rest, "Infinity"):
		return Number
	case literal(rest, "true"), literal(rest, "false"):
		return Bool
	case literal(rest, "null"):
		return Null
	}
	return NoJSON
}

// literal reports whether b begins with word, or is a cut-off beginning of it.
func literal(b []byte, word string) bool {
	n := min(len(b), len(word))
	return n > 0 && string(b[:n]) == word[:n]
}

// object returns the members of the object at the cursor.
func (s *jsonScan) object() []Key {
	if s.kind() != Object {
		return nil
	}
	s.i++
	var keys []Key
	for {
		s.space()
		if s.kind() != String {
			return keys
		}
		name := s.value()
		if len(name) < 2 || name[len(name)-1] != '"' { // the head ends in the name
			return keys
		}
		k := Key{Name: string(name[1 : len(name)-1])}
		s.space()
		if s.i < len(s.b) && s.b[s.i] == ':' {
			s.i++
			s.space()
			k.Kind = s.kind()
			if k.Kind == Array {
				in := jsonScan{s.b, s.i + 1}
				in.space()
				k.Elem = in.kind()
			}
		}
		if k.Kind == NoJSON {
			return append(keys, k)
		}
		v := s.value()
		if k.Kind != Object && k.Kind != Array {
			k.Value = v
		}
		keys = append(keys, k)
		s.space()
		if s.i >= len(s.b) || s.b[s.i] != ',' {
			return keys
		}
		s.i++
	}
}

// value moves over the value at the cursor and returns its text, cut at the end.
func (s *jsonScan) value() []byte {
	from, depth := s.i, 0
	for s.i < len(s.b) {
		if depth > 0 && !marks[s.b[s.i]] { // most of a head is long arrays of numbers
			s.i++
			continue
		}
		switch c := s.b[s.i]; c {
		case '"':
			s.str()
			if depth == 0 {
				return s.b[from:s.i]
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth <= 0 {
				if depth == 0 {
					s.i++
				}
				return s.b[from:s.i]
			}
		case ',', ' ', '\n', '\r', '\t':
			if depth == 0 {
				return s.b[from:s.i]
			}
		}
		s.i++
	}
	return s.b[from:]
}

// marks are the bytes that matter within an object or an array.
var marks = [256]bool{'"': true, '{': true, '[': true, '}': true, ']': true}

// str moves over the string at the cursor.
func (s *jsonScan) str() {
	for s.i++; s.i < len(s.b); s.i++ {
		j := bytes.IndexAny(s.b[s.i:], `"\`)
		if j < 0 {
			s.i = len(s.b)
			return
		}
		if s.i += j; s.b[s.i] == '"' {
			s.i++
			return
		}
		s.i++ // the escaped byte
	}
	s.i = min(s.i, len(s.b))
}
