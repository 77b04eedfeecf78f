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
	hash, check uint64 // of the id
	start       int64
	n           uint32
}

// checkSeed makes another hash of Hash: ids are not kept here, and 64 bits are few
// enough for two of very many to be the same.
const checkSeed = ^HashSeed

// recent remembers how the ids that ended last have been used. Without it
// every event that comes after its request's end would look like a request
// without a beginning. Each group of ids has its own memory, so that what is
// known of an id does not depend on those of other groups.
type recent struct{ groups [][]use }

// Groups are told by the first bits of the hash; each remembers as many ids as
// uses. 64 k ids are remembered in all.
const (
	groupBits = 12
	groupUses = 16
)

// of returns how the id with the given hash has been used; n is 0 if nothing is known
// of it.
func (r *recent) of(hash uint64, id []byte) use {
	if r.groups != nil {
		for _, u := range r.groups[hash>>(64-groupBits)] {
			if u.hash == hash && u.check == hashFrom(checkSeed, id) {
				return u
			}
		}
	}
	return use{}
}

// add notes that a request with the given id and beginning has ended, and returns how
// the id had been used before.
func (r *recent) add(hash uint64, id []byte, start int64) (before use) {
	before = r.of(hash, id)
	r.put(use{hash, hashFrom(checkSeed, id), start, before.n + 1})
	return before
}

// put sets how an id has been used.
func (r *recent) put(u use) {
	if r.groups == nil {
		r.groups = make([][]use, 1<<groupBits)
	}
	g := &r.groups[u.hash>>(64-groupBits)]
	for i := range *g {
		if (*g)[i].hash == u.hash && (*g)[i].check == u.check {
			(*g)[i] = u
			return
		}
	}
	if len(*g) == groupUses {
		*g = (*g)[:copy(*g, (*g)[1:])]
	}
	*g = append(*g, u)
}
