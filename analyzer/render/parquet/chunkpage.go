package parquet

import (
	"encoding/binary"
	"math"
	"slices"

	"servescope/analyzer/trace"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/encoding/rle"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// page is a page of a chunk, once it is encoded.
type page struct {
	out      []byte // header and body
	raw      int    // bytes of both, not compressed
	levels   int    // nulls included
	values   int
	encoding format.Encoding
	minInt   int64 // of the values, where they are integers
	maxInt   int64
	codec    format.CompressionCodec
}

// job is a page that is to be encoded, with the buffers for it.
type job struct {
	page  *page
	body  []byte // levels
	ints  []int64
	plain []byte
	bools []byte

	packed []byte // scratch
}

// endPage hands the page at hand to the workers.
func (c *chunk) endPage() {
	p := &page{levels: c.defined.n, values: c.defined.ones}
	j := c.work.job()
	if c.field.Type == trace.List {
		p.levels, p.values = c.levels, len(c.ints)
		j.body = c.def.appendTo(c.rep.appendTo(j.body[:0]))
	} else {
		j.body = c.defined.appendLevels(j.body[:0])
	}
	if p.levels == 0 {
		c.work.free(j)
		return
	}
	c.values += int64(p.values)
	c.nulls += int64(p.levels - p.values)
	if c.field.Type == trace.Dict {
		c.dicts = append(c.dicts, dictPage{slices.Clone(j.body), p.levels, p.values})
		c.work.free(j)
	} else {
		c.held += len(j.body) + 8*len(c.ints) + len(c.plain) + len(c.bools.data)
		j.page = p
		j.ints, c.ints = c.ints, j.ints[:0]
		j.plain, c.plain = c.plain, j.plain[:0]
		j.bools, c.bools.data = c.bools.data, j.bools[:0]
		c.pages = append(c.pages, p)
		c.work.do(c.choice, len(c.pages) == 1, j)
	}
	c.defined.reset()
	c.bools.reset()
	c.levels = 0
}

// encode makes a data page.
func (j *job) encode(z *zstd.Encoder, ch *choice, first bool) {
	p := j.page
	if len(j.ints) > 0 {
		p.encoding = format.DeltaBinaryPacked
		p.minInt, p.maxInt = bounds(j.ints)
		var e delta.BinaryPackedEncoding
		j.packed, _ = e.EncodeInt64(j.packed, j.ints) // never fails
		j.body = append(j.body, j.packed...)
	} else {
		j.body = append(append(j.body, j.plain...), j.bools...)
	}
	header := format.PageHeader{Type: format.DataPage, DataPageHeader: some(format.DataPageHeader{
		NumValues: int32(p.levels), Encoding: p.encoding, DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE,
	})}
	body := j.body
	if first || ch.zstd() {
		j.packed = z.EncodeAll(j.body, j.packed[:0])
		if first {
			ch.decide(len(j.packed) <= len(j.body)-len(j.body)/10)
		}
		if ch.zstd() {
			body = j.packed
		}
	}
	p.codec = ch.codec
	p.out, p.raw = wrap(body, len(j.body), header)
}

// bounds returns the least and the greatest of some integers.
func bounds(ints []int64) (lo, hi int64) {
	lo, hi = ints[0], ints[0]
	for _, v := range ints {
		if v < lo {
			lo = v
		}
		if v > hi {
			hi = v
		}
	}
	return lo, hi
}

// wrap puts a header before a body, and returns also the length of both before
// compression.
func wrap(body []byte, raw int, h format.PageHeader) (out []byte, uncompressed int) {
	h.UncompressedPageSize, h.CompressedPageSize = int32(raw), int32(len(body))
	header, _ := thrift.Marshal(&thrift.CompactProtocol{}, &h) // writing to memory cannot fail
	return slices.Concat(header, body), len(header) + raw
}

// collect adds a finished page to the chunk.
func (c *chunk) collect(p *page) {
	c.meta.NumValues += int64(p.levels)
	c.meta.TotalUncompressedSize += int64(p.raw)
	c.meta.TotalCompressedSize += int64(len(p.out))
	c.encodings(p.encoding, format.RLE)
	c.meta.Codec = p.codec
	if p.encoding == format.DeltaBinaryPacked {
		c.minInt, c.maxInt = min(c.minInt, p.minInt), max(c.maxInt, p.maxInt)
	}
	c.parts = append(c.parts, p.out)
}

// encodings notes which encodings the chunk uses.
func (c *chunk) encodings(used ...format.Encoding) {
	for _, e := range used {
		if !slices.Contains(c.meta.Encoding, e) {
			c.meta.Encoding = append(c.meta.Encoding, e)
		}
	}
}

// finish returns the chunk's metadata for its place in the file, and its bytes.
// Every page has been encoded.
func (c *chunk) finish(offset int64) (format.ColumnMetaData, [][]byte) {
	c.meta.DataPageOffset = offset
	for _, p := range c.pages {
		c.collect(p)
	}
	if c.field.Type == trace.Dict {
		c.finishDict(offset)
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
			return c.meta, c.parts
		}
		c.meta.Statistics.MinValue = binary.LittleEndian.AppendUint64(nil, lo)
		c.meta.Statistics.MaxValue = binary.LittleEndian.AppendUint64(nil, hi)
	}
	return c.meta, c.parts
}

// finishDict writes the dictionary page and the data pages with their codes.
func (c *chunk) finishDict(offset int64) {
	c.meta.Codec = format.Zstd
	if len(c.dict) > 0 {
		out, raw := wrap(c.work.zstd.EncodeAll(c.words, nil), len(c.words), format.PageHeader{Type: format.DictionaryPage,
			DictionaryPageHeader: some(format.DictionaryPageHeader{NumValues: int32(len(c.dict)), Encoding: format.Plain})})
		c.parts = append(c.parts, out)
		c.meta.TotalUncompressedSize += int64(raw)
		c.meta.TotalCompressedSize += int64(len(out))
		c.encodings(format.Plain)
		c.meta.DictionaryPageOffset, c.meta.DataPageOffset = offset, offset+int64(len(out))
	}
	width := 1
	for 1<<width < len(c.dict) {
		width++
	}
	e := rle.Encoding{BitWidth: width}
	codes := c.codes
	for _, d := range c.dicts {
		p := &page{levels: d.rows, values: d.codes, codec: format.Zstd}
		body := d.levels
		if d.codes > 0 {
			p.encoding = format.RLEDictionary
			packed, _ := e.EncodeInt32(nil, codes[:d.codes]) // never fails for codes below 1<<width
			codes = codes[d.codes:]
			body = append(append(body, byte(width)), packed...)
		}
		p.out, p.raw = wrap(c.work.zstd.EncodeAll(body, nil), len(body), format.PageHeader{Type: format.DataPage, DataPageHeader: some(format.DataPageHeader{
			NumValues: int32(p.levels), Encoding: p.encoding, DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE,
		})})
		c.collect(p)
	}
}
