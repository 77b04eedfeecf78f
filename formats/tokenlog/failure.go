package tokenlog

import (
	"bytes"
)

// maxClass is the longest class of an error, in bytes.
const maxClass = 64

// class returns the class of an error's text: the identifier that it is or
// begins with before a colon, as in "ValueError: …". Anything else is payload,
// and nil is returned.
func class(s []byte) []byte {
	head, _, _ := bytes.Cut(s, []byte{':'})
	head = bytes.TrimSpace(head)
	if len(head) == 0 || len(head) > maxClass {
		return nil
	}
	for _, c := range head {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-', c == '.':
		default:
			return nil
		}
	}
	return head
}

// classKeys are the members of an error object that may name its class, the
// best first.
var classKeys = []string{"type", "class", "name", "code", "status"}

// failureObject reads an error written as an object.
func (p *parser) failureObject() bool {
	whole := p.scanner
	if !whole.skipNested() {
		return false
	}
	end := whole.i
	var found []byte
	best := len(classKeys)
	s := p.scanner
	for s.i++; s.i < end; {
		s.space()
		from, to, _, ok := s.str()
		if !ok {
			break
		}
		key := s.text[from:to]
		if s.space(); s.text[s.i] != ':' {
			break
		}
		s.i++
		s.space()
		from = s.i
		if !s.skip() {
			break
		}
		for rank, name := range classKeys[:best] {
			if v := class(bytes.Trim(s.text[from:s.i], `"`)); string(key) == name && v != nil && string(v) != "null" {
				found, best = v, rank
				break
			}
		}
		if s.space(); s.text[s.i] != ',' {
			break
		}
		s.i++
	}
	empty := len(bytes.TrimSpace(p.text[p.i+1:end-1])) == 0
	p.i = end
	p.fail(found, !empty)
	return true
}
