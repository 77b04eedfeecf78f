package bridge

import (
	"encoding/binary"
	"io"
)

// noBody is the length of a body that is not there.
const noBody = 1<<32 - 1

// AppendFrame appends an answer as the native engine sends it: the lengths of
// head and body as little-endian uint32 each (2³²−1: there is no body), and both.
// It reports false where the body is too long for that.
func AppendFrame(dst, head, body []byte) ([]byte, bool) {
	if len(body) >= noBody {
		return dst, false
	}
	n := uint32(len(body))
	if body == nil {
		n = noBody
	}
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(head)))
	dst = binary.LittleEndian.AppendUint32(dst, n)
	return append(append(dst, head...), body...), true
}

// ReadFrame reads what AppendFrame has written.
func ReadFrame(r io.Reader) (head, body []byte, err error) {
	var lengths [8]byte
	if _, err := io.ReadFull(r, lengths[:]); err != nil {
		return nil, nil, err
	}
	head = make([]byte, binary.LittleEndian.Uint32(lengths[:]))
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, nil, err
	}
	if n := binary.LittleEndian.Uint32(lengths[4:]); n != noBody {
		body = make([]byte, n)
		_, err = io.ReadFull(r, body)
	}
	return head, body, err
}
