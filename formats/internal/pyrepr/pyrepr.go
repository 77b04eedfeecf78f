// Package pyrepr reads what Python prints of its objects: literals, calls such as
// GenerateReqInput(rid='a', stream=True), dictionaries, and anything mixed of
// them. It evaluates nothing, takes what it does not understand as text, and
// reads JSON as well, which differs only in its punctuation.
//
//	obj=Request(rid='a', params={'n': 1}), out={'meta_info': {'id': 'a'}}
//
// has the values obj.rid, obj.params.n and out.meta_info.id.
package pyrepr

import "bytes"

// Kind is what a value is.
type Kind uint8

// The kinds of values.
const (
	Word   Kind = iota // a number, name or anything without quotes
	String             // the text between quotes, escapes as they are
	List               // a list, tuple or set, with its brackets
)

// maxDepth bounds how deep values are looked for; what lies deeper is passed over.
const maxDepth = 8

// Walk calls f with each value in b and the keys that lead to it, joined by
// points; both are valid during the call only. It reports whether b ends where its
// brackets and quotes do: otherwise it was cut. Time is linear in b.
func Walk(b []byte, f func(path, value []byte, kind Kind)) (whole bool) {
	w := walker{b: b, f: f}
	w.members(0)
	return !w.open
}

type walker struct {
	b    []byte
	i    int
	path []byte
	open bool // a bracket or quote is not closed
	f    func(path, value []byte, kind Kind)
}

// members reads what stands between two brackets, or the whole text, up to the
// closing bracket.
func (w *walker) members(depth int) {
	base := len(w.path)
	for w.i < len(w.b) {
		switch c := w.b[w.i]; c {
		case ' ', ',', ';', '\t':
			w.i++
			continue
		case '}', ')', ']':
			w.i++
			if depth > 0 {
				return
			}
			continue
		}
		key, ok := w.key()
		if !ok {
			w.value(depth) // a member without a key: there is no path to it but that of its parent
			continue
		}
		if base > 0 {
			w.path = append(w.path, '.')
		}
		w.path = append(w.path, key...)
		w.value(depth)
		w.path = w.path[:base]
	}
	w.open = w.open || depth > 0
}

// key reads a key and the colon or equals sign behind it, or nothing.
func (w *walker) key() ([]byte, bool) {
	i := w.i
	var key []byte
	if c := w.b[i]; c == '\'' || c == '"' {
		end, closed := QuoteEnd(w.b, i)
		if !closed {
			return nil, false
		}
		key, i = w.b[i+1:end-1], end
	} else {
		for i < len(w.b) && nameByte(w.b[i]) {
			i++
		}
		key = w.b[w.i:i]
	}
	for i < len(w.b) && w.b[i] == ' ' {
		i++
	}
	if len(key) == 0 || i >= len(w.b) || w.b[i] != ':' && w.b[i] != '=' {
		return nil, false
	}
	for i++; i < len(w.b) && w.b[i] == ' '; i++ {
	}
	w.i = i
	return key, true
}

// value reads a value.
func (w *walker) value(depth int) {
	if w.i >= len(w.b) {
		return
	}
	from := w.i
	switch c := w.b[from]; c {
	case '\'', '"':
		end := w.quoted()
		w.f(w.path, w.b[from+1:end], String)
	case '{':
		w.nested(depth, from)
	case '[', '(':
		w.skip()
		w.f(w.path, w.b[from:w.i], List)
	default:
		w.word(depth)
	}
}

// nested reads the members of a dictionary or call whose bracket is at i.
func (w *walker) nested(depth, from int) {
	w.f(w.path, w.b[from:w.i+1], Word) // that it is there
	if depth == maxDepth {
		w.skip()
		return
	}
	w.i++
	w.members(depth + 1)
}

// quoted passes over a text, which may be printed as head and tail with points
// between them. It returns the end of the first part, without its quote.
func (w *walker) quoted() int {
	end, closed := QuoteEnd(w.b, w.i)
	w.i = end
	if !closed {
		w.open = true
		return end
	}
	for bytes.HasPrefix(w.b[w.i:], dots) && w.i+len(dots) < len(w.b) {
		c := w.b[w.i+len(dots)]
		if c != '\'' && c != '"' {
			break
		}
		w.i, closed = QuoteEnd(w.b, w.i+len(dots))
		w.open = w.open || !closed
	}
	return end - 1
}

var dots = []byte(" ... ")

// word reads a value without quotes: a number, a name, a call, <object at 0x…>.
func (w *walker) word(depth int) {
	from := w.i
	for w.i < len(w.b) {
		switch c := w.b[w.i]; c {
		case ',', '}', ')', ']':
			w.f(w.path, bytes.TrimRight(w.b[from:w.i], " "), Word)
			return
		case '(':
			if w.i > from && nameByte(w.b[w.i-1]) {
				w.nested(depth, from)
				return
			}
			w.skip()
		case '<', '[', '{':
			w.skip()
		case '\'', '"':
			w.quoted()
		default:
			w.i++
		}
	}
	w.f(w.path, w.b[from:], Word)
}

// skip passes over a bracket and all within it. Between square brackets of
// numbers it looks for the end only.
func (w *walker) skip() {
	if w.b[w.i] == '[' && w.i+1 < len(w.b) && w.b[w.i+1]-'0' <= 9 {
		if k := bytes.IndexByte(w.b[w.i:], ']'); k >= 0 && !bytes.ContainsAny(w.b[w.i+1:w.i+k], "['\"") {
			w.i += k + 1
			return
		}
	}
	for depth := 0; w.i < len(w.b); {
		switch w.b[w.i] {
		case '\'', '"':
			w.quoted()
			continue
		case '[', '{', '(', '<':
			depth++
		case ']', '}', ')', '>':
			depth--
		}
		w.i++
		if depth <= 0 {
			return
		}
	}
	w.open = true
}

func nameByte(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c-'0' <= 9 || c == '_' || c == '.'
}

// QuoteEnd returns the end of the text that begins at i, behind its closing
// quote; closed is false where there is none.
func QuoteEnd(b []byte, i int) (end int, closed bool) {
	q := b[i]
	for i++; i < len(b); {
		k := bytes.IndexByte(b[i:], q)
		if k < 0 {
			return len(b), false
		}
		slashes := 0
		for j := i + k - 1; j >= i && b[j] == '\\'; j-- {
			slashes++
		}
		i += k + 1
		if slashes%2 == 0 {
			return i, true
		}
	}
	return len(b), false
}

// Texts calls f with each text in a list, as Walk gives it.
func Texts(list []byte, f func(text []byte)) {
	for i := 0; i < len(list); {
		if c := list[i]; c == '\'' || c == '"' {
			end, closed := QuoteEnd(list, i)
			if !closed {
				return
			}
			f(list[i+1 : end-1])
			i = end
			continue
		}
		i++
	}
}
