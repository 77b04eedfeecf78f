package assemble

import (
	"encoding/binary"
	"math"
)

// ahead is how many events are looked up together. With many open requests each
// one's memory is far away; their addresses do not depend on one another, so the
// processor fetches them at the same time.
const ahead = 32

// nearby is the number of slots up to which the table is in the cache anyway.
const nearby = 1 << 12

// foldAll adds events of a block, in file order.
func (a *shard) foldAll(e *Events, list []Tick) {
	for len(list) > 0 && a.spill.err == nil {
		if a.spill.away != 0 {
			list = a.sift(e, list)
		}
		list = list[a.fold(e, list):]
	}
}

// fold adds events until open requests had to go, and returns how many it has
// added.
func (a *shard) fold(e *Events, list []Tick) (done int) {
	var found [ahead]*open
	for ; done < len(list); done += ahead {
		next := list[done:min(done+ahead, len(list))]
		if a.look(next, &found); next[0].size() > idLen {
			a.lookFurther(found[:len(next)])
		}
		same(e.Text, next, &found)
		sure := true // no request has begun or ended since
		for i := range next {
			t, q := &next[i], found[i&(ahead-1)]
			switch {
			case t.size() == 0:
				a.at = e.place(t)
				a.add(e, &e.List[t.from()], q)
				sure = false
			case q == nil || !sure && !q.means(e.Text, t):
				a.at = e.place(t)
				ev := e.Event(t)
				a.add(e, &ev, nil)
				sure = false
			default:
				if gap := t.at - q.last; q.flags&usual == answered && uint64(gap) <= math.MaxInt32 && q.gaps.n < lineLen {
					q.gaps.v[q.gaps.n] = int32(gap)
					q.gaps.n++
					q.chunks++
					q.last = t.at
					continue
				}
				a.at = e.place(t)
				a.token(q, &Event{At: t.at, Tokens: -1, Timed: true, Sort: -1})
			}
			if a.relieve() {
				return done + i + 1
			}
		}
	}
	return len(list)
}

// usual are the flags of which a request has but answered while its tokens are
// plain and in order.
const usual = answered | unsorted | counted | noFirst | noLast | noGaps | noMemory

// look finds the requests that the events probably belong to, nil where there is
// none, and reads their first bytes.
func (a *shard) look(list []Tick, found *[ahead]*open) {
	slots := a.table.slots
	if len(slots) == 0 {
		*found = [ahead]*open{}
		return
	}
	mask, sum := uint64(len(slots)-1), int64(0)
	if len(slots) > nearby {
		for i := range list {
			sum += int64(slots[list[i].hash&mask].hash)
		}
	}
	for i := range list {
		hash := list[i].hash
		k := hash & mask
		for slots[k].q != nil && slots[k].hash != hash {
			k = (k + 1) & mask
		}
		found[i&(ahead-1)] = slots[k].q
	}
	for _, q := range found[:len(list)] {
		if q != nil {
			sum += q.last + int64(q.gaps.n)
		}
	}
	a.touched = sum
}

// lookFurther reads the rest of the ids of requests that have been found.
func (a *shard) lookFurther(found []*open) {
	sum := byte(0)
	for _, q := range found {
		if q != nil {
			sum += q.rest[0]
		}
	}
	a.touched = int64(sum)
}

// same leaves out those of the requests that are not the ones of their ticks.
func same(text []byte, list []Tick, found *[ahead]*open) {
	for i := range list {
		t, q := &list[i], found[i&(ahead-1)]
		if q == nil || t.size() == 0 {
			continue
		}
		if t.size() > idLen || int(t.from())+idLen > len(text) {
			if !q.means(text, t) {
				found[i&(ahead-1)] = nil
			}
			continue
		}
		b, m := (*[idLen]byte)(text[t.from():]), &idMasks[t.size()]
		diff := (binary.LittleEndian.Uint64(b[0:])^binary.LittleEndian.Uint64(q.id[0:]))&m[0] |
			(binary.LittleEndian.Uint64(b[8:])^binary.LittleEndian.Uint64(q.id[8:]))&m[1] |
			(binary.LittleEndian.Uint64(b[16:])^binary.LittleEndian.Uint64(q.id[16:]))&m[2]
		if diff|uint64(t.size()^q.idSize)|(q.hash^t.hash) != 0 {
			found[i&(ahead-1)] = nil
		}
	}
}

// means reports whether the request is that of a token.
func (q *open) means(text []byte, t *Tick) bool {
	return q.flags&gone == 0 && q.hash == t.hash && q.is(text[t.from():t.from()+uint32(t.size())])
}

// idMasks are the bits of the words of a short id that are of its bytes, by its
// length.
var idMasks = func() (masks [idLen + 1][idLen / 8]uint64) {
	for n := range masks {
		for i := range n {
			masks[n][i/8] |= 0xff << (8 * (i % 8))
		}
	}
	return masks
}()
