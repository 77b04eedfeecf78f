package otlp

import (
	"encoding/binary"
	"math/bits"

	"servescope/formats/internal/json"
)

// Results of the scanning functions other than an index.
const (
	short = json.Short
	bad   = json.Bad
)

// text is JSON that may go on behind its end.
type text []byte

// quote returns the index of the quote that closes the string whose first byte
// is at i. A line feed in a string is no JSON: it is where a line broke off.
// Eight bytes are tested at a time for quotes, backslashes and line feeds; in
// each test only bytes above a hit can be wrongly marked, and the lowest counts.
func (b text) quote(i int) int {
	for {
		for i+8 <= len(b) {
			w := binary.LittleEndian.Uint64(b[i:])
			q, e, l := w^json.Ones*'"', w^json.Ones*'\\', w^json.Ones*'\n'
			if hit := ((q-json.Ones)&^q | (e-json.Ones)&^e | (l-json.Ones)&^l) & json.Highs; hit != 0 {
				i += bits.TrailingZeros64(hit) >> 3
				break
			}
			i += 8
		}
		for i < len(b) && b[i] != '"' && b[i] != '\\' && b[i] != '\n' {
			i++
		}
		switch {
		case i >= len(b):
			return short
		case b[i] == '"':
			return i
		case b[i] == '\n':
			return bad
		}
		i += 2
	}
}

// colon returns the index of the value behind the key that ends before i.
func (b text) colon(i int) int {
	if i = json.Space(b, i); i >= len(b) {
		return short
	}
	if b[i] != ':' {
		return bad
	}
	if i = json.Space(b, i+1); i >= len(b) {
		return short
	}
	return i
}

// value returns the index behind the value at i.
func (b text) value(i int) int {
	if i >= len(b) {
		return short
	}
	switch b[i] {
	case '"':
		if i = b.quote(i + 1); i < 0 {
			return i
		}
		return i + 1
	case '{', '[':
		return b.container(i)
	}
	return json.Scalar(b, i)
}

// container returns the index behind the object or array at i. Its brackets must
// match.
func (b text) container(i int) int {
	arrays := uint64(0) // of the containers around i, the innermost lowest
	for depth := 0; i < len(b); i++ {
		switch c := b[i]; c {
		case '"':
			if i = b.quote(i + 1); i < 0 {
				return i
			}
		case '{', '[':
			if depth == 64 {
				return bad
			}
			depth++
			arrays = arrays<<1 | uint64(c>>5&1^1)
		case '}', ']':
			if uint64(c>>5&1^1) != arrays&1 {
				return bad
			}
			arrays >>= 1
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return short
}

// ending finds the end of an object by counting brackets, whatever they are. An
// object that cannot be read is skipped to there: one damaged span need not cost
// the others.
type ending struct {
	depth           int
	quoted, escaped bool
	found           bool
}

// scan goes on with b and returns how much of it belongs to the object, or bad
// if the object breaks off with the line.
func (e *ending) scan(b []byte) int {
	for i, c := range b {
		switch {
		case e.escaped:
			e.escaped = false
		case e.quoted && c == '\n':
			return bad
		case c == '"':
			e.quoted = !e.quoted
		case e.quoted:
			e.escaped = c == '\\'
		case c == '{' || c == '[':
			e.depth++
		case c == '}' || c == ']':
			if e.depth--; e.depth == 0 {
				e.found = true
				return i + 1
			}
		}
	}
	return len(b)
}

// end returns the index behind the object that b begins with; see ending.
func (b text) end() int {
	var e ending
	n := e.scan(b)
	if n >= 0 && !e.found {
		return short
	}
	return n
}

// member goes to the next member of the object that i is inside of and returns
// where its key, without quotes, and its value begin. At the end of the object
// done is true and next the index behind it.
func (b text) member(i int) (from, to, next int, done bool) {
	for i = json.Space(b, i); i < len(b) && b[i] == ','; i = json.Space(b, i) {
		i++
	}
	switch {
	case i >= len(b):
		return 0, 0, short, false
	case b[i] == '}':
		return 0, 0, i + 1, true
	case b[i] != '"':
		return 0, 0, bad, false
	}
	from = i + 1
	if to = b.quote(from); to < 0 {
		return 0, 0, to, false
	}
	return from, to, b.colon(to + 1), false
}

// element goes to the next element of the array that i is inside of; see member.
func (b text) element(i int) (next int, done bool) {
	for i = json.Space(b, i); i < len(b) && b[i] == ','; i = json.Space(b, i) {
		i++
	}
	switch {
	case i >= len(b):
		return short, false
	case b[i] == ']':
		return i + 1, true
	}
	return i, false
}

// plain returns the text of a scalar as it is written, without quotes.
func (b text) plain(from, to int) []byte {
	if b[from] == '"' {
		return b[from+1 : to-1]
	}
	return b[from:to]
}
