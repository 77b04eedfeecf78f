package formats

import (
	"bytes"
	"fmt"
	"io"
)

// Random returns random access to a source and its size, for formats that cannot
// be read from front to back. A source without it, such as a compressed file, is
// read into memory, up to so many bytes.
func Random(src Source, memory int64) (io.ReaderAt, int64, error) {
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
