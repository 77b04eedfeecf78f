package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strconv"
	"sync"

	"servescope/analyzer"
	"servescope/analyzer/query"
	"servescope/formats"
)

// Remote hands a request to one of several workers, with the source that it is
// about, nil for none, and calls out with each answer; it returns when the last has
// been given.
type Remote func(ctx context.Context, worker int, request []byte, src formats.Source, out Out)

// leastRemote is the size from which a source is worth the way to other workers.
const leastRemote = 4 << 20

// ahead is how many ranges each worker has at a time: it reads one from the disk while
// it parses another, and does not wait for orders while the engine makes a report of a
// part.
const ahead = 3

// Remotely returns n workers as places where ranges of sources of records are read and
// folded, those sources that may be handed to them.
func Remotely(n int, call Remote, may func(formats.Source) bool) analyzer.Remote {
	return &remotes{n: n, call: call, may: may, folds: make(map[*analyzer.RemoteFold]*folding)}
}

type remotes struct {
	n    int
	call Remote
	may  func(formats.Source) bool

	mu    sync.Mutex
	folds map[*analyzer.RemoteFold]*folding
	last  int64
}

// folding is a fold by the number that the workers know it by, and the workers that
// have a part in it.
type folding struct {
	number  int64
	workers map[int]bool
}

// order is what a worker is told of a range.
type order struct {
	Format                         string
	From, To, Memory, Block, NowNS int64
	Lists                          bool

	Fold  int64 // its number; 0: nothing is folded
	Query query.Query
	Label string
	Slot  int32
	Bare  bool
}

// Readers implements analyzer.Remote.
func (r *remotes) Readers() int { return ahead * r.n }

// Takes implements analyzer.Remote.
func (r *remotes) Takes(f *formats.Format, in formats.Source) bool {
	return f != nil && f.Shape == formats.Records && in.Size() >= leastRemote && r.may(in)
}

// Open implements analyzer.Remote.
func (r *remotes) Open(ctx context.Context, reader int, p *analyzer.RemoteJob) (formats.Reader, error) {
	worker := reader % r.n
	o := &order{
		Format: p.Format.Name, From: p.Range.From, To: p.Range.To, Memory: p.Options.Memory, Block: int64(p.Options.Block),
		NowNS: p.Options.Now.UnixNano(), Lists: p.Options.Lists, Label: p.Label, Slot: p.Slot, Bare: p.Bare,
	}
	if p.Fold != nil {
		o.Fold, o.Query = r.number(p.Fold, worker), *p.Fold.Query
	}
	size := p.Range.To
	if size < 0 {
		size = p.Source.Size()
	}
	text, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	out := &remote{ctx: ctx, cancel: cancel, came: make(chan struct{}, 1), size: int(size - p.Range.From), read: p.Read}
	go func() {
		r.call(ctx, worker, []byte("op=parse&order="+url.QueryEscape(string(text))), p.Source, out.answer)
		out.answer(nil, nil)
	}()
	return out, nil
}

// number returns the number of a fold that a worker is about to have a part in.
func (r *remotes) number(f *analyzer.RemoteFold, worker int) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.folds[f] == nil {
		r.last++
		r.folds[f] = &folding{r.last, make(map[int]bool)}
	}
	r.folds[f].workers[worker] = true
	return r.folds[f].number
}

// States implements analyzer.Remote.
func (r *remotes) States(ctx context.Context, f *analyzer.RemoteFold) ([][]byte, error) {
	r.mu.Lock()
	of := r.folds[f]
	delete(r.folds, f)
	r.mu.Unlock()
	if of == nil {
		return nil, nil
	}
	request := "op=states&fold=" + strconv.FormatInt(of.number, 10)
	if ctx.Err() != nil {
		for k := range of.workers {
			go r.call(context.WithoutCancel(ctx), k, []byte(request+"&drop=true"), nil, func(_, _ []byte) {})
		}
		return nil, context.Cause(ctx)
	}
	var out [][]byte
	var mu sync.Mutex
	var wg sync.WaitGroup
	for k := range of.workers {
		wg.Go(func() {
			r.call(ctx, k, []byte(request), nil, func(_, body []byte) {
				mu.Lock()
				defer mu.Unlock()
				if body != nil {
					out = append(out, body)
				}
			})
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if len(out) < len(of.workers) {
		return nil, errEnded
	}
	return out, nil
}

var errEnded = errors.New("a worker has ended before its answer")
