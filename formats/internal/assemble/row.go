package assemble

import "servescope/analyzer/trace"

// columns is the number of columns of the requests table.
const columns = int(trace.Offset) + 1

// Unknown stands in a Row's lists for an element that is null, NaN or no number.
const Unknown = int64(-1) << 63

// Row is one request while its columns become known. Setting a column again
// replaces its value. Texts are not copied: they must stay until Writer.Add.
// The zero value is an empty row.
//
// Tokens, Gaps and ChunkTokens may be filled by the caller; their memory is kept
// by Reset. They count only where the Has… beside them is set; HasUnknown must be
// set when one of them has an Unknown.
type Row struct {
	Offset int64 // of the record in its source, -1 where records have none

	// Tokens are the stamps of the token-bearing chunks. Gaps are the times
	// between them, for sources that write these beside a first_token.
	// ChunkTokens are the tokens of each chunk.
	Tokens, Gaps, ChunkTokens         []int64
	HasTokens, HasGaps, HasTokenCount bool
	HasUnknown                        bool

	// Chunks is the number of token-bearing chunks where it is known although
	// their stamps are not, or 0. Partial tells that there were chunks before
	// those known.
	Chunks  int64
	Partial bool

	// Arrival is when the observing side saw the request begin: sent on the
	// client, received on any other.
	Arrival    int64
	HasArrival bool

	// Error tells that the request ended with an error.
	Error bool

	exact bool // Gaps are the differences of Tokens, none of them negative or unknown

	ints  mask
	texts mask
	int   [columns]int64
	text  [columns][]byte
}

// mask is a set of columns.
type mask [2]uint64

func (m *mask) add(c trace.Col)      { m[c>>6&1] |= 1 << (c & 63) }
func (m *mask) drop(c trace.Col)     { m[c>>6&1] &^= 1 << (c & 63) }
func (m *mask) has(c trace.Col) bool { return m[c>>6&1]>>(c&63)&1 != 0 }

// Reset empties the row for a record at the given offset.
func (r *Row) Reset(offset int64) {
	r.Offset = offset
	r.HasTokens, r.HasGaps, r.HasTokenCount, r.HasUnknown = false, false, false, false
	r.HasArrival, r.Error, r.Partial, r.Chunks, r.exact = false, false, false, 0, false
	r.ints, r.texts = mask{}, mask{}
}

// SetInt sets a column of integers, a column of booleans (0 or 1), or a
// dictionary column whose field lists its values (by index).
func (r *Row) SetInt(c trace.Col, v int64) {
	r.ints.add(c)
	r.int[c] = v
}

// SetText sets a column of text or a dictionary column of any text.
func (r *Row) SetText(c trace.Col, v []byte) {
	r.texts.add(c)
	r.text[c] = v
}

// Unset makes a column null.
func (r *Row) Unset(c trace.Col) {
	r.ints.drop(c)
	r.texts.drop(c)
}

// Int returns an integer column and whether it is set, or 0.
func (r *Row) Int(c trace.Col) (int64, bool) {
	if !r.ints.has(c) {
		return 0, false
	}
	return r.int[c], true
}

// Text returns a text column, or nil.
func (r *Row) Text(c trace.Col) []byte {
	if !r.texts.has(c) {
		return nil
	}
	return r.text[c]
}

// Measured reports whether anything that was measured is known: more than names.
func (r *Row) Measured() bool {
	return r.ints != mask{} || r.HasTokens || r.HasGaps || r.HasTokenCount || r.HasArrival || r.Error
}
