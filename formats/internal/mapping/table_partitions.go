package mapping

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"servescope/formats"
)

// partition is a column that the directories of a file name, as Hive, DuckDB, Polars and
// Spark do: model=llama/date=2026-11-30/0.parquet. As there, it replaces a text of that
// column in the file. Times and numbers of the file are kept, because the directory of a
// day or an hour is coarser.
type partition struct {
	name  string
	value []byte
	null  bool
	field int
	own   bool // records have own values in the column
}

// partitionsOf lists the partitions that the path of a file names.
func partitionsOf(path string) (list []partition) {
	dirs := strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '\\' || r == '!' })
	for _, dir := range dirs[:max(0, len(dirs)-1)] {
		name, value, ok := strings.Cut(dir, "=")
		if !ok || name == "" || value == "" || strings.Trim(strings.ToLower(name), "abcdefghijklmnopqrstuvwxyz0123456789_-.") != "" {
			continue
		}
		list = slices.DeleteFunc(list, func(p partition) bool { return p.name == name }) // the innermost directory counts
		list = append(list, partition{name: name, value: []byte(unescape(value)), null: value == "__HIVE_DEFAULT_PARTITION__"})
	}
	return list
}

// unescape decodes bytes that the name of a directory cannot hold: %2F.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+3 <= len(s) {
			if v, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(v))
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// addPartitions adds the columns of partitions, or finds those that exist.
func (t *table) addPartitions(list []partition) {
	for _, p := range list {
		t.next = 0
		if p.field = t.field([]byte(p.name)); p.field >= 0 {
			t.parts = append(t.parts, p)
		}
	}
}

// setPartitions sets the cells of the record that partitions name.
func (t *table) setPartitions() {
	for i := range t.parts {
		p := &t.parts[i]
		c := &t.rec.cells[p.field]
		switch p.own = p.own || c.set; {
		case p.null || t.learning && p.own:
			continue
		case c.set && !bytes.Equal(c.raw, p.value):
			t.mismatch = p
		}
		*c = cell{p.value, formats.String, true}
	}
}

// isPartition reports whether directories name a column. Such a column cannot be an id or
// a time.
func (t *table) isPartition(field int) bool {
	return slices.ContainsFunc(t.parts, func(p partition) bool { return p.field == field && !p.own })
}
