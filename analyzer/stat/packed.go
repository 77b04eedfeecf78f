package stat

// packed holds values in a byte or two each, rather than eight: lists of them, each
// sorted and written as the steps from one to the next. Nothing is lost.
type packed struct {
	code []byte
	n    int // values in it
}

// add adds sorted values.
func (p *packed) add(sorted []int64) {
	room, _ := codes.Get().(*[]byte)
	if room == nil {
		room = new([]byte)
	}
	code := AppendSorted((*room)[:0], sorted)
	p.merge(&packed{code, len(sorted)})
	*room = code
	codes.Put(room)
}

// merge adds what o holds, in memory of just the size.
func (p *packed) merge(o *packed) {
	if o.n == 0 {
		return
	}
	p.code = append(append(make([]byte, 0, len(p.code)+len(o.code)), p.code...), o.code...)
	p.n += o.n
}

// appendTo appends the values to dst, list after list.
func (p *packed) appendTo(dst []int64) []int64 {
	for code := p.code; len(code) > 0; {
		var err error
		if dst, code, err = LoadSorted(dst, code); err != nil {
			panic(err) // it is what add wrote
		}
	}
	return dst
}

// Pack makes the digest hold what it keeps of its values in a quarter of the memory:
// for callers that hold many digests and bound their sum. It takes as long as sorting
// them.
func (d *Digest) Pack() {
	if d.hist != nil || len(d.raw) == 0 {
		return
	}
	if !d.sorted {
		Sort(d.raw)
	}
	d.packed.add(d.raw)
	d.raw, d.sorted = nil, false
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

// take returns an empty slice with room for n values.
func take(n int) []int64 {
	if room, _ := scratch.Get().(*[]int64); room != nil && cap(*room) >= n {
		return (*room)[:0]
	}
	return make([]int64, 0, n)
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
