package source

import (
	"bytes"
	"fmt"
	"io"
	"servescope/formats"
)

// maxLineScan bounds how far LineAt reads.
const maxLineScan = 128 << 20

// LineAt returns the 1-based number of the line of src that holds the byte at
// off. Beyond 128 MiB it returns 0, because counting would take longer than the
// number is worth; the offset alone says where then.
func LineAt(src formats.Source, off int64) (int64, error) {
	if off < 0 || off > maxLineScan {
		return 0, nil
	}
	r, err := src.Open(0)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	line, buf := int64(1), make([]byte, min(off, 256<<10))
	for off > 0 {
		n, err := r.Read(buf[:min(off, int64(len(buf)))])
		line += int64(bytes.Count(buf[:n], []byte{'\n'}))
		off -= int64(n)
		if err == io.EOF {
			break
		}
		if err != nil {
			return 0, fmt.Errorf("%s: %w", src.Name(), err)
		}
	}
	return line, nil
}
