package mapping

import (
	"context"
	"slices"

	"servescope/formats"
	"servescope/formats/internal/column"
	"servescope/formats/internal/records"
)

// Open begins to read a text for the format of that name.
func Open(ctx context.Context, src formats.Source, opt formats.Options, format string) (formats.Reader, error) {
	s, m, err := learn(src, opt.Map, format == Pairs)
	if err != nil {
		return nil, err
	}
	rc, err := src.Open(0)
	if err != nil {
		return nil, err
	}
	t := &table{flat: s.flat, delim: s.delim, names: s.names, width: s.width, frozen: true}
	t.holders, t.base, t.lines = s.lookInto(m), s.base, s.lines
	if !t.flat { // a path is looked up for every value: among as few as there are
		t.names = nil
		for i := range m.entries {
			e := &m.entries[i]
			if e.field = slices.Index(t.names, e.name); e.field < 0 {
				e.field = len(t.names)
				t.names = append(t.names, e.name)
			}
		}
	}
	t.parts = s.partsOf(m, t.names)
	r := &reader{table: t, src: rc, m: m}
	r.headless = s.ahead
	for _, row := range [...]bool{s.told, s.header} {
		if row {
			r.headless++
		}
	}
	r.in = &records.Input{Ctx: ctx, R: rc, Size: chunk}
	if opt.Block > 0 {
		r.in.Size = opt.Block
	}
	r.begin(src.Name(), format, opt)
	return r, nil
}

// Table is a columnar table that is none of an export.
type Table struct {
	Name   string // of the source
	Format string // of the file
	Open   func(formats.Range) (column.Table, error)
}

// OpenTable begins to read the rows of a columnar table that a range owns. Where
// these depend on each other, those of all are owned by the range that begins the
// file, and for others OpenTable returns nil.
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
	holders := s.lookInto(m)
	t := &table{flat: true, typed: newTyped(ctx, from, func(i int) bool {
		return m.ask == "" && (slices.Contains(holders, s.names[i]) || slices.ContainsFunc(m.entries, func(e entry) bool { return e.field == i }))
	}), names: s.names, width: s.width, frozen: true}
	t.holders, t.parts = holders, s.partsOf(m, s.names)
	r := &reader{table: t, m: m, part: !first}
	r.begin(src.Name, src.Format, opt)
	return r, nil
}
