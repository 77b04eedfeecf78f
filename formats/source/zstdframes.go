package source

import (
	"encoding/binary"
	"io"

	"github.com/klauspost/compress/zstd"
)

// zstdBlock is the most that a block of a zstd frame decompresses to.
const zstdBlock = 128 << 10

// framesOf finds whole frames of a zstd file that are small together.
func framesOf(at io.ReaderAt, off, size int64) (span, bool) {
	s, out := span{off: off}, int64(0)
	for s.n < partRead {
		n, most, ok := frameAt(at, off+s.n, size, partMost-out)
		if !ok {
			break
		}
		s.n, out = s.n+n, out+most
	}
	return s, s.n > 0
}

// frameAt returns the length of the frame at off, and the most that it may
// decompress to; ok is false for one that is unsound, or larger than limit.
//
// https://datatracker.ietf.org/doc/html/rfc8878, section 3.1.1
func frameAt(at io.ReaderAt, off, size, limit int64) (n, most int64, ok bool) {
	var head [18]byte
	if k, _ := at.ReadAt(head[:], off); k < 8 {
		return 0, 0, false
	}
	switch magic := binary.LittleEndian.Uint32(head[:]); {
	case magic&^15 == 0x184d2a50: // a frame to skip
		n = 8 + int64(binary.LittleEndian.Uint32(head[4:]))
		return n, 0, off+n <= size
	case magic != 0xfd2fb528:
		return 0, 0, false
	}
	n = headerLength(head[4])
	for last := false; !last; {
		var block [3]byte
		if k, _ := at.ReadAt(block[:], off+n); k < len(block) || most+zstdBlock > limit {
			return 0, 0, false
		}
		word := uint32(block[0]) | uint32(block[1])<<8 | uint32(block[2])<<16
		length := int64(word >> 3)
		switch word >> 1 & 3 {
		case 1: // one byte, repeated
			length = 1
		case 3: // reserved
			return 0, 0, false
		}
		n += 3 + length
		most += zstdBlock
		last = word&1 != 0
	}
	if head[4]&4 != 0 {
		n += 4 // a checksum
	}
	return n, most, off+n <= size
}

// headerLength returns the length of a frame's header with its magic number.
func headerLength(descriptor byte) int64 {
	n := int64(5)
	single := descriptor&0x20 != 0
	if !single {
		n++ // the size of the window
	}
	n += int64([4]int{0, 1, 2, 4}[descriptor&3]) // the dictionary
	if size := descriptor >> 6; size > 0 {
		n += int64(1) << size
	} else if single {
		n++
	}
	return n
}

func unzstdAll(code []byte) ([]byte, error) {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderMaxMemory(partMost))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.DecodeAll(code, nil)
}
