package join

import (
	"bytes"
	"hash/maphash"
	"math/bits"
)

// table groups rows by their names. It is an open-addressing table of 64-bit
// hashes, compares entries by name, and takes 20 bytes for each row. Rows with
// one name form a chain in order of their numbers. The hash seed is random, so
// that no file can be crafted whose names all collide; results do not depend on
// it.
type table struct {
	seed   maphash.Seed
	hashes []uint64 // by row
	next   []int32  // by row: the next row with the same name, or -1
	slots  []int32  // 1 + first row of a chain; 0: empty
	heads  []uint64 // bitmap of the rows that are the first with their name
}

// fill adds the rows below n that have a name to the table.
func (t *table) fill(n int32, name func(r int32, scratch *[]byte) (key, bool)) {
	if t.hashes == nil {
		t.seed = maphash.MakeSeed()
		t.hashes, t.next = make([]uint64, n), make([]int32, n)
		t.slots = make([]int32, 1<<bits.Len32(uint32(n)+uint32(n)/2))
		t.heads = make([]uint64, (n+63)/64)
	}
	clear(t.slots)
	clear(t.heads)
	mask := uint64(len(t.slots) - 1)
	var mine, other []byte
	for r := n - 1; r >= 0; r-- { // last row first, so that a chain starts with the first row
		t.next[r] = -1
		k, ok := name(r, &mine)
		if !ok {
			continue
		}
		h := maphash.Bytes(t.seed, k.text) ^ uint64(k.run)
		t.hashes[r] = h
		i := h & mask
		for ; t.slots[i] != 0; i = (i + 1) & mask {
			first := t.slots[i] - 1
			if t.hashes[first] != h {
				continue
			}
			if o, _ := name(first, &other); o.equal(&k) {
				t.next[r] = first
				t.heads[first>>6] &^= 1 << (first & 63)
				break
			}
		}
		t.slots[i] = r + 1
		t.heads[r>>6] |= 1 << (r & 63)
	}
}

// each calls f with the rows of every name that several rows have, ordered by
// first row. The slice is valid during the call.
func (t *table) each(f func(rows []int32)) {
	var list []int32
	for w, word := range t.heads {
		for ; word != 0; word &= word - 1 {
			r := int32(w<<6 + bits.TrailingZeros64(word))
			if t.next[r] < 0 {
				continue
			}
			list = list[:0]
			for ; r >= 0; r = t.next[r] {
				list = append(list, r)
			}
			f(list)
		}
	}
}

// key is the name of a row on one level of linking.
type key struct {
	form
	run int32
}

func (k *key) equal(o *key) bool { return k.run == o.run && bytes.Equal(k.text, o.text) }
