package arrow

import (
	"encoding/binary"
	"slices"

	"servescope/formats/internal/flatbuffer"

	"github.com/apache/arrow-go/v18/arrow/ipc"
)

// Polars begins a file with a schema that is no message; the footer has it too.
// See https://github.com/apache/arrow/blob/main/format/File.fbs

// readBare finds the schema and the first message of such a file. It returns the
// metadata of a message with the schema, and the dictionaries, which may stand
// behind the batches that need them.
func (s *scanner) readBare() (schema []byte, dicts []message, err error) {
	defer func() {
		if recover() != nil { // an offset leads out of the footer
			err = errBare
		}
	}()
	const tail = 4 + 6 // the length of the footer, the magic without its padding
	if s.size < tail+int64(len(magic)) {
		return nil, nil, errBare
	}
	end, err := s.bytes(s.size-tail, tail)
	if err != nil {
		return nil, nil, err
	}
	n := int64(binary.LittleEndian.Uint32(end))
	if string(end[4:]) != magic[:6] || n > maxMeta || n > s.size-tail-int64(len(magic)) {
		return nil, nil, errBare
	}
	start := s.size - tail - n
	text, err := s.bytes(start, n)
	if err != nil {
		return nil, nil, err
	}
	text = slices.Clone(text)
	root := int(binary.LittleEndian.Uint32(text))
	at := flatbuffer.Slot(text, root, 1)
	if at == 0 {
		return nil, nil, errBare
	}
	s.size, s.bare = start, true
	offsets := append(blocks(text, flatbuffer.Slot(text, root, 2)), s.size)
	ahead := scanner{at: s.at, size: s.size}
	for _, off := range offsets[:len(offsets)-1] {
		if ahead.off = off; off < int64(len(magic)) || off > s.size {
			return nil, nil, errBare
		}
		m, err := ahead.next()
		if err != nil || m.kind != ipc.MessageDictionaryBatch {
			return nil, nil, errBare
		}
		dicts = append(dicts, m)
	}
	if s.off = slices.Min(append(offsets, blocks(text, flatbuffer.Slot(text, root, 3))...)); s.off < int64(len(magic)) {
		return nil, nil, errBare
	}
	return schemaMessage(text, at+int(binary.LittleEndian.Uint32(text[at:]))), dicts, nil
}

// blocks returns the offsets of a vector of blocks.
func blocks(b []byte, at int) (offsets []int64) {
	first, n, ok := flatbuffer.Vector(b, at, 24)
	if !ok {
		panic("a vector leads out of the footer")
	}
	for i := range n {
		offsets = append(offsets, int64(binary.LittleEndian.Uint64(b[first+24*i:])))
	}
	return offsets
}

// schemaMessage returns the metadata of a message whose header is the table at a
// place of a Flatbuffer: a table of three fields (version, type and header) with
// that Flatbuffer behind it.
func schemaMessage(b []byte, at int) []byte {
	const table, inner = 16, 32
	out := make([]byte, inner, inner+len(b))
	le := binary.LittleEndian
	le.PutUint32(out, table)
	for i, v := range []uint16{10, 12, 4, 6, 8} { // vtable: sizes, places of the fields
		le.PutUint16(out[4+2*i:], v)
	}
	le.PutUint32(out[table:], table-4) // back to the vtable
	le.PutUint16(out[table+4:], 4)     // version 5
	out[table+6] = byte(ipc.MessageSchema)
	le.PutUint32(out[table+8:], uint32(inner+at-(table+8)))
	return append(out, b...)
}
