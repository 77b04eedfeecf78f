package tokenlog

import (
	"bytes"
	"io"
	"slices"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/internal/assemble"
	"servescope/formats/internal/block"
)

// defaults are what the first record of a source says of those that do not
// state it themselves. They are read from the start of the source however it is
// cut, so that every part agrees.
type defaults struct {
	clock  trace.Clock // as claimed
	actual trace.Clock // as its stamps show
	side   trace.Side
	empty  bool // the source has no line but blank ones
}

// probe reads the defaults from the first line that parse accepts, if that is
// within the first MiB.
func probe(src formats.Source, parse func(*parser) bool) (d defaults, err error) {
	d.side = trace.Server
	for _, size := range []int{formats.HeadSize, 1 << 20} {
		head, err := readHead(src, size)
		if err != nil {
			return d, err
		}
		d.empty = len(head) < size && len(bytes.TrimSpace(head)) == 0
		if d.find(head, parse) || len(head) < size {
			break
		}
	}
	return d, nil
}

// find reads the defaults from the first line of head that parse accepts.
func (d *defaults) find(head []byte, parse func(*parser) bool) bool {
	p := &parser{Notes: assemble.Notes{Log: new(diag.Log)}}
	p.text = slices.Grow(head, block.Pad)[:len(head)+block.Pad]
	for i := len(head); i < len(p.text); i++ {
		p.text[i] = '\n'
	}
	for i := 0; i < len(head); i = p.lineEnd() + 1 {
		p.start(i)
		if !parse(p) {
			p.start(i)
			continue
		}
		r := &p.row
		if v, ok := r.Int(trace.SideCol); ok {
			d.side = trace.Side(v)
		}
		d.clock, _ = trace.ParseClock(string(r.Text(trace.ClockCol)))
		if d.actual = d.clock; d.clock.Kind == trace.Wall && !assemble.EpochLike(r) {
			d.actual.Kind = trace.Monotonic
		}
		return true
	}
	return false
}

// meta returns the run that the defaults describe. It names no engine and no
// model: requests do, each for itself.
func (d *defaults) meta(format string) *trace.RunMeta {
	return &trace.RunMeta{Format: format, Side: d.side, Clock: d.actual}
}

// noteEmpty records that the source is empty, once however it is cut.
func (d *defaults) noteEmpty(log *diag.Log, src formats.Source, rng formats.Range) {
	if d.empty && rng.From == 0 && rng.To != 0 {
		assemble.Notes{File: src.Name(), Log: log}.Note(empty, 0)
	}
}

// readHead returns up to size first bytes of a source.
func readHead(src formats.Source, size int) ([]byte, error) {
	r, err := src.Open(0)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	head := make([]byte, size, size+block.Pad)
	n, err := io.ReadFull(r, head)
	if n > 0 || err == io.EOF {
		err = nil // what follows an early error is the reader's to report
	}
	return head[:n], err
}
