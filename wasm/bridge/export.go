package bridge

import (
	"context"

	"servescope/wasm/exports"
)

// file is the head of an answer whose body is the end of a file.
type file struct {
	Type string `json:"type"`
	Name string `json:"name"`
	Mime string `json:"mime"`
}

// part is the head of an answer whose body is a part of what the result ends.
type part struct {
	Type string `json:"type"`
}

// partSize is the length from which bytes are sent as a part.
const partSize = 1 << 20

// export answers with a file of the session under the query.
func (s *session) export(ctx context.Context, m message, out Out) (any, []byte, error) {
	q, err := queryOf(m)
	if err != nil {
		return nil, nil, err
	}
	name := m.text("what")
	w := &parts{out: out}
	mime, err := exports.Write(ctx, s.s, q, name, w)
	if err != nil {
		return nil, nil, err
	}
	return &file{"result", name, mime}, w.held, nil
}

// parts sends what is written to it, but for a rest that is less than a part.
type parts struct {
	out  Out
	held []byte
}

// Write implements io.Writer.
func (p *parts) Write(b []byte) (int, error) {
	if p.held = append(p.held, b...); len(p.held) >= partSize {
		p.out(encode(&part{"part"}), p.held)
		p.held = nil
	}
	return len(b), nil
}
