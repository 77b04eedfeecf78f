// Package parquet reads Parquet files: in general as flat typed columns, and
// those that servescope exported as what they are an export of. Of any other table
// package mapping finds out what its columns mean.
//
// The pages are read here, with the decoders of parquet-go for the encodings of
// values. Its own readers take a file at its word; here no count of a file is
// believed before there are bytes for it, a list costs no more than its elements,
// and what is damaged is told and left out, up to the next row group.
package parquet

import (
	"context"
	"errors"
	"fmt"
	"io"

	"servescope/formats"
	"servescope/formats/internal/column"
	"servescope/formats/internal/export"
	"servescope/formats/internal/mapping"
	"servescope/formats/source"
)

// Format is Parquet. A range owns the row groups that begin in it.
var Format = formats.Format{
	Name:     "parquet",
	Title:    "Parquet: exports of servescope, or any table of requests; see --map",
	Priority: 300,
	Shape:    formats.Blocks,
	Sniff:    sniff,
	Open:     open,
	Learn:    learn,
}

func sniff(h *formats.Head) (formats.Score, string) {
	if len(h.Start) >= len(magic) && string(h.Start[:len(magic)]) == magic {
		return formats.Sure, "it begins as a Parquet file does"
	}
	return formats.No, "it does not begin as a Parquet file does"
}

func open(ctx context.Context, src formats.Source, rng formats.Range, opt formats.Options) (formats.Reader, error) {
	file := export.File{Name: src.Name(), Format: "parquet", Title: "Parquet file", First: rng.From == 0 && rng.To != 0, Lists: opt.Lists}
	at, size, err := source.Random(src, opt.Memory)
	if err != nil {
		return nil, err
	}
	t, err := newCursor(at, size, rng)
	var bad damaged
	switch {
	case errors.As(err, &bad):
		return export.Broken(file, bad.Error()), nil
	case err != nil:
		return nil, fmt.Errorf("%s: %w", src.Name(), err)
	case export.Own(t):
		return export.Open(ctx, file, t), nil
	}
	r, err := mapping.OpenTable(ctx, foreign(src, at, size), rng, opt)
	if r == nil && err == nil {
		return export.Nothing(file), nil
	}
	return r, err
}

// foreign is a file that servescope has not written.
func foreign(src formats.Source, at io.ReaderAt, size int64) mapping.Table {
	return mapping.Table{Name: src.Name(), Format: "parquet", Open: func(rng formats.Range) (column.Table, error) {
		return newCursor(at, size, rng)
	}}
}

// learn implements the function of that name of the format.
func learn(src formats.Source, given []string) ([]string, string, error) {
	if src == nil {
		return mapping.Learn(nil, given)
	}
	at, size, err := source.Random(src, 0)
	if err != nil {
		return nil, "", err
	}
	return mapping.LearnTable(foreign(src, at, size), given)
}

// newCursor begins to read the row groups of a Parquet file that begin in rng.
func newCursor(at io.ReaderAt, size int64, rng formats.Range) (*cursor, error) {
	f, err := readFooter(at, size, rng)
	if err != nil {
		return nil, err
	}
	return &cursor{footer: f, at: at}, nil
}
