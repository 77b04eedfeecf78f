package dataset

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"servescope/analyzer/diag"
	"servescope/analyzer/kernel/request"
	"servescope/analyzer/trace"
)

// IDHashes appends a hash of the id, attempt and choice of each row of a batch that has
// an id, and of its run's slot. Readers compute the hashes in parallel while they have
// the rows; usually no hash occurs twice, and the rows need not be read again.
func IDHashes(dst []uint64, slot int32, b *trace.Batch) []uint64 {
	if !b.Has(trace.RequestID) {
		return dst
	}
	ids, attempts, choices := b.Texts(trace.RequestID), b.Ints(trace.Attempt), b.Ints(trace.Choice)
	dst = slices.Grow(dst, b.Rows)
	for i := range b.Rows {
		id, ok := ids.At(i)
		if !ok {
			continue
		}
		attempt, _ := attempts.At(i)
		choice, _ := choices.At(i)
		dst = append(dst, hashOf(mix(uint64(slot), uint64(attempt)<<32^uint64(choice)), id))
	}
	return dst
}

// repeated reports whether a hash is there twice.
func repeated(lists [][]uint64) bool {
	n := 0
	for _, hashes := range lists {
		n += len(hashes)
	}
	seen := newHashSet(n)
	for _, hashes := range lists {
		for _, h := range hashes {
			if !seen.add(h) {
				return true
			}
		}
	}
	return false
}

// checkDuplicates notes the rows that repeat one before them: the same request
// in the same run, seen from the same side, with the same beginning, attempt and
// choice. A file that was appended to itself has them. Nothing is left out,
// because a writer may use an id twice; a row without an id or a beginning
// repeats nothing.
func checkDuplicates(s *Set) {
	rows := 0
	for _, r := range s.Requests {
		if r.Has(trace.RequestID) {
			rows += r.Rows()
		}
	}
	seen := newHashSet(rows)
	var hashes []uint64
	for _, r := range OpenEach(s.Requests) {
		if !r.Cols.Has(trace.RequestID) {
			continue
		}
		hashes = rowHashes(hashes[:0], r)
		offsets := r.Cols.Ints(trace.Offset)
		d := diag.Diag{Code: "duplicate_request", Severity: diag.Notice, File: r.Cols.File, Offset: -1,
			Msg: "a request has the id and the start of an earlier one: it is counted again",
			Fix: "leave out the duplicates"}
		for i, h := range hashes {
			if h == 0 || seen.add(h) {
				continue
			}
			if off, ok := offsets.At(i); ok && (d.Count == 0 || off < d.Offset) {
				d.Offset = off
			}
			d.Count++
		}
		if d.Count > 0 {
			r.File.Diags.Add(d)
		}
	}
}

// rowHashes appends a hash of what identifies each row of r, 0 for those that
// nothing identifies. Of n rows that differ some two have the same with a probability of
// n²/2^65: one in a hundred thousand for 16 million.
func rowHashes(dst []uint64, r Opened) []uint64 {
	ids, starts := r.Cols.Texts(trace.RequestID), request.ArrivalsOf(r.Cols)
	attempts, choices, sides := r.Cols.Ints(trace.Attempt), r.Cols.Ints(trace.Choice), r.Cols.Dicts(trace.SideCol)
	for i := range r.Cols.Rows {
		id, ok := ids.At(i)
		start, begun := starts.At(i)
		if !ok || !begun {
			dst = append(dst, 0)
			continue
		}
		attempt, _ := attempts.At(i)
		choice, _ := choices.At(i)
		side, own := sides.At(i)
		if !own {
			side = int32(r.Cols.Run.Side)
		}
		h := mix(uint64(r.Slot)<<8|uint64(side), uint64(start))
		h = mix(h, uint64(attempt)<<32^uint64(choice))
		dst = append(dst, hashOf(h, id))
	}
	return dst
}

// hashOf returns the hash of what has hash h followed by an id; it is never 0.
func hashOf(h uint64, id []byte) uint64 {
	for ; len(id) >= 8; id = id[8:] {
		h = mix(h, binary.LittleEndian.Uint64(id))
	}
	last := uint64(len(id))
	for _, c := range id {
		last = last<<8 | uint64(c)
	}
	return max(mix(h, last), 1)
}

// mix returns the hash of what has hash h followed by the eight bytes of x. Both
// constants are odd numbers with well spread bits; any would do.
func mix(h, x uint64) uint64 {
	hi, lo := bits.Mul64(h^0x2d358dccaa6c78a5, x^0x8bb84b93962eacc9)
	return hi ^ lo
}

// hashSet is a set of hashes other than 0, with open addressing.
type hashSet []uint64

// newHashSet returns a set with room for n hashes.
func newHashSet(n int) hashSet { return make(hashSet, 1<<bits.Len(uint(n+n/2))) }

// add adds h and reports whether it is new.
func (s hashSet) add(h uint64) bool {
	mask := uint64(len(s) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		switch s[i] {
		case 0:
			s[i] = h
			return true
		case h:
			return false
		}
	}
}
