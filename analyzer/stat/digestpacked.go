package stat

// Store holds bytes outside memory: a temporary file. It is safe for concurrent
// use. The owner of the store must notice its errors and discard results made
// from values that could not be read.
type Store interface {
	Append(p []byte) (off int64, err error)
	Read(p []byte, off int64) error
}

// packed holds sorted lists of values as differences, in one or two bytes per
// value instead of eight. Nothing is lost.
type packed struct {
	lists []packedList
	n     int // number of values in all lists
}

type packedList struct {
	code  []byte // the encoding; nil: it is in store
	store Store
	off   int64 // offset in store
	size  int32 // bytes of the encoding
	n     int32 // number of values
}

// add adds sorted values. It writes them to the store if there is one.
func (p *packed) add(sorted []int64, to Store) {
	room, _ := codes.Get().(*[]byte)
	if room == nil {
		room = new([]byte)
	}
	*room = AppendSorted((*room)[:0], sorted)
	l := packedList{store: to, size: int32(len(*room)), n: int32(len(sorted))}
	if to != nil {
		var err error
		if l.off, err = to.Append(*room); err != nil {
			l.store = nil
		}
	}
	if l.store == nil {
		l.code = append(make([]byte, 0, len(*room)), *room...)
	}
	codes.Put(room)
	p.lists = append(p.lists, l)
	p.n += len(sorted)
}

// merge adds the values of o.
func (p *packed) merge(o *packed) {
	p.lists = append(p.lists, o.lists...)
	p.n += o.n
}

// appendTo appends the values to dst, list after list. A value that the store
// cannot read becomes 0.
func (p *packed) appendTo(dst []int64) []int64 {
	var room []byte
	for i := range p.lists {
		l := &p.lists[i]
		code := l.code
		if code == nil {
			if cap(room) < int(l.size) {
				room = make([]byte, 2*l.size)
			}
			code = room[:l.size]
			if l.store.Read(code, l.off) != nil {
				code = nil
			}
		}
		n := len(dst) + int(l.n)
		if values, _, err := LoadSorted(dst, code); err == nil && len(values) == n {
			dst = values
		} else {
			dst = append(dst, make([]int64, l.n)...)
		}
	}
	return dst
}

// size returns the memory of p in bytes.
func (p *packed) size() int64 {
	n := 48 * int64(cap(p.lists))
	for i := range p.lists {
		n += int64(cap(p.lists[i].code))
	}
	return n
}

// Pack reduces the kept values to about a quarter of the memory, or moves them
// to the store if there is one. It is for callers that hold many digests within
// one memory limit. It takes as long as sorting the values, and returns the
// bytes of memory that they still take.
func (d *Digest) Pack(to Store) int64 {
	if d.hist != nil || len(d.raw) == 0 {
		return 0
	}
	if !d.sorted {
		Sort(d.raw)
	}
	d.packed.add(d.raw, to)
	d.raw, d.sorted = nil, false
	return int64(len(d.packed.lists[len(d.packed.lists)-1].code))
}

// Condense makes the digest count in buckets and keep only the buckets that
// hold the quantiles under method m. This takes less memory and is as exact, as
// long as no value is added.
func (d *Digest) Condense(m Method) {
	if d.hist != nil || d.moments.N == 0 {
		return
	}
	d.Settle()
	values := d.inOrder()
	d.raw, d.packed, d.opened, d.hist, d.moments = nil, packed{}, nil, newHistogram(), Moments{}
	// Mark the buckets of the quantiles.
	for _, q := range d.quantiles {
		lo, hi, _ := m.Ranks(int64(len(values)), q)
		d.hist.setKeep(bucketOf(values[lo]), true)
		d.hist.setKeep(bucketOf(values[hi]), true)
	}
	d.Add(values)
}

// DropUnpacked frees the memory of values that order statistics have unpacked.
func (d *Digest) DropUnpacked() {
	if used := d.opened; used != nil {
		scratch.Put(&used)
		d.opened = nil
	}
}

// every returns all values of a digest that counts none, in any order.
func (d *Digest) every() []int64 {
	if d.packed.n == 0 {
		return d.raw
	}
	return d.packed.appendTo(append(take(d.packed.n+len(d.raw)), d.raw...))
}

// inOrder returns all values of a digest that counts none, sorted. Settle must
// have sorted raw.
func (d *Digest) inOrder() []int64 {
	if d.packed.n == 0 {
		return d.raw
	}
	if d.opened == nil {
		d.opened = d.every()
		Sort(d.opened)
	}
	return d.opened
}
