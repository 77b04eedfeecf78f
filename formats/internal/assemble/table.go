package assemble

// table finds open requests by the hash of their id: open addressing with linear
// probing, a slot of 16 bytes, no tombstones. Slots with equal hashes are told
// apart by their ids, which the owner compares.
type table struct {
	slots []slot
	n     int
}

// slot is one entry; q is nil where it is free.
type slot struct {
	hash uint64
	q    *open
}

// first returns where the search for a hash begins.
func (t *table) first(hash uint64) uint64 { return hash & uint64(len(t.slots)-1) }

// insert adds an entry. The caller has found that it is not there.
func (t *table) insert(hash uint64, q *open) {
	if 2*t.n >= len(t.slots) {
		old := t.slots
		t.slots = make([]slot, max(2*len(old), 1024))
		for _, s := range old {
			if s.q != nil {
				t.place(s)
			}
		}
	}
	t.n++
	t.place(slot{hash, q})
}

func (t *table) place(s slot) {
	i := t.first(s.hash)
	for t.slots[i].q != nil {
		i = (i + 1) & uint64(len(t.slots)-1)
	}
	t.slots[i] = s
}

// remove deletes an entry that is there and moves back those behind it that
// would not be found any more.
func (t *table) remove(hash uint64, q *open) {
	mask := uint64(len(t.slots) - 1)
	i := t.first(hash)
	for t.slots[i].q != q {
		i = (i + 1) & mask
	}
	t.n--
	for j := i; ; {
		j = (j + 1) & mask
		s := t.slots[j]
		if s.q == nil {
			t.slots[i] = slot{}
			return
		}
		// s may move to i unless its search begins behind i.
		if (j-t.first(s.hash))&mask >= (j-i)&mask {
			t.slots[i] = s
			i = j
		}
	}
}

// use is how often an id has been used, and when its last request began: Unknown
// where nothing says so.
type use struct {
	n     uint32
	start int64
}

// recent remembers how the ids that ended last have been used. Without it
// every event that comes after its request's end would look like a request
// without a beginning.
type recent struct {
	uses map[uint64]use
	ring []uint64
	at   int
}

// recentLen is the number of ended requests that are remembered.
const recentLen = 1 << 16

// add notes that a request with the given hash and beginning has ended.
func (r *recent) add(hash uint64, start int64) {
	if r.uses == nil {
		r.uses = make(map[uint64]use)
	}
	n := r.uses[hash].n
	r.uses[hash] = use{n + 1, start}
	if n > 0 {
		return
	}
	if len(r.ring) < recentLen {
		r.ring = append(r.ring, hash)
		return
	}
	delete(r.uses, r.ring[r.at])
	r.ring[r.at] = hash
	r.at = (r.at + 1) % recentLen
}
