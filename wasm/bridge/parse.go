package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"servescope/analyzer"
	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/source"
	"servescope/wasm/wire"
)

// parse reads a range of the source that came with the request for another worker,
// and folds it.
func (e *Engine) parse(ctx context.Context, m message, files []source.Input, out Out) (any, []byte, error) {
	var o order
	if err := json.Unmarshal([]byte(m.text("order")), &o); err != nil || len(files) != 1 {
		return nil, nil, errors.New("a range is parsed of one file, by an order")
	}
	f, err := e.opt.Set.Lookup(o.Format)
	if err != nil {
		return nil, nil, err
	}
	if ctx.Err() != nil {
		return nil, nil, ctx.Err()
	}
	folder, err := e.folder(&o)
	if err != nil {
		return nil, nil, err
	}
	var w wire.Writer
	var end parsed
	src := files[0].Source
	r, err := f.Open(ctx, src, formats.Range{From: o.From, To: o.To}, formats.Options{
		Workers: 1, Lists: o.Lists, Memory: o.Memory, Block: int(o.Block), Now: time.Unix(0, o.NowNS),
	})
	if err == nil {
		defer r.Close()
		for r.Next() && ctx.Err() == nil {
			if send(&w, r.Batch(), folder != nil && folder.Fold(r.Batch(), src, o.Label, o.Slot), o.Bare); w.Len() >= partSize {
				out(encode(&part{Type: "part"}), w.Take())
			}
			if e.opt.Yield != nil {
				e.opt.Yield()
			}
		}
		err = r.Err()
		end = parsed{Runs: r.Runs(), Diags: r.Diags().All(), Account: r.Account()}
	}
	if err != nil {
		end.Err = err.Error()
	}
	if err := w.End(&end); err != nil {
		return nil, nil, err
	}
	return done, w.Take(), ctx.Err()
}

// send adds a batch that has been read, without token lists where nobody needs them.
func send(w *wire.Writer, b *trace.Batch, folded, bare bool) {
	switch {
	case !folded:
		w.Batch(b)
	case bare:
		w.Folded(b.WithLists(trace.ChunkGaps, trace.Lists{}).WithLists(trace.ChunkTokens, trace.Lists{}))
	default:
		w.Folded(b)
	}
}

// folder returns what folds the ranges of an order's fold; nil: nothing does.
func (e *Engine) folder(o *order) (*analyzer.Folder, error) {
	if o.Fold == 0 {
		return nil, nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if f := e.folders[o.Fold]; f != nil {
		return f, nil
	}
	f, err := analyzer.NewFolder(&o.Query)
	if err == nil {
		e.folders[o.Fold] = f
	}
	return f, err
}

// states answers with what has been folded, and ends the fold.
func (e *Engine) states(m message) (any, []byte, error) {
	number, err := m.number("fold", 0)
	if err != nil {
		return nil, nil, err
	}
	e.mu.Lock()
	f := e.folders[number]
	delete(e.folders, number)
	e.mu.Unlock()
	if f == nil || m.yes("drop") {
		return done, []byte{}, nil
	}
	return done, f.States([]byte{}), nil
}
