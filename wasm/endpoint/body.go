package endpoint

import (
	"errors"
	"fmt"
	"io"
	"net/http"
)

// blockSize is the length of the pieces that a body is kept in: it never grows by
// being copied.
const blockSize = 1 << 20

// blocks is a body in memory. All blocks but the last are whole. It is safe for
// concurrent use, but for pack.
type blocks struct {
	list [][]byte
	size int64
	packed
}

// collect reads a body, which must have the given length, if that is not below 0.
func collect(from io.Reader, length int64) (*blocks, error) {
	b := new(blocks)
	for {
		block := make([]byte, blockSize)
		n, err := io.ReadFull(from, block)
		if n > 0 {
			b.list = append(b.list, block[:n])
			b.size += int64(n)
		}
		switch {
		case b.size > MaxBody:
			return nil, tooLong(from)
		case err == io.EOF || err == io.ErrUnexpectedEOF:
			if length >= 0 && b.size != length {
				return nil, &problem{Status: http.StatusBadRequest, Detail: fmt.Sprintf("the body has %d of %d bytes", b.size, length)}
			}
			return b, nil
		case errors.As(err, new(*problem)):
			return nil, err
		case err != nil:
			return nil, &problem{Status: http.StatusBadRequest, Detail: "the body could not be read to its end"}
		}
	}
}

// tooLong reads on for a while: many clients see an answer only when they have sent
// their body.
func tooLong(from io.Reader) error {
	io.CopyN(io.Discard, from, 4*MaxBody)
	return errBody
}

// ReadAt implements io.ReaderAt.
func (b *blocks) ReadAt(p []byte, off int64) (n int, err error) {
	for n < len(p) {
		at := off + int64(n)
		if at >= b.size {
			return n, io.EOF
		}
		i, from := int(at/blockSize), int(at%blockSize)
		if b.list[i] == nil {
			k, err := b.unpack(p[n:], i, from)
			if err != nil {
				return n, err
			}
			n += k
			continue
		}
		n += copy(p[n:], b.list[i][from:])
	}
	return n, nil
}
