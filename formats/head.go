package formats

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"servescope/analyzer/diag"
)

// HeadSize is the number of bytes of the start and of each sample of a Head.
const HeadSize = 64 << 10

// Head is what detection sees of a source: its first 64 KiB and, when it can
// be read at any offset, 64 KiB at 1/4, 1/2 and 3/4. It is read-only once made.
type Head struct {
	Name    string   // for messages; detection never trusts it
	Size    int64    // -1 when unknown
	Start   []byte   // the first bytes, decoded to UTF-8 without BOM
	Samples [][]byte // further samples; each begins in the middle of a line

	// Faults is what decompressing the start has brought to light, so that a
	// damaged file is not called an empty one.
	Faults []diag.Diag
}

// ReadHead reads the head of src. A source that is shorter than it says gives
// a shorter head; an error is one of opening or reading.
func ReadHead(src Source) (*Head, error) {
	h := &Head{Name: src.Name(), Size: src.Size()}
	r, err := src.Open(0)
	if err != nil {
		return nil, err
	}
	h.Start, err = readUpTo(r, HeadSize)
	r.Close()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", src.Name(), err)
	}
	if f, ok := src.(Faulty); ok {
		h.Faults = f.Diags().All()
	}
	at := src.At()
	if at == nil || h.Size < 8*HeadSize {
		return h, nil
	}
	for i := int64(1); i <= 3; i++ {
		buf := make([]byte, HeadSize)
		n, err := at.ReadAt(buf, h.Size/4*i)
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("%s: %w", src.Name(), err)
		}
		h.Samples = append(h.Samples, buf[:n])
	}
	return h, nil
}

// Whole reports whether Start is all of the source.
func (h *Head) Whole() bool { return len(h.Start) < HeadSize || h.Size == int64(len(h.Start)) }

// Lines returns the complete lines of Start that are not blank, without their
// terminators. The last line of a source counts as complete without one.
func (h *Head) Lines() [][]byte {
	text := h.Start
	if !h.Whole() {
		text = text[:bytes.LastIndexByte(text, '\n')+1]
	}
	var lines [][]byte
	for line := range bytes.Lines(text) {
		if line = bytes.TrimRight(line, "\r\n"); len(bytes.TrimSpace(line)) > 0 {
			lines = append(lines, line)
		}
	}
	return lines
}

// readUpTo reads until n bytes, the end, or an error; the end is no error.
func readUpTo(r io.Reader, n int) ([]byte, error) {
	buf := make([]byte, n)
	n, err := io.ReadFull(r, buf)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return buf[:n], err
}
