package formats

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"

	"servescope/analyzer/diag"
)

// HeadSize is the number of bytes of the start and of each sample of a Head.
const HeadSize = 64 << 10

// MaxHead is how far a source is read for its head that can only be read from
// front to back.
const MaxHead = 1 << 20

// Head is what detection sees of a source: its first 64 KiB, and samples of what
// follows, because a log may begin with much that is not of its format. When the
// source can be read at any offset there are up to four of 64 KiB: at 1/4, 1/2,
// 3/4 and at the end. Otherwise it is read up to MaxHead bytes, and the samples
// are the 64 KiB in the middle and at the end of these. It is read-only once made.
type Head struct {
	Name    string   // for messages; detection never trusts it
	Size    int64    // -1 when unknown
	Start   []byte   // the first bytes, decoded to UTF-8 without BOM
	Samples [][]byte // further samples; each begins in the middle of a line

	// Faults is what decompressing the start has brought to light, so that a
	// damaged file is not called an empty one.
	Faults []diag.Diag

	objects func() [][]Key // what Objects returns; nil: nobody remembers it
}

// ReadHead reads the head of src. A source that is shorter than it says gives
// a shorter head; an error is one of opening or reading.
func ReadHead(src Source) (*Head, error) {
	h := &Head{Name: src.Name(), Size: src.Size()}
	h.objects = sync.OnceValue(func() [][]Key { return objects(h.Start) })
	r, err := src.Open(0)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if h.Start, err = ReadUpTo(r, HeadSize); err != nil {
		return nil, fmt.Errorf("%s: %w", src.Name(), err)
	}
	if at := src.At(); at == nil {
		err = h.readOn(r)
	} else {
		err = h.sample(at)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", src.Name(), err)
	}
	if f, ok := src.(Faulty); ok {
		h.Faults = f.Diags().All()
	}
	return h, nil
}

// sample takes the samples of a source with random access. They do not overlap
// the start, but perhaps each other.
func (h *Head) sample(at io.ReaderAt) error {
	for i := int64(1); i <= 4; i++ {
		off := min(h.Size/4*i, h.Size-HeadSize)
		if off < HeadSize {
			off = min(HeadSize, h.Size)
		}
		buf := make([]byte, min(HeadSize, max(h.Size-off, 0)))
		if len(buf) == 0 {
			return nil
		}
		n, err := at.ReadAt(buf, off)
		if err != nil && err != io.EOF {
			return err
		}
		h.Samples = append(h.Samples, buf[:n])
		if off+HeadSize >= h.Size {
			break
		}
	}
	return nil
}

// readOn takes the samples of a source that is read from front to back.
func (h *Head) readOn(r io.Reader) error {
	if len(h.Start) < HeadSize {
		return nil
	}
	rest, err := ReadUpTo(r, MaxHead-HeadSize)
	if err != nil {
		return err
	}
	if n := len(rest); n > 2*HeadSize {
		h.Samples = append(h.Samples, bytes.Clone(rest[n/2-HeadSize/2:n/2+HeadSize/2]), bytes.Clone(rest[n-HeadSize:]))
	} else if n > 0 {
		h.Samples = append(h.Samples, rest)
	}
	return nil
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

// ReadUpTo reads r until n bytes, the end, or an error; the end is no error.
func ReadUpTo(r io.Reader, n int) ([]byte, error) {
	buf := make([]byte, n)
	n, err := io.ReadFull(r, buf)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return buf[:n], err
}
