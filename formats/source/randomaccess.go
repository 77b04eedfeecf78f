package source

import (
	"bytes"
	"fmt"
	"io"
	"servescope/formats"
)

// Random returns random access to a source and its size, for formats that cannot
// be read from front to back. A source without it, such as a compressed file, is
// read into memory, up to so many bytes.
func Random(src formats.Source, memory int64) (io.ReaderAt, int64, error) {
	if at := src.At(); at != nil {
		return at, src.Size(), nil
	}
	if memory <= 0 {
		memory = defaultMemory
	}
	r, err := src.Open(0)
	if err != nil {
		return nil, 0, err
	}
	defer r.Close()
	var b bytes.Buffer
	n, err := b.ReadFrom(io.LimitReader(r, memory+1))
	switch {
	case err != nil:
		return nil, 0, fmt.Errorf("%s: %w", src.Name(), err)
	case n > memory:
		return nil, 0, fmt.Errorf("%s: it is read at any offset, and has more than the %d bytes of memory that it would take: decompress it first", src.Name(), memory)
	}
	return bytes.NewReader(b.Bytes()), n, nil
}

// Streamer is implemented by what At returns where bytes come faster from front to
// back than at random: from the files of a browser.
type Streamer interface {
	// Stream returns what reads [from, to) faster if it is read in that order, and
	// anything else as ReadAt does. One goroutine at a time uses it, and closes it.
	Stream(from, to int64) ReadAtCloser
}

// ReadAtCloser is random access that holds something.
type ReadAtCloser interface {
	io.ReaderAt
	io.Closer
}

// Stream returns what reads [from, to) of at, mostly from front to back.
func Stream(at io.ReaderAt, from, to int64) ReadAtCloser {
	if s, ok := at.(Streamer); ok {
		return s.Stream(from, to)
	}
	return unheld{at}
}

// unheld is random access that holds nothing of its own.
type unheld struct{ io.ReaderAt }

func (unheld) Close() error { return nil }
