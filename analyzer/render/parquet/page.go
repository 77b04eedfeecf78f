package parquet

import (
	"encoding/binary"
	"math"
	"slices"

	"servescope/analyzer/trace"

	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/encoding/rle"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// endPage encodes the page at hand.
func (c *chunk) endPage() {
	rows, values := c.defined.n, c.defined.ones
	page := c.scratch[:0]
	if c.field.Type == trace.List {
		rows, values = c.levels, len(c.ints)
		page = c.def.appendTo(c.rep.appendTo(page))
	} else {
		page = c.defined.appendLevels(page)
	}
	if rows == 0 {
		return
	}
	c.values += int64(values)
	c.nulls += int64(rows - values)
	switch {
	case c.field.Type == trace.Dict: // the codes follow when the dictionary is complete
		c.pages = append(c.pages, dictPage{slices.Clone(page), rows, values})
	case len(c.ints) > 0:
		page = append(page, c.encodeInts()...)
		c.dataPage(page, rows, format.DeltaBinaryPacked)
	default:
		page = append(append(page, c.plain...), c.bools.data...)
		c.dataPage(page, rows, format.Plain)
	}
	c.scratch = page
	c.defined.reset()
	c.bools.reset()
	c.ints, c.plain, c.levels = c.ints[:0], c.plain[:0], 0
}

// encodeInts returns the page's integers DELTA_BINARY_PACKED.
func (c *chunk) encodeInts() []byte {
	lo, hi := c.minInt, c.maxInt
	for _, v := range c.ints {
		if v < lo {
			lo = v
		}
		if v > hi {
			hi = v
		}
	}
	c.minInt, c.maxInt = lo, hi
	var e delta.BinaryPackedEncoding
	c.packed, _ = e.EncodeInt64(c.packed, c.ints) // never fails
	return c.packed
}

// dataPage appends a data page to the chunk.
func (c *chunk) dataPage(page []byte, rows int, encoding format.Encoding) {
	c.out = c.page(c.out, page, format.PageHeader{Type: format.DataPage, DataPageHeader: some(format.DataPageHeader{
		NumValues: int32(rows), Encoding: encoding, DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE,
	})})
	c.meta.NumValues += int64(rows)
	c.encodings(encoding, format.RLE)
}

// page appends a header and the page, compressed if that pays: the first page
// decides for the chunk.
func (c *chunk) page(dst, page []byte, h format.PageHeader) []byte {
	body := page
	if !c.chosen || c.codec == format.Zstd {
		c.packed = c.encoder.EncodeAll(page, c.packed[:0])
		if !c.chosen {
			c.codec, c.chosen = format.Uncompressed, true
			if len(c.packed) <= len(page)-len(page)/10 {
				c.codec = format.Zstd
			}
		}
		if c.codec == format.Zstd {
			body = c.packed
		}
	}
	h.UncompressedPageSize, h.CompressedPageSize = int32(len(page)), int32(len(body))
	header, _ := thrift.Marshal(&thrift.CompactProtocol{}, &h) // writing to memory cannot fail
	c.meta.TotalUncompressedSize += int64(len(header) + len(page))
	c.meta.TotalCompressedSize += int64(len(header) + len(body))
	return append(append(dst, header...), body...)
}

// encodings notes which encodings the chunk uses.
func (c *chunk) encodings(used ...format.Encoding) {
	for _, e := range used {
		if !slices.Contains(c.meta.Encoding, e) {
			c.meta.Encoding = append(c.meta.Encoding, e)
		}
	}
}

// finish ends the last page and returns the chunk's metadata for its place in
// the file; parts returns its bytes.
func (c *chunk) finish(offset int64) format.ColumnMetaData {
	c.endPage()
	if c.field.Type == trace.Dict {
		c.finishDict()
	}
	c.meta.Codec = c.codec
	c.meta.DataPageOffset = offset + int64(len(c.head))
	if len(c.head) > 0 {
		c.meta.DictionaryPageOffset = offset
	}
	c.meta.Statistics.NullCount = c.nulls
	if c.values > 0 {
		var lo, hi uint64
		switch c.field.Type {
		case trace.Int64, trace.Time, trace.List:
			lo, hi = uint64(c.minInt), uint64(c.maxInt)
		case trace.Float64:
			lo, hi = math.Float64bits(c.minFloat), math.Float64bits(c.maxFloat)
		default:
			return c.meta
		}
		c.meta.Statistics.MinValue = binary.LittleEndian.AppendUint64(nil, lo)
		c.meta.Statistics.MaxValue = binary.LittleEndian.AppendUint64(nil, hi)
	}
	return c.meta
}

// finishDict writes the dictionary page and the data pages with their codes.
func (c *chunk) finishDict() {
	if len(c.dict) > 0 {
		c.head = c.page(c.head, c.words, format.PageHeader{Type: format.DictionaryPage,
			DictionaryPageHeader: some(format.DictionaryPageHeader{NumValues: int32(len(c.dict)), Encoding: format.Plain})})
		c.encodings(format.Plain)
	}
	width := 1
	for 1<<width < len(c.dict) {
		width++
	}
	e := rle.Encoding{BitWidth: width}
	codes := c.codes
	for _, p := range c.pages {
		if p.codes == 0 {
			c.dataPage(p.levels, p.rows, format.Plain)
			continue
		}
		packed, _ := e.EncodeInt32(nil, codes[:p.codes]) // never fails for codes below 1<<width
		codes = codes[p.codes:]
		c.dataPage(append(append(p.levels, byte(width)), packed...), p.rows, format.RLEDictionary)
	}
}

// parts returns the chunk's bytes.
func (c *chunk) parts() [][]byte { return [][]byte{c.head, c.out} }
