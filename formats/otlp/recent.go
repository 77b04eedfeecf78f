package otlp

// remembered is how many keys a recent holds at least; it may hold twice that.
const remembered = 1 << 17

// recent counts keys. It forgets those that did not occur for long: what repeats
// a request in a file of any size stands close to it.
type recent struct{ young, old map[uint64]int32 }

// add counts a key and returns how often it occurred before.
func (r *recent) add(key uint64) int32 {
	if r.young == nil {
		r.young = make(map[uint64]int32)
	}
	n, ok := r.young[key]
	if !ok {
		n = r.old[key]
	}
	if len(r.young) >= remembered {
		r.old, r.young = r.young, make(map[uint64]int32, remembered)
	}
	r.young[key] = n + 1
	return n
}

// has reports whether a key occurred.
func (r *recent) has(key uint64) bool { return r.young[key] > 0 || r.old[key] > 0 }

// repeats reports whether a span says again what an earlier one said, or else
// which choice of its request it is.
func (f *fold) repeats(p *part, s *span, from *place) (choice int64, again bool) {
	if s.id != 0 && f.seen.add(mix(s.trace, s.id)) > 0 {
		return 0, true
	}
	id := p.raw(s.text[requestID-textSlots])
	if len(id) == 0 {
		f.note(&probNoID, s.offset)
		return 0, false
	}
	key := mix(identity(id), uint64(s.start))
	if from.resource != nil {
		key = mix(key, identity([]byte(from.resource.service)))
	}
	n := f.seen.add(key)
	if v, ok := s.number(nChoices); ok && v > 1 {
		return int64(n), false
	}
	return 0, n > 0
}

// mix returns a hash of two hashes.
func mix(a, b uint64) uint64 {
	h := (a ^ b<<1 ^ b>>63) * 0x9e3779b97f4a7c15
	return h ^ h>>32 ^ b
}
