package stat

// Store takes what is not held in memory, and gives it back: a temporary file. It is
// safe for concurrent use. Who owns it learns of errors from it and reports nothing
// that was made of what could not be read.
type Store interface {
	Append(p []byte) (off int64, err error)
	Read(p []byte, off int64) error
}

// packed holds values in a byte or two each, rather than eight: lists of them, each
// sorted and written as the steps from one to the next. Nothing is lost.
type packed struct {
	lists []packedList
	n     int // values in them
}

type packedList struct {
	code  []byte // nil: in the store
	store Store
	off   int64 // there
	size  int32 // of the code
	n     int32
}

// add adds sorted values, in the store if there is one.
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

// merge adds what o holds.
func (p *packed) merge(o *packed) {
	p.lists = append(p.lists, o.lists...)
	p.n += o.n
}

// appendTo appends the values to dst, list after list: zeros for what the store has
// lost.
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

// size returns the bytes of memory that p holds.
func (p *packed) size() int64 {
	n := 48 * int64(cap(p.lists))
	for i := range p.lists {
		n += int64(cap(p.lists[i].code))
	}
	return n
}

// Pack makes the digest hold what it keeps of its values in a quarter of the memory,
// or in the store if there is one: for callers that hold many digests and bound their
// sum. It takes as long as sorting them, and returns the bytes of memory.
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

// Condense makes the digest count in buckets, of which it keeps those that hold the
// quantiles under method m: it is less that way, and as good as long as no value is
// added.
func (d *Digest) Condense(m Method) {
	if d.hist != nil || d.moments.N == 0 {
		return
	}
	d.Settle()
	values := d.inOrder()
	d.raw, d.packed, d.opened, d.hist, d.moments = nil, packed{}, nil, newHistogram(), Moments{}
	for _, q := range d.quantiles {
		lo, hi, _ := m.Ranks(int64(len(values)), q)
		d.hist.setKeep(bucketOf(values[lo]), true)
		d.hist.setKeep(bucketOf(values[hi]), true)
	}
	d.Add(values)
}

// Rest lets go of what looking for order statistics has unpacked.
func (d *Digest) Rest() {
	if used := d.opened; used != nil {
		scratch.Put(&used)
		d.opened = nil
	}
}

// every returns all values that the digest keeps, while it counts none, in some
// order.
func (d *Digest) every() []int64 {
	if d.packed.n == 0 {
		return d.raw
	}
	return d.packed.appendTo(append(take(d.packed.n+len(d.raw)), d.raw...))
}

// inOrder returns the same, sorted. Raw values alone are settled.
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
