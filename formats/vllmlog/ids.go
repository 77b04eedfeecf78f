package vllmlog

import (
	"bytes"

	"servescope/formats/internal/assemble"
)

// One request has several names in a log:
//
//	chatcmpl-bench-17            external: Received, Generated response, Request … aborted
//	chatcmpl-bench-17-a8a65d16   internal, since about v0.14: Added, Aborted request(s)
//	0_chatcmpl-bench-17          internal, of the first of several choices; also with suffix
//
// An external id may itself end like an internal one, or begin with a number, so
// a name is taken apart only where that gives a request that is open.

// resolve returns the id of the open request that a line means by id, or id
// itself when none is open.
func (q *requests) resolve(id []byte) (own []byte, open bool) {
	for _, name := range names(id) {
		if name != nil && q.assembler.IsOpen(name) {
			return name, true
		}
	}
	return id, false
}

// names returns the ids that id may stand for; some are nil.
func names(id []byte) [4][]byte {
	return [...][]byte{id, external(id), parent(id), parent(external(id))}
}

// external returns an internal id without the suffix of 8 hexadecimal digits, or
// nil if it has none.
func external(id []byte) []byte {
	const suffix = len("-a8a65d16")
	n := len(id) - suffix
	if n <= 0 || id[n] != '-' {
		return nil
	}
	for _, c := range id[n+1:] {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return nil
		}
	}
	return id[:n]
}

// parent returns the id of the request whose choice id is, or nil if it is none.
func parent(id []byte) []byte {
	k := bytes.IndexByte(id, '_')
	if k < 1 || k > 4 {
		return nil
	}
	for _, c := range id[:k] {
		if c < '0' || c > '9' {
			return nil
		}
	}
	return id[k+1:]
}

// ended remembers the requests that ended last, because a server may say so
// twice: in the engine and in the frontend, or for every choice.
type ended struct {
	hashes map[uint64]struct{}
	ring   []uint64
	at     int
}

// rememberedEnds is how many ends are remembered.
const rememberedEnds = 1 << 14

func (e *ended) has(id []byte) bool {
	_, ok := e.hashes[assemble.Hash(id)]
	return ok && id != nil
}

// meant reports whether one of them is a request that id may stand for.
func (e *ended) meant(id []byte) bool {
	for _, name := range names(id) {
		if e.has(name) {
			return true
		}
	}
	return false
}

func (e *ended) drop(id []byte) { delete(e.hashes, assemble.Hash(id)) }

func (e *ended) add(id []byte) {
	if e.hashes == nil {
		e.hashes = make(map[uint64]struct{})
	}
	for _, name := range names(id) {
		if name == nil || e.has(name) {
			continue
		}
		h := assemble.Hash(name)
		e.hashes[h] = struct{}{}
		if len(e.ring) < rememberedEnds {
			e.ring = append(e.ring, h)
			continue
		}
		delete(e.hashes, e.ring[e.at])
		e.ring[e.at] = h
		e.at = (e.at + 1) % rememberedEnds
	}
}

// further reports whether id is a choice behind the first of its request.
func further(id []byte) bool { return parent(id) != nil && id[0] != '0' }
