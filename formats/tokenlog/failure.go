package tokenlog

import (
	"servescope/formats/internal/json"

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
	end := json.Skip(p.text[:p.lineEnd()], p.i)
	if end < 0 {
		return false
	}
	var found []byte
	best := len(classKeys)
	object := json.Scanner{B: p.text[:end], I: p.i}
	object.Each('{', '}', func() bool {
		key, ok := object.Key()
		if !ok {
			return false
		}
		value, ok := object.Skip()
		for rank, name := range classKeys[:best] {
			if v := class(bytes.Trim(value, `"`)); ok && string(key) == name && v != nil && string(v) != "null" {
				found, best = v, rank
				break
			}
		}
		return ok
	})
	empty := len(bytes.TrimSpace(p.text[p.i+1:end-1])) == 0
	p.i = end
	p.fail(found, !empty)
	return true
}
