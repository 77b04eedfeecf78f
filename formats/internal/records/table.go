package records

import (
	"bytes"
	"strings"

	"servescope/analyzer/diag"
	"servescope/formats"
	"servescope/formats/internal/assemble"
	"servescope/formats/internal/json"
)

// table is a source of comma-separated values whose first row names the columns:
// a row is an object whose members these are. A cell may hold an object itself.
type table struct {
	names []string // of the columns; nil: the first row is to come
	Row
}

// isTable tells whether a text begins with a row of names and not with an object,
// nor with the end of one.
func isTable(head []byte) bool {
	head = bytes.TrimLeft(head, " \t\r\n\ufeff")
	first, _, _ := bytes.Cut(head, []byte("\n"))
	return len(first) > 0 && first[0] != '{' && first[0] != '[' && bytes.IndexByte(first, ',') > 0 && !bytes.ContainsAny(first, "{}:")
}

// row reads the next row.
func (r *reader) row() bool {
	for {
		at := r.in.At()
		text := r.in.Buf[r.in.I:]
		if at < r.long {
			text = r.first()
		}
		_, next, state := r.table.Split(text, ',', r.in.EOF && len(text) == len(r.in.Buf)-r.in.I)
		if state == RowWhole {
			r.in.I += next
			r.take(at)
			return true
		}
		if state == RowOpen && at >= r.long && len(text) < maxRecord && !r.in.EOF {
			if r.in.More(); r.in.Err != nil {
				return false
			}
			continue
		}
		if at >= r.long {
			r.long = r.in.Off + int64(len(r.in.Buf))
		}
		return r.skip(r.in.At(), tornRow)
	}
}

// take makes an object of the row that was read, or the names of the columns.
func (r *reader) take(at int64) {
	t := r.table
	if t.names == nil {
		for _, c := range t.Cells {
			t.names = append(t.names, strings.TrimSpace(string(c)))
		}
		return
	}
	if len(t.Cells) != len(t.names) {
		r.Skip(tornRow, at)
		return
	}
	f := &r.fields
	f.Reset()
	for i, c := range t.Cells {
		name := t.names[i]
		if c = bytes.TrimSpace(c); len(c) == 0 || string(c) == "null" {
			continue
		}
		if c[0] == '{' {
			json.Walk(c, 0, func(path, raw []byte, kind formats.Kind) {
				f.keep(append([]byte(name+"."), path...), raw, kind)
			})
			continue
		}
		if slot, ok := f.table[name]; ok {
			c = bytes.Trim(c, `"`) // a text that was written as JSON
			f.Set(slot, c[:min(len(c), maxText)], formats.String)
		}
	}
	r.fold.Object(f, nil, at)
}

var tornRow = &assemble.Problem{Code: "torn_row", Severity: diag.DataLoss,
	Msg: "a row has another number of cells than the first one names, or a quote without its end: it was skipped"}
