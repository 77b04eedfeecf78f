// Package arrow reads Arrow IPC files and streams: in general as flat typed
// columns, and those that servescope exported as what they are an export of. Of
// any other table package mapping finds out what its columns mean.
//
// Messages are found here and handed to arrow-go, which decodes them in place:
// columns are the bytes of the file. No length in a file is believed before there
// are as many bytes; a batch that is damaged is told and left out.
package arrow

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"servescope/formats"
	"servescope/formats/internal/column"
	"servescope/formats/internal/export"
	"servescope/formats/internal/mapping"
	"servescope/formats/source"

	"github.com/apache/arrow-go/v18/arrow/ipc"
)

// Format is Arrow IPC. A range owns the record batches that begin in it.
var Format = formats.Format{
	Name:     "arrow",
	Title:    "Arrow IPC (Feather): exports of servescope, or any table of requests; see --map",
	Priority: 301,
	Shape:    formats.Blocks,
	Sniff:    sniff,
	Open:     open,
	Learn:    learn,
}

// sniff knows a file by its magic. A stream has none: it begins with the length of
// a message and a Flatbuffer that says that it is a schema.
func sniff(h *formats.Head) (formats.Score, string) {
	if bytes.HasPrefix(h.Start, []byte(magic)) {
		return formats.Sure, "it begins as an Arrow file does"
	}
	b := h.Start
	if len(b) >= 16 && binary.LittleEndian.Uint32(b) == continuation {
		var m message
		if _, ok := m.parse(b[8:]); ok && m.kind == ipc.MessageSchema {
			return formats.Sure, "it begins as an Arrow stream does"
		}
	}
	return formats.No, "it begins neither as an Arrow file nor as a stream does"
}

func open(ctx context.Context, src formats.Source, rng formats.Range, opt formats.Options) (formats.Reader, error) {
	file := export.File{Name: src.Name(), Format: "arrow", Title: "Arrow data", First: rng.From == 0 && rng.To != 0, Lists: opt.Lists}
	at, size, err := source.Random(src, opt.Memory)
	if err != nil {
		return nil, err
	}
	t, err := newTable(at, size, rng)
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
	return mapping.Table{Name: src.Name(), Format: "arrow", Open: func(rng formats.Range) (column.Table, error) {
		return newTable(at, size, rng)
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
