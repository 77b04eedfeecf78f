package torchtrace

import (
	"cmp"
	"slices"
)

// launch is the host's call that started device work.
type launch struct {
	at     int64
	thread uint32
	graph  bool // it replays a graph
}

// Tags of stored launches: graphBit, and the thread above.
const (
	graphBit    = 2
	threadShift = 2
)

// launches finds calls by correlation id in a store that is sorted by key. Ids
// rise with time on both sides, so nearly every look-up is in the block of the
// one before.
type launches struct {
	runs  []*run   // by firstKey
	reach []uint64 // greatest lastKey of the runs up to each
	cache [16]decoded
	clock int

	last   uint64 // the look-up before
	found  launch
	ok     bool
	primed bool
	err    error
}

// decoded is a block of a run.
type decoded struct {
	run   *run
	block int
	used  int
	items []item
}

func newLaunches(s *store) *launches {
	l := &launches{runs: slices.Clone(s.runs)}
	slices.SortStableFunc(l.runs, func(a, b *run) int { return cmp.Compare(a.firstKey, b.firstKey) })
	var reach uint64
	for _, r := range l.runs {
		reach = max(reach, r.lastKey)
		l.reach = append(l.reach, reach)
	}
	return l
}

// find returns the call with the given key, the earliest of several.
func (l *launches) find(key uint64) (launch, bool) {
	if l.primed && l.last == key { // a replay has thousands of kernels
		return l.found, l.ok
	}
	l.last, l.primed, l.ok = key, true, false
	i, _ := slices.BinarySearchFunc(l.runs, key, func(r *run, key uint64) int {
		if r.firstKey <= key {
			return -1
		}
		return 1
	})
	for i--; i >= 0 && l.reach[i] >= key; i-- {
		if r := l.runs[i]; r.lastKey >= key {
			l.search(r, key)
		}
	}
	return l.found, l.ok
}

// search looks for key in one run.
func (l *launches) search(r *run, key uint64) {
	// The first item with the key is in the last block that begins below it, or
	// at the start of the next.
	b, _ := slices.BinarySearchFunc(r.blocks, key, func(b block, key uint64) int { return cmp.Compare(b.key, key) })
	for b = max(0, b-1); b < len(r.blocks) && r.blocks[b].key <= key; b++ {
		items := l.block(r, b)
		j, ok := slices.BinarySearchFunc(items, key, func(it item, key uint64) int { return cmp.Compare(it.key, key) })
		if !ok {
			continue
		}
		if it := &items[j]; !l.ok || it.at < l.found.at {
			l.found, l.ok = launch{it.at, it.tag >> threadShift, it.tag&graphBit != 0}, true
		}
		return
	}
}

// block returns the items of a block.
func (l *launches) block(r *run, b int) []item {
	l.clock++
	oldest := &l.cache[0]
	for i := range l.cache {
		d := &l.cache[i]
		if d.run == r && d.block == b {
			d.used = l.clock
			return d.items
		}
		if d.used < oldest.used {
			oldest = d
		}
	}
	from, to := int(r.blocks[b].off), r.size
	if b+1 < len(r.blocks) {
		to = int(r.blocks[b+1].off)
	}
	buf := r.mem
	if buf != nil {
		buf = buf[from:to]
	} else {
		buf = make([]byte, to-from)
		if err := r.read(buf, from); err != nil {
			l.err = first(l.err, err)
			return nil
		}
	}
	d := oldest
	d.run, d.block, d.used, d.items = r, b, l.clock, d.items[:0]
	var it item
	for i := 0; i < len(buf); {
		i = decode(&it, buf, i, len(d.items) == 0)
		d.items = append(d.items, it)
	}
	return d.items
}
