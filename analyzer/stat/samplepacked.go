package stat

// samplePacked holds packed values of a Sample, in a store if there is one.
type samplePacked struct {
	packed
	opened []int64 // all values of the sample, sorted; nil until they are asked for
}

func (s *samplePacked) size() int64 {
	if s == nil {
		return 0
	}
	return 128 + s.packed.size() + 8*int64(cap(s.opened))
}

// RawCount returns the number of values held unpacked and uncounted.
func (s *Sample) RawCount() int {
	if s.counts != nil {
		return 0
	}
	return s.before + len(s.raw)
}

// Pack reduces the memory of the unpacked values, or moves them to the store if
// there is one. It is for callers that hold many samples within one memory
// limit. It takes as long as sorting the values, and returns the bytes of
// memory that they still take.
func (s *Sample) Pack(to Store) int64 {
	if s.RawCount() == 0 {
		return 0
	}
	s.DropUnpacked()
	s.gather()
	Sort(s.raw)
	if s.packed == nil {
		s.packed = new(samplePacked)
	}
	s.packed.add(s.raw, to)
	s.raw, s.sorted = nil, false
	return int64(len(s.packed.lists[len(s.packed.lists)-1].code))
}

// DropUnpacked frees the memory of values that order statistics have unpacked.
func (s *Sample) DropUnpacked() {
	if s.packed != nil && s.packed.opened != nil {
		used := s.packed.opened
		scratch.Put(&used)
		s.packed.opened = nil
	}
}

// held returns the number of values that are not counted in buckets.
func (s *Sample) held() int {
	n := s.before + len(s.raw)
	if s.packed != nil {
		n += s.packed.n
	}
	return n
}

// share adds the packed values of another sample; both samples share them.
func (s *Sample) share(o *samplePacked) {
	if o == nil {
		return
	}
	s.DropUnpacked()
	if s.packed == nil {
		s.packed = new(samplePacked)
	}
	s.packed.merge(&o.packed)
}

// inOrder returns all values of a sample that counts none, sorted, valid until
// DropUnpacked.
func (s *Sample) inOrder() []int64 {
	if s.packed == nil {
		s.sort()
		return s.raw
	}
	if s.packed.opened == nil {
		s.gather()
		s.packed.opened = s.packed.appendTo(append(take(s.held()), s.raw...))
		Sort(s.packed.opened)
	}
	return s.packed.opened
}

// eachPacked calls f for each list of packed values. The list is valid until f
// returns.
func (s *Sample) eachPacked(f func([]int64)) {
	if s.packed == nil {
		return
	}
	one := packed{lists: make([]packedList, 1)}
	var room []int64
	for _, l := range s.packed.lists {
		one.lists[0] = l
		room = one.appendTo(room[:0])
		f(room)
	}
}
