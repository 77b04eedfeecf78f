package bridge

import (
	"context"
	"strings"

	"servescope/analyzer/trace"
	"servescope/analyzer/trace/manifest"
	"servescope/wasm/wire"
)

// part is the head of an answer with a part of a stream of package wire.
type part struct {
	Type string `json:"type"`
	Rows int64  `json:"rows"` // so far
}

// partSize is how much of a stream makes an answer.
const partSize = 1 << 20

// sources are the tables of the model behind those that are exported.
var sources = map[string]*trace.Table{
	"requests": trace.Requests, "tokens": trace.Requests,
	"steps": trace.Steps, "collectives": trace.Collectives, "histograms": trace.Histograms, "reported": trace.ReportedTable,
}

// rows answers with the rows that a file of the name what holds, for another
// worker that writes it.
func (s *session) rows(ctx context.Context, m message, out Out) (any, []byte, error) {
	q, err := queryOf(m)
	if err != nil {
		return nil, nil, err
	}
	name, _, _ := strings.Cut(m.text("what"), ".")
	t := sources[name]
	if t == nil {
		return nil, nil, &failure{Code: usage, Flag: "what", Message: "there is no table " + name}
	}
	var w wire.Writer
	var n int64
	add := func(b *trace.Batch) error {
		w.Batch(b)
		if n += int64(b.Rows); w.Len() >= partSize {
			out(encode(&part{"part", n}), w.Take())
		}
		return ctx.Err()
	}
	var about *manifest.Manifest
	if t == trace.Requests {
		err = s.s.Rows(ctx, q, true, add)
		about = s.s.Manifest(q)
	} else {
		err = s.s.Table(ctx, t, add)
		about = s.s.Manifest(nil)
	}
	if err != nil {
		return nil, nil, err
	}
	type fields manifest.Manifest // without its methods, which would link encoding/json
	w.End((*fields)(about))
	return done, w.Take(), nil
}
