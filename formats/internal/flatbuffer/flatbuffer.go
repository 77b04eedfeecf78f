// Package flatbuffer finds its way in the metadata of Arrow, which are
// Flatbuffers; see https://flatbuffers.dev/internals/. Its functions panic where an
// offset leads out of the bytes: callers recover, and take the metadata as damaged.
package flatbuffer

import "encoding/binary"

// Root returns the place of the table that b is of.
func Root(b []byte) int { return int(binary.LittleEndian.Uint32(b)) }

// Slot returns the place of a field of a table, or 0 where it has its default.
func Slot(b []byte, table, field int) int {
	vtable := table - int(int32(binary.LittleEndian.Uint32(b[table:])))
	at := 4 + 2*field
	if at >= int(binary.LittleEndian.Uint16(b[vtable:])) {
		return 0
	}
	off := int(binary.LittleEndian.Uint16(b[vtable+at:]))
	if off == 0 {
		return 0
	}
	return table + off
}

// Table returns the place that the offset at points to.
func Table(b []byte, at int) int { return at + int(binary.LittleEndian.Uint32(b[at:])) }

// Vector returns the place and number of the elements, of size bytes each, of the
// vector that the field at, 0 if it is not there, points to. ok is false where b
// could not hold as many.
func Vector(b []byte, at, size int) (first, n int, ok bool) {
	if at == 0 {
		return 0, 0, true
	}
	at = Table(b, at)
	n = int(binary.LittleEndian.Uint32(b[at:]))
	return at + 4, n, n <= (len(b)-at-4)/size
}
