package simulate

import (
	"bufio"
	"io"
	"strconv"

	"servescope/analyzer/trace"
)

// WriteTokenlog writes the rows of l.Requests as servescope's own log format, a
// request per line; the steps have no place in it. Stamps are in whole ns. It
// reports what w met.
func (l *Log) WriteTokenlog(w io.Writer) error {
	out := bufio.NewWriter(w)
	var line []byte
	for i := range l.Requests.Rows {
		line = appendRow(line[:0], l.Requests, i)
		out.Write(line)
	}
	return out.Flush() // reports what Write met, too
}

// appendRow appends row i of the requests table as one line. Columns that are
// null are left out.
func appendRow(b []byte, rows *trace.Batch, i int) []byte {
	for c, f := range rows.Table.Fields {
		col := trace.Col(c)
		switch f.Type {
		case trace.Text:
			if v, ok := rows.Texts(col).At(i); ok {
				b = strconv.AppendQuote(key(b, f.Name, ""), string(v))
			}
		case trace.Dict:
			if code, ok := rows.Dicts(col).At(i); ok {
				b = strconv.AppendQuote(key(b, f.Name, ""), rows.Dicts(col).Values[code])
			}
		case trace.Bool:
			if v, ok := rows.Bools(col).At(i); ok {
				b = strconv.AppendBool(key(b, f.Name, ""), v)
			}
		case trace.Int64:
			v, ok := rows.Ints(col).At(i)
			if !ok {
				continue
			}
			unit := ""
			if f.Stamp || col == trace.Resolution {
				unit = "_ns"
			}
			b = strconv.AppendInt(key(b, f.Name, unit), v, 10)
		}
	}
	b = appendChunks(b, rows, i)
	return append(b, "}\n"...)
}

// key appends the key of the next member of an object.
func key(b []byte, name, unit string) []byte {
	if len(b) == 0 {
		b = append(b, '{')
	} else {
		b = append(b, ',')
	}
	b = append(append(append(b, '"'), name...), unit...)
	return append(b, `":`...)
}

// appendChunks appends the stamps and tokens of the chunks of row i.
func appendChunks(b []byte, rows *trace.Batch, i int) []byte {
	at, _ := rows.Ints(trace.FirstToken).At(i)
	gaps, _ := rows.Lists(trace.ChunkGaps).At(i)
	b = append(key(b, "token_timestamps", "_ns"), '[')
	b = strconv.AppendInt(b, at, 10)
	for _, gap := range gaps {
		at += gap
		b = strconv.AppendInt(append(b, ','), at, 10)
	}
	b = append(b, ']')
	if tokens, ok := rows.Lists(trace.ChunkTokens).At(i); ok {
		b = append(key(b, "chunk_tokens", ""), '[')
		for j, n := range tokens {
			if j > 0 {
				b = append(b, ',')
			}
			b = strconv.AppendInt(b, n, 10)
		}
		b = append(b, ']')
	}
	return b
}
