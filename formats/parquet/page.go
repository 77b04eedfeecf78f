package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

const (
	maxPage       = 128 << 20 // bytes of a page, decompressed
	maxPageValues = 1 << 24
	maxHeader     = 16 << 20 // bytes; statistics may hold long texts
	readAhead     = 64 << 10
)

// Types of pages.
const (
	dataPage       = 0
	dictionaryPage = 2
	dataPage2      = 3
)

// header is a page's header.
type header struct {
	kind             int64
	size, compressed int64
	values           int64 // levels, nulls included
	encoding         int64
	repLen, defLen   int64 // version 2: bytes of the levels, which are not compressed
	plain            bool  // version 2: the values are not compressed either
}

// stream reads the pages of a column chunk from front to back.
type stream struct {
	at        io.ReaderAt
	off, left int64 // of what is not in buf
	buf       []byte
	have      []byte // part of buf not yet used
	codec     int64
	zstd      *zstd.Decoder
	raw       []byte // a decompressed page
}

// room is what the columns of a table decompress their pages in, one at a time: a page
// may be a whole row group.
type room struct {
	raw  []byte
	zstd *zstd.Decoder
}

// mostRead is how many bytes of compressed pages a column holds between two of them.
const mostRead = 4 << 20

func (s *stream) borrow(r *room) { s.raw, s.zstd = r.raw, r.zstd }

func (s *stream) giveBack(r *room) {
	r.raw, r.zstd, s.raw, s.zstd = s.raw, s.zstd, nil, nil
	if cap(s.buf) > mostRead {
		s.buf = append([]byte(nil), s.have...)
		s.have = s.buf
	}
}

func (s *stream) reset(at io.ReaderAt, c *chunk) {
	s.at, s.off, s.left, s.codec, s.have = at, c.start, c.size, c.codec, nil
}

// done reports whether every page has been read.
func (s *stream) done() bool { return len(s.have) == 0 && s.left == 0 }

// fill makes n bytes available if there are as many.
func (s *stream) fill(n int64) error {
	if int64(len(s.have)) >= n {
		return nil
	}
	want := min(max(n, readAhead), int64(len(s.have))+s.left)
	if int64(cap(s.buf)) < want {
		grown := make([]byte, want)
		copy(grown, s.have)
		s.buf = grown
	} else {
		s.buf = s.buf[:want]
		copy(s.buf, s.have)
	}
	more := s.buf[len(s.have):]
	s.have = s.buf
	s.left -= int64(len(more))
	s.off += int64(len(more))
	return readFull(s.at, more, s.off-int64(len(more)))
}

// next returns the header of the next page and its bytes, decompressed but for
// the levels of a page of version 2. They are valid until the next call.
func (s *stream) next() (h header, body []byte, err error) {
	for n := int64(1 << 10); ; n *= 16 {
		if err := s.fill(n); err != nil {
			return h, nil, err
		}
		t := &thrift{b: s.have}
		h = readHeader(t)
		if !t.bad {
			s.have = s.have[len(s.have)-len(t.b):]
			break
		}
		if s.left == 0 || n > maxHeader {
			return h, nil, damaged{errors.New("the header of a page is damaged")}
		}
	}
	switch {
	case h.size < 0 || h.size > maxPage || h.values < 0 || h.values > maxPageValues:
		return h, nil, damaged{fmt.Errorf("a page claims %d bytes and %d values", h.size, h.values)}
	case h.compressed < 0 || h.compressed > int64(len(s.have))+s.left:
		return h, nil, damaged{errors.New("a page goes beyond its column")}
	}
	if err := s.fill(h.compressed); err != nil {
		return h, nil, err
	}
	body = s.have[:h.compressed:h.compressed]
	s.have = s.have[h.compressed:]
	if h.kind != dataPage && h.kind != dictionaryPage && h.kind != dataPage2 {
		return h, nil, nil
	}
	body, err = s.unpack(&h, body)
	return h, body, err
}

// unpack decompresses a page.
func (s *stream) unpack(h *header, body []byte) ([]byte, error) {
	if s.codec == 0 || h.plain && h.kind == dataPage2 {
		return body, nil
	}
	var levels int64
	if h.kind == dataPage2 {
		levels = h.repLen + h.defLen
	}
	if levels < 0 || levels > int64(len(body)) || levels > h.size {
		return nil, damaged{errors.New("the levels of a page go beyond it")}
	}
	s.raw = append(s.raw[:0], body[:levels]...)
	err := s.decompress(body[levels:], int(h.size))
	if err != nil {
		return nil, damaged{fmt.Errorf("a page cannot be decompressed: %w", err)}
	}
	if int64(len(s.raw)) != h.size {
		return nil, damaged{fmt.Errorf("a page has %d bytes instead of %d", len(s.raw), h.size)}
	}
	return s.raw, nil
}

func readHeader(t *thrift) header {
	h := header{kind: -1}
	t.fields(thriftStruct, func(id int64, typ byte) {
		switch id {
		case 1:
			h.kind = t.int(typ)
		case 2:
			h.size = t.int(typ)
		case 3:
			h.compressed = t.int(typ)
		case 5, 7, 8:
			t.fields(typ, func(sub int64, typ byte) { h.data(t, id, sub, typ) })
		default:
			t.skip(typ)
		}
	})
	return h
}

// data reads a field of the part of a header that is for one type of pages.
func (h *header) data(t *thrift, id, sub int64, typ byte) {
	switch {
	case sub == 1:
		h.values = t.int(typ)
	case sub == 2 && id != 8 || sub == 4 && id == 8:
		h.encoding = t.int(typ)
	case sub == 5 && id == 8:
		h.defLen = t.int(typ)
	case sub == 6 && id == 8:
		h.repLen = t.int(typ)
	case sub == 7 && id == 8:
		h.plain = typ == thriftFalse
		t.skip(typ)
	default:
		t.skip(typ)
	}
}

// levels takes the levels of a data page off its body: how many bytes they have
// stands before them in version 1, and in the header in version 2.
func (h *header) levels(body []byte, l *leaf) (rep, def, values []byte, err error) {
	take := func(most int, n int64) []byte {
		if most == 0 && h.kind == dataPage {
			return nil
		}
		if h.kind == dataPage {
			if len(body) < 4 {
				err = errLevels
				return nil
			}
			n = int64(binary.LittleEndian.Uint32(body))
			body = body[4:]
		}
		if n < 0 || n > int64(len(body)) {
			err = errLevels
			return nil
		}
		out := body[:n]
		body = body[n:]
		return out
	}
	rep = take(l.repeated, h.repLen)
	def = take(l.defined, h.defLen)
	return rep, def, body, err
}

var errLevels = damaged{errors.New("the levels of a page go beyond it")}
