package bridge

import (
	"errors"
	"io"

	"servescope/formats"
	"servescope/wasm/delta"
)

// write makes a file of the rows that have come with the request.
func (e *Engine) write(m message, files []formats.Input) (any, []byte, error) {
	if e.opt.Write == nil || len(files) != 1 {
		return nil, nil, errors.New("files are written of one stream of rows, by an engine that can")
	}
	name := m.text("what")
	body, mime, err := e.opt.Write(name, m.text("definition"), func() (io.ReadCloser, error) { return files[0].Source.Open(0) })
	if err != nil {
		return nil, nil, err
	}
	return &file{"result", name, mime}, body, nil
}

// unpack answers with the first file, packed by package delta as what it is beyond
// the second.
func unpack(files []formats.Input, out Out) (any, []byte, error) {
	var read [2][]byte
	if len(files) != len(read) {
		return nil, nil, errors.New("a file is unpacked with another one")
	}
	for i := range read {
		r, err := files[i].Source.Open(0)
		if err == nil {
			read[i], err = io.ReadAll(r)
			r.Close()
		}
		if err != nil {
			return nil, nil, err
		}
	}
	var w parts
	w.out = out
	if err := delta.Unpack(&w, read[1], read[0]); err != nil {
		return nil, nil, err
	}
	return done, w.held, nil
}

// parts answers with what is written to it, and holds what is less than a part.
type parts struct {
	out  Out
	held []byte
}

func (p *parts) Write(b []byte) (int, error) {
	if p.held = append(p.held, b...); len(p.held) >= partSize {
		p.out(encode(&part{Type: "part"}), p.held)
		p.held = nil
	}
	return len(b), nil
}
