// Package parquet reads Parquet files: in general as flat typed columns, and
// those that servescope exported as what they are an export of.
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
	"servescope/formats/internal/export"
)

// Format is Parquet. A range owns the row groups that begin in it.
var Format = formats.Format{
	Name:     "parquet",
	Title:    "Parquet, as servescope convert writes it",
	Priority: 300,
	Shape:    formats.Blocks,
	Sniff:    sniff,
	Open:     open,
}

func sniff(h *formats.Head) (formats.Score, string) {
	if len(h.Start) >= len(magic) && string(h.Start[:len(magic)]) == magic {
		return formats.Sure, "it begins as a Parquet file does"
	}
	return formats.No, "it does not begin as a Parquet file does"
}

func open(ctx context.Context, src formats.Source, rng formats.Range, opt formats.Options) (formats.Reader, error) {
	file := export.File{Name: src.Name(), Format: "parquet", Title: "Parquet file", First: rng.From == 0, Lists: opt.Lists}
	at, size, err := formats.Random(src, opt.Memory)
	if err != nil {
		return nil, err
	}
	table, err := newCursor(at, size, rng)
	var bad damaged
	switch {
	case errors.As(err, &bad):
		return export.Broken(file, bad.Error()), nil
	case err != nil:
		return nil, fmt.Errorf("%s: %w", src.Name(), err)
	}
	return export.Open(ctx, file, table), nil
}

// newCursor begins to read the row groups of a Parquet file that begin in rng.
func newCursor(at io.ReaderAt, size int64, rng formats.Range) (*cursor, error) {
	f, err := readFooter(at, size, rng)
	if err != nil {
		return nil, err
	}
	return &cursor{footer: f, at: at}, nil
}
