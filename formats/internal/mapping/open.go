package mapping

import (
	"context"
	"errors"
	"fmt"
	"io"
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
	t := &table{flat: s.flat, delim: s.delim, comma: s.comma, names: s.names, width: s.width, frozen: true}
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

// local tells whether stamps may state no zone: which of the two turns of an hour
// is meant depends on the rows before.
func (m *mapping) local() bool {
	return slices.ContainsFunc(m.entries, func(e entry) bool {
		return e.unit == written || e.typed != nil && e.typed.Instant && !e.typed.UTC
	})
}

// learn says what the columns of a source mean, from its head.
func learn(src formats.Source, list []string, lines bool) (*sample, *mapping, error) {
	given, err := parseMap(list)
	if err != nil {
		return nil, nil, err
	}
	rc, err := src.Open(0)
	if err != nil {
		return nil, nil, err
	}
	defer rc.Close()
	head := make([]byte, formats.HeadSize)
	n, err := io.ReadFull(rc, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, nil, fmt.Errorf("%s: %w", src.Name(), err)
	}
	parts := partitionsOf(src.Name())
	if lines || ofPairs(head[:n], 2) {
		s := sampleLines(head[:n], given, parts)
		return s, s.learn(given), nil
	}
	s, _ := sampleOf(head[:n], given, parts)
	return s, s.learn(given), nil
}

// learnTable says what the columns of a columnar table mean, from its first rows.
// Only columns that may mean something are read for it.
func learnTable(src Table, list []string) (*sample, *mapping, error) {
	given, err := parseMap(list)
	if err != nil {
		return nil, nil, err
	}
	from, err := src.Open(formats.Whole)
	if err != nil {
		return nil, nil, err
	}
	s := &sample{table: &table{flat: true}}
	s.learn0(given)
	for _, f := range from.Fields() {
		s.names = append(s.names, f.Name)
		if f.Object {
			s.given = append(s.given, f.Name+".")
		}
	}
	s.width = len(s.names)
	s.fill()
	s.rec.cells = make([]cell, len(s.names))
	s.partitioned(partitionsOf(src.Name))
	s.typed = newTyped(context.Background(), from, func(i int) bool {
		p := &s.profiles[i]
		for r := noRole + 1; r < roles; r++ {
			if match(r, p.joined, p.levels) >= 0 {
				return true
			}
		}
		return s.holds([]byte(s.names[i])) || slices.ContainsFunc(given, func(a assignment) bool { return s.index(a.column) == i })
	})
	for i := range s.width {
		s.profiles[i].typed = &s.typed.fields[i]
	}
	s.profileAll(nil)
	if err := from.Err(); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", src.Name, err)
	}
	return s, s.learn(given), nil
}

func (s *sample) learn(given []assignment) *mapping {
	m := new(mapping)
	s.fill()
	if s.assign(m, given); m.ask == "" {
		s.infer(m)
	}
	if s.typed != nil && s.records == 0 && len(s.typed.from.Damage()) == 0 {
		m.ask, m.fix = "the table has no rows", ""
	}
	if m.ask == "" && !m.metrics() {
		m.ask, m.fix = "no column is known to hold a latency or stamps of requests", "say which with --map ROLE=COLUMN:UNIT"
		if len(s.names) > 0 {
			m.ask += "; there are " + s.columns()
		}
		if k := slices.IndexFunc(s.profiles, func(p profile) bool { return p.coarse() }); k >= 0 {
			m.ask += "; in column " + label(s.names[k]) + " " + tooCoarse
		}
		if s.typed != nil && len(s.typed.from.Damage()) > 0 {
			m.ask += "; the first rows cannot be read: " + s.typed.from.Damage()[0].Msg
		}
		if example := s.example(); example != "" {
			m.fix += ", as in " + example + "; roles are " + roleNames()
		}
	}
	return m
}

// Learn implements the function of that name of a format of texts.
func Learn(src formats.Source, given []string) (list []string, ask string, err error) {
	if src == nil {
		_, err := parseMap(given)
		return nil, "", err
	}
	_, m, err := learn(src, given, false)
	if err != nil {
		return nil, "", err
	}
	list, ask = m.told()
	return list, ask, nil
}

// LearnTable is Learn of a columnar table.
func LearnTable(src Table, given []string) (list []string, ask string, err error) {
	_, m, err := learnTable(src, given)
	if err != nil {
		return nil, "", err
	}
	list, ask = m.told()
	return list, ask, nil
}
