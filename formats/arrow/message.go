package arrow

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"servescope/formats/internal/flatbuffer"

	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

const (
	magic        = "ARROW1\x00\x00" // of a file; a stream has none
	continuation = 0xffffffff       // before the length of a message
	maxMeta      = 80 << 20         // bytes of the metadata of a message; the schema holds the manifest
	maxBody      = 1 << 30          // bytes of a message
	window       = 16 << 10         // bytes read at a time to find messages
)

// damaged is an error of the content.
type damaged struct{ error }

var (
	errCut     = damaged{errors.New("the data end within a message: they are truncated, or still being written")}
	errNoEnd   = damaged{errors.New("the data have no end mark: they are truncated, or still being written")}
	errBare    = damaged{errors.New("neither the beginning nor the end is that of an Arrow file: it is damaged or truncated, or still being written")}
	errMessage = damaged{errors.New("the header of a message is damaged")}
)

// message is where a message lies and what it is.
type message struct {
	start int64 // of its prefix
	meta  int64 // of its metadata
	body  int64
	end   int64
	kind  ipc.MessageType
	dict  int64 // id of a dictionary
	delta bool  // the dictionary goes on with one before
	rows  int64 // of a record batch
	first int64 // … number of its first row
}

// scanner finds the messages of a file or stream from front to back. It reads no
// bodies.
type scanner struct {
	at   io.ReaderAt
	size int64
	off  int64 // of the next message
	bare bool  // what is read ends at size, without a mark
	buf  []byte
	from int64 // offset of buf
}

// bytes returns n bytes at off; they are valid until the next call.
func (s *scanner) bytes(off, n int64) ([]byte, error) {
	if n > s.size-off {
		return nil, errCut
	}
	if off < s.from || off+n > s.from+int64(len(s.buf)) {
		want := min(max(n, window), s.size-off)
		if int64(cap(s.buf)) < want {
			s.buf = make([]byte, want)
		}
		s.buf, s.from = s.buf[:want], off
		if err := readFull(s.at, s.buf, off); err != nil {
			s.buf = s.buf[:0]
			return nil, err
		}
	}
	return s.buf[off-s.from:][:n], nil
}

// readFull reads len(b) bytes at off; that there are fewer is damage.
func readFull(at io.ReaderAt, b []byte, off int64) error {
	n, err := at.ReadAt(b, off)
	switch {
	case n == len(b):
		return nil
	case err == nil || errors.Is(err, io.EOF):
		return damaged{errors.New("the file is shorter than when it was opened")}
	}
	return err
}

// next returns the next message, or io.EOF at the end mark.
func (s *scanner) next() (m message, err error) {
	switch {
	case s.off < s.size:
	case s.bare:
		return m, io.EOF
	default:
		return m, errNoEnd
	}
	m.start = s.off
	prefix, err := s.bytes(s.off, min(8, s.size-s.off))
	if err != nil {
		return m, err
	}
	if len(prefix) < 4 {
		return m, errCut
	}
	n, size := int64(binary.LittleEndian.Uint32(prefix)), int64(4)
	if n == continuation {
		if len(prefix) < 8 {
			return m, errCut
		}
		n, size = int64(binary.LittleEndian.Uint32(prefix[4:])), 8
	}
	if n == 0 {
		return m, io.EOF
	}
	if n > maxMeta {
		return m, errMessage
	}
	m.meta = s.off + size
	meta, err := s.bytes(m.meta, n)
	if err != nil {
		return m, err
	}
	m.body = m.meta + n
	body, ok := m.parse(meta)
	if !ok || body < 0 {
		return m, errMessage
	}
	if body > s.size-m.body {
		return m, errCut
	}
	m.end = m.body + body
	s.off = m.end
	return m, nil
}

// parse reads what a message is from its metadata, a Flatbuffer; see
// https://github.com/apache/arrow/blob/main/format/Message.fbs
func (m *message) parse(meta []byte) (body int64, ok bool) {
	defer func() {
		if recover() != nil { // an offset leads out of the metadata
			ok = false
		}
	}()
	root := flatbuffer.Root(meta)
	if at := flatbuffer.Slot(meta, root, 1); at > 0 {
		m.kind = ipc.MessageType(meta[at])
	}
	if at := flatbuffer.Slot(meta, root, 3); at > 0 {
		body = int64(binary.LittleEndian.Uint64(meta[at:]))
	}
	if at := flatbuffer.Slot(meta, root, 2); at > 0 && m.kind == ipc.MessageRecordBatch {
		if at := flatbuffer.Slot(meta, flatbuffer.Table(meta, at), 0); at > 0 {
			m.rows = max(0, min(int64(binary.LittleEndian.Uint64(meta[at:])), maxRows))
		}
	}
	if at := flatbuffer.Slot(meta, root, 2); at > 0 && m.kind == ipc.MessageDictionaryBatch {
		header := flatbuffer.Table(meta, at)
		if at := flatbuffer.Slot(meta, header, 0); at > 0 {
			m.dict = int64(binary.LittleEndian.Uint64(meta[at:]))
		}
		if at := flatbuffer.Slot(meta, header, 2); at > 0 {
			m.delta = meta[at] != 0
		}
	}
	return body, true
}

// queue hands messages to an ipc.Reader; it is an ipc.MessageReader. The bodies
// of record batches share one buffer.
type queue struct {
	s      *scanner
	list   []message // in front of what follows
	follow func() (message, error)
	last   message // handed out
	views  views
	schema []byte // metadata of the first message, where it is none of the file
	body   []byte
	err    error // of the last call of Message
}

// Message implements ipc.MessageReader. Its error is io.EOF at the end.
func (q *queue) Message() (m *ipc.Message, err error) {
	m, err = q.next()
	q.err = err
	return m, err
}

func (q *queue) next() (*ipc.Message, error) {
	var m message
	if len(q.list) > 0 {
		m, q.list = q.list[0], q.list[1:]
	} else {
		var err error
		if m, err = q.follow(); err != nil {
			return nil, err
		}
	}
	q.last = m
	n := m.end - m.body
	if n > maxBody {
		return nil, damaged{fmt.Errorf("a message has %d bytes", n)}
	}
	text, err := q.schema, error(nil)
	if text == nil || m.kind != ipc.MessageSchema {
		if text, err = q.s.bytes(m.meta, m.body-m.meta); err != nil {
			return nil, err
		}
	}
	if !m.verify(text, q.views) {
		return nil, errMessage
	}
	meta := append(make([]byte, 0, len(text)), text...)
	var body []byte
	if m.kind == ipc.MessageRecordBatch {
		if int64(cap(q.body)) < n {
			q.body = make([]byte, n)
		}
		body = q.body[:n]
	} else {
		body = make([]byte, n)
	}
	if err := readFull(q.s.at, body, m.body); err != nil {
		return nil, err
	}
	if !m.claims(meta, body) {
		return nil, errMessage
	}
	return ipc.NewMessage(memory.NewBufferBytes(meta), memory.NewBufferBytes(body)), nil
}

// Retain implements ipc.MessageReader.
func (q *queue) Retain() {}

// Release implements ipc.MessageReader.
func (q *queue) Release() {}
