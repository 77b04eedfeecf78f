// Package wire carries batches between the page's workers, which share no memory:
// as a stream of descriptions of runs and batches that another worker reads. Both
// ends are the same build of the same program.
package wire

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"slices"

	"servescope/analyzer/trace"
)

// The kinds of parts of a stream. Each begins with its kind and its length.
const (
	runPart    = 'r' // the run of the batches behind it
	batchPart  = 'b'
	foldedPart = 'f' // a batch that has been folded already
	endPart    = 'e' // what is known at the end
)

// Writer collects parts until they are taken.
type Writer struct {
	buf []byte
	run []byte // the last one, as it was written
	err error
}

// Batch adds a batch, which is copied.
func (w *Writer) Batch(b *trace.Batch) { w.batch(batchPart, b) }

// Folded adds a batch whose requests the sender has folded.
func (w *Writer) Folded(b *trace.Batch) { w.batch(foldedPart, b) }

func (w *Writer) batch(kind byte, b *trace.Batch) {
	if run := w.marshal(b.Run); !bytes.Equal(run, w.run) {
		w.run = run
		w.part(runPart, func(dst []byte) []byte { return append(dst, run...) })
	}
	w.part(kind, b.AppendWire)
}

// End adds a value that has a JSON form, and returns the first error of that
// and of the runs before it.
func (w *Writer) End(v any) error {
	end := w.marshal(v)
	w.part(endPart, func(dst []byte) []byte { return append(dst, end...) })
	return w.err
}

func (w *Writer) marshal(v any) []byte {
	text, err := json.Marshal(v)
	if w.err == nil {
		w.err = err
	}
	return text
}

func (w *Writer) part(kind byte, add func([]byte) []byte) {
	w.buf = append(w.buf, kind, 0, 0, 0, 0)
	at := len(w.buf)
	w.buf = add(w.buf)
	binary.LittleEndian.PutUint32(w.buf[at-4:], uint32(len(w.buf)-at))
}

// Len returns the number of bytes that have been collected.
func (w *Writer) Len() int { return len(w.buf) }

// Take returns what has been collected, and begins anew.
func (w *Writer) Take() []byte {
	out := w.buf
	w.buf = make([]byte, 0, len(out)+len(out)/8) // the next is as long, as a rule
	return out
}

// ErrStream reports bytes that no Writer has written.
var ErrStream = errors.New("wire: not a stream of batches")

// Reader reads what Writers of one sender have collected.
type Reader struct {
	Folded bool // whether the present batch has been folded

	run *trace.RunMeta
}

// Parts reads the parts of r to its end: batch is called with each batch, whose
// memory is its own, and end, if not nil, is filled with what the sender has given
// to End, if ended.
func (d *Reader) Parts(r io.Reader, batch func(*trace.Batch) error, end any) (ended bool, err error) {
	var head [5]byte
	var src []byte // is copied from
	for {
		switch _, err := io.ReadFull(r, head[:]); {
		case err == io.EOF:
			return ended, nil
		case err != nil:
			return false, ErrStream
		}
		n := int(binary.LittleEndian.Uint32(head[1:]))
		src = slices.Grow(src[:0], n)[:n]
		if _, err := io.ReadFull(r, src); err != nil {
			return false, ErrStream
		}
		switch head[0] {
		case runPart:
			d.run = new(trace.RunMeta)
			if json.Unmarshal(src, d.run) != nil {
				return false, ErrStream
			}
		case batchPart, foldedPart:
			d.Folded = head[0] == foldedPart
			b, ok := trace.LoadWire(src, d.run)
			if !ok || d.run == nil {
				return false, ErrStream
			}
			if err := batch(b); err != nil {
				return false, err
			}
		case endPart:
			if ended = end != nil && json.Unmarshal(src, end) == nil; !ended {
				return false, ErrStream
			}
		default:
			return false, ErrStream
		}
	}
}
