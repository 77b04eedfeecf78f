package arrow

import (
	"encoding/binary"

	"servescope/formats/internal/flatbuffer"

	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/klauspost/compress/zstd"
)

// claims tells whether the buffers of a compressed batch can be as long as they say
// they are without compression: arrow-go allocates that much before it looks further.
func (m *message) claims(meta, body []byte) (ok bool) {
	defer func() {
		if recover() != nil { // an offset leads out of the metadata or the body
			ok = false
		}
	}()
	batch := flatbuffer.Table(meta, flatbuffer.Slot(meta, flatbuffer.Root(meta), 2))
	switch m.kind {
	case ipc.MessageRecordBatch:
	case ipc.MessageDictionaryBatch:
		batch = flatbuffer.Table(meta, flatbuffer.Slot(meta, batch, 1))
	default:
		return true
	}
	at := flatbuffer.Slot(meta, batch, 3)
	if at == 0 {
		return true // not compressed
	}
	codec := flatbuffer.Slot(meta, flatbuffer.Table(meta, at), 0)
	isZstd := codec > 0 && meta[codec] == 1
	first, n, ok := flatbuffer.Vector(meta, flatbuffer.Slot(meta, batch, 2), 16)
	total := uint64(0)
	for i := 0; i < n && ok; i++ {
		from, size := binary.LittleEndian.Uint64(meta[first+16*i:]), binary.LittleEndian.Uint64(meta[first+16*i+8:])
		if size == 0 {
			continue
		}
		part := body[from : from+size]
		claim := binary.LittleEndian.Uint64(part)
		if claim == 1<<64-1 {
			continue // this one is not compressed
		}
		total += claim
		ok = claim <= maxBody && total <= maxBody && claim <= longest(part[8:], isZstd)
	}
	return ok
}

// longest returns how many bytes a compressed text can have without compression: in
// LZ4, a byte stands for at most 255; in zstd a block of at least 4 for at most 128 KiB,
// and most writers say how many there are.
func longest(text []byte, isZstd bool) uint64 {
	if !isZstd {
		return 255 * uint64(len(text))
	}
	var h zstd.Header
	if h.Decode(text[:min(len(text), zstd.HeaderMaxSize)]) == nil && h.HasFCS && !h.Skippable {
		return h.FrameContentSize
	}
	return (uint64(len(text))/4 + 1) << 17
}
