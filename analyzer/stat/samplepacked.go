package stat

// shut holds values of a Sample packed, in a store if there is one.
type shut struct {
	packed
	opened []int64 // they and all others of the sample, sorted, while someone asks for them; nil: not
}

func (s *shut) size() int64 {
	if s == nil {
		return 0
	}
	return 128 + s.packed.size() + 8*int64(cap(s.opened))
}

// Raw returns the number of values that are held as they are, and are not counted.
func (s *Sample) Raw() int {
	if s.big != nil {
		return 0
	}
	return s.before + len(s.raw)
}

// Pack makes the sample hold the values that it has as they are in less memory, or in
// the store if there is one: for callers that hold many samples and bound their sum. It
// takes as long as sorting them, and returns the bytes of memory.
func (s *Sample) Pack(to Store) int64 {
	if s.Raw() == 0 {
		return 0
	}
	s.Rest()
	s.gather()
	Sort(s.raw)
	if s.shut == nil {
		s.shut = new(shut)
	}
	s.shut.add(s.raw, to)
	s.raw, s.sorted = nil, false
	return int64(len(s.shut.lists[len(s.shut.lists)-1].code))
}

// Rest lets go of what looking for order statistics has unpacked.
func (s *Sample) Rest() {
	if s.shut != nil && s.shut.opened != nil {
		used := s.shut.opened
		scratch.Put(&used)
		s.shut.opened = nil
	}
}

// held returns the number of values that are not counted in buckets.
func (s *Sample) held() int {
	n := s.before + len(s.raw)
	if s.shut != nil {
		n += s.shut.n
	}
	return n
}

// share adds packed values of another sample, which both have then.
func (s *Sample) share(o *shut) {
	if o == nil {
		return
	}
	s.Rest()
	if s.shut == nil {
		s.shut = new(shut)
	}
	s.shut.merge(&o.packed)
}

// inOrder returns the values, sorted, of a sample that counts none: valid until Rest.
func (s *Sample) inOrder() []int64 {
	if s.shut == nil {
		s.sort()
		return s.raw
	}
	if s.shut.opened == nil {
		s.gather()
		s.shut.opened = s.shut.appendTo(append(take(s.held()), s.raw...))
		Sort(s.shut.opened)
	}
	return s.shut.opened
}

// eachPacked calls f with the packed values, a list at a time, valid until it returns.
func (s *Sample) eachPacked(f func([]int64)) {
	if s.shut == nil {
		return
	}
	one := packed{lists: make([]packedList, 1)}
	var room []int64
	for _, l := range s.shut.lists {
		one.lists[0] = l
		room = one.appendTo(room[:0])
		f(room)
	}
}
