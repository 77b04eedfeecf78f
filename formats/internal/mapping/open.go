package mapping

import (
	"context"
	"slices"

	"servescope/formats"
	"servescope/formats/internal/column"
	"servescope/formats/internal/records"
)

// Open begins to read a text. format is the name that the run gets; that of Pairs expects
// lines of pairs.
func Open(ctx context.Context, src formats.Source, opt formats.Options, format string) (formats.Reader, error) {
	s, m, err := learn(src, opt.Map, format == Pairs)
	if err != nil {
		return nil, err
	}
	rc, err := src.Open(0)
	if err != nil {
		return nil, err
	}
	t := &table{flat: s.flat, delim: s.delim, comma: s.comma, names: s.names, width: s.width, frozen: true}
	t.holders, t.base, t.lines = s.wantedHolders(m), s.base, s.lines
	if !t.flat { // look up the path of each value among few columns
		t.names = nil
		for i := range m.entries {
			e := &m.entries[i]
			if e.field = slices.Index(t.names, e.name); e.field < 0 {
				e.field = len(t.names)
				t.names = append(t.names, e.name)
			}
		}
	}
	t.parts = s.wantedPartitions(m, t.names)
	r := &reader{table: t, src: rc, m: m}
	r.headRows = s.prefaceRows
	for _, row := range [...]bool{s.sepLine, s.header} {
		if row {
			r.headRows++
		}
	}
	r.in = &records.Input{Ctx: ctx, R: rc, Size: readSize}
	if opt.Block > 0 {
		r.in.Size = opt.Block
	}
	r.begin(src.Name(), format, opt)
	return r, nil
}

// Table is a columnar table whose columns have any names.
type Table struct {
	Name   string // name of the source
	Format string // format of the file
	Open   func(formats.Range) (column.Table, error)
}

// OpenTable begins to read the rows of a columnar table that a range owns. Where a row
// depends on those before, the range that begins the file owns all rows, and OpenTable
// returns nil for the others.
func OpenTable(ctx context.Context, src Table, rng formats.Range, opt formats.Options) (formats.Reader, error) {
	first := rng.From == 0 && rng.To != 0
	s, m, err := learnTable(src, opt.Map)
	if err != nil {
		return nil, err
	}
	if m.ask != "" || m.events || opt.TZ != nil && m.local() {
		if !first {
			return nil, nil
		}
		rng = formats.Whole
	}
	from, err := src.Open(rng)
	if err != nil {
		return nil, err
	}
	holders := s.wantedHolders(m)
	t := &table{flat: true, typed: newTyped(ctx, from, func(i int) bool {
		return m.ask == "" && (slices.Contains(holders, s.names[i]) || slices.ContainsFunc(m.entries, func(e entry) bool { return e.field == i }))
	}), names: s.names, width: s.width, frozen: true}
	t.holders, t.parts = holders, s.wantedPartitions(m, s.names)
	r := &reader{table: t, m: m, part: !first}
	r.begin(src.Name, src.Format, opt)
	return r, nil
}
