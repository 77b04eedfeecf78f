package torchtrace

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"servescope/formats/source"
)

// item holds the numbers that are kept of an event: 6 to 9 bytes once stored. The
// user of the store defines tag, except for auxBit, which says that aux is set.
type item struct {
	at, dur int64
	key     uint64
	tag     uint32
	aux     uint32
}

const (
	auxBit    = 1
	runItems  = 1 << 15 // items sorted at a time, unless a test says otherwise
	blockSize = 128     // items between two places where decoding can begin
	maxItem   = 5 * binary.MaxVarintLen64
)

// store keeps items as sorted runs of differences in variable-length integers:
// an event that costs a kilobyte in the file costs a few bytes here. Runs are
// kept in memory up to the vault's budget, then in a file.
type store struct {
	vault   *vault
	limit   int  // items of a run
	byKey   bool // sorted by key and at; else by at, and by place in the file where equal
	buf     []item
	runs    []*run
	encoded []byte
}

// run is one sorted part of a store.
type run struct {
	blob
	items    int
	firstAt  int64  // the least at
	firstKey uint64 // the least and the greatest key, of a store by key
	lastKey  uint64
	blocks   []block // of a store by key
}

// block is a place in a run where decoding can begin.
type block struct {
	key uint64
	off uint32
}

func (s *store) add(it item) error {
	s.buf = append(s.buf, it)
	if len(s.buf) == s.limit {
		return s.flush()
	}
	return nil
}

// flush ends the current run.
func (s *store) flush() error {
	if len(s.buf) == 0 {
		return nil
	}
	order := func(a, b item) int { return cmp.Compare(a.at, b.at) }
	if s.byKey {
		order = func(a, b item) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.at, b.at)) }
	}
	if !slices.IsSortedFunc(s.buf, order) {
		slices.SortStableFunc(s.buf, order)
	}
	last := &s.buf[len(s.buf)-1]
	r := &run{items: len(s.buf), firstAt: s.buf[0].at, firstKey: s.buf[0].key, lastKey: last.key}
	b := s.encoded[:0]
	var at int64
	var key uint64
	for i := range s.buf {
		it := &s.buf[i]
		if i%blockSize == 0 {
			at, key = 0, 0
			if s.byKey {
				r.blocks = append(r.blocks, block{it.key, uint32(len(b))})
			}
		}
		b = binary.AppendVarint(b, it.at-at)
		b = binary.AppendUvarint(b, uint64(it.dur))
		b = binary.AppendVarint(b, int64(it.key-key))
		b = binary.AppendUvarint(b, uint64(it.tag))
		if it.tag&auxBit != 0 {
			b = binary.AppendUvarint(b, uint64(it.aux))
		}
		at, key = it.at, it.key
	}
	s.encoded, s.buf = b, s.buf[:0]
	var err error
	r.blob, err = s.vault.put(b)
	s.runs = append(s.runs, r)
	return err
}

// done ends the last run and gives the buffers back.
func (s *store) done() error {
	err := s.flush()
	s.buf, s.encoded = nil, nil
	return err
}

// vault holds the bytes of all runs of a reader.
type vault struct {
	budget int64 // bytes that may be in memory
	used   int64 // bytes in memory
	file   source.TempFile
}

// blob is a part of a vault: mem, or size bytes at off of the file.
type blob struct {
	mem  []byte
	file *source.TempFile
	off  int64
	size int
}

// put keeps a copy of b.
func (v *vault) put(b []byte) (blob, error) {
	if v.used+int64(len(b)) <= v.budget {
		v.used += int64(len(b))
		return blob{mem: append(make([]byte, 0, len(b)), b...), size: len(b)}, nil
	}
	at := v.file.Size()
	_, err := v.file.Write(b)
	if errors.Is(err, source.ErrNoDir) {
		err = tooLarge{v.used}
	}
	return blob{file: &v.file, off: at, size: len(b)}, err
}

// tooLarge is why a trace cannot be read.
type tooLarge struct{ held int64 }

func (e tooLarge) Error() string {
	return fmt.Sprintf("the trace is too large: more than %d bytes of its events would have to be held, and there is no directory for temporary files", e.held)
}

// Hint returns what to do about it.
func (e tooLarge) Hint() string { return "allow more memory, or a directory for temporary files" }

// read copies the bytes at off of the blob to b.
func (b *blob) read(p []byte, off int) error {
	if b.mem != nil {
		copy(p, b.mem[off:])
		return nil
	}
	_, err := b.file.ReadAt(p, b.off+int64(off))
	return err
}
