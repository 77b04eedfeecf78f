package tables

import (
	"bufio"
	"bytes"
	"io"

	"servescope/analyzer/metric"
	"servescope/analyzer/trace"
	"servescope/analyzer/trace/manifest"
	"servescope/wasm/wire"
)

// Write makes the file what of rows that come as a stream of package wire, with
// latencies under the named definition set. open begins the stream: it is read
// twice, because the metadata that stand at its end may come first in the file.
func Write(what, definition string, open func() (io.ReadCloser, error)) (file []byte, mime string, err error) {
	def, err := metric.LookupDefinition(definition)
	if err != nil {
		return nil, "", err
	}
	about := new(manifest.Manifest)
	if err := parts(open, func(*trace.Batch) error { return nil }, about); err != nil {
		return nil, "", err
	}
	var out bytes.Buffer
	t, w, mime, err := Open(what, def, &out)
	if err != nil {
		return nil, "", err
	}
	t.Manifest = func() *manifest.Manifest { return about }
	if err = parts(open, w.Write, new(manifest.Manifest)); err == nil {
		err = w.Close()
	}
	return out.Bytes(), mime, err
}

func parts(open func() (io.ReadCloser, error), batch func(*trace.Batch) error, about *manifest.Manifest) error {
	r, err := open()
	if err != nil {
		return err
	}
	defer r.Close()
	ended, err := new(wire.Reader).Parts(bufio.NewReaderSize(r, 1<<20), batch, about)
	if err == nil && !ended {
		err = wire.ErrStream
	}
	return err
}
