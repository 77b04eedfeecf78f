package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/dsnet/compress/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// Compressions of pages.
const (
	snappyCodec = 1
	gzipCodec   = 2
	lzoCodec    = 3
	brotliCodec = 4
	lz4Hadoop   = 5 // in frames of Hadoop; deprecated
	zstdCodec   = 6
	lz4Raw      = 7
)

var errLength = errors.New("it claims another length")

// decompress appends to s.raw, up to size bytes in all; no more memory is taken
// than the compression could need for the bytes that there are.
func (s *stream) decompress(body []byte, size int) (err error) {
	switch s.codec {
	case snappyCodec:
		n, err := snappy.DecodedLen(body)
		if err != nil || n > size-len(s.raw) {
			return errLength
		}
		at := len(s.raw)
		s.raw = slices.Grow(s.raw, n)
		out, err := snappy.Decode(s.raw[at:at+n], body)
		s.raw = s.raw[:at+len(out)]
		return err
	case gzipCodec:
		r, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			return err
		}
		return s.drain(r, size)
	case brotliCodec:
		r, err := brotli.NewReader(bytes.NewReader(body), nil)
		if err != nil {
			return err
		}
		return s.drain(r, size)
	case lz4Raw:
		return s.lz4(body, size-len(s.raw))
	case lz4Hadoop:
		return s.frames(body, size)
	case zstdCodec:
		if s.zstd == nil {
			s.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxPage))
			if err != nil {
				return err
			}
		}
		s.raw, err = s.zstd.DecodeAll(body, s.raw)
		return err
	case lzoCodec:
		return errors.New("compression with LZO is not read")
	}
	return fmt.Errorf("there is no compression of number %d", s.codec)
}

// drain appends what r gives, up to size bytes in all.
func (s *stream) drain(r io.Reader, size int) error {
	for len(s.raw) < size {
		at := len(s.raw)
		s.raw = append(s.raw, make([]byte, min(size-at, readAhead))...)
		n, err := io.ReadFull(r, s.raw[at:])
		if s.raw = s.raw[:at+n]; err != nil {
			return err
		}
	}
	return nil
}

// mostLZ4 is how many times as long a block of LZ4 can become.
const mostLZ4 = 255

// lz4 appends the n bytes of a block of LZ4.
func (s *stream) lz4(block []byte, n int) error {
	if n > mostLZ4*len(block) {
		return errLength
	}
	at := len(s.raw)
	s.raw = append(s.raw, make([]byte, n)...)
	got, err := lz4.UncompressBlock(block, s.raw[at:])
	s.raw = s.raw[:at+max(got, 0)]
	if err == nil && got != n {
		return errLength
	}
	return err
}

// frames appends blocks of LZ4, each behind the number of its bytes, decompressed
// and compressed, in big-endian order. Some old writers left these out; see
// https://github.com/apache/parquet-format/blob/master/Compression.md#lz4
func (s *stream) frames(body []byte, size int) error {
	at, rest := len(s.raw), body
	for len(rest) >= 8 && len(s.raw) < size {
		n, packed := int64(binary.BigEndian.Uint32(rest)), int64(binary.BigEndian.Uint32(rest[4:]))
		if n > int64(size-len(s.raw)) || packed > int64(len(rest)-8) || s.lz4(rest[8:8+packed], int(n)) != nil {
			break
		}
		rest = rest[8+packed:]
	}
	if len(s.raw) == size && len(rest) == 0 {
		return nil
	}
	s.raw = s.raw[:at]
	return s.lz4(body, size-at)
}
