package bridge

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"servescope/analyzer"
	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/wasm/wire"
)

// Remote hands a request to one of several workers, with the source that it is
// about, and calls out with each answer; it returns when the last has been given.
type Remote func(ctx context.Context, worker int, request []byte, src formats.Source, out Out)

// leastRemote is the size from which a source is worth the way to other workers.
const leastRemote = 4 << 20

// Remotely returns what opens the ranges of sources of records in n workers, those
// sources that may be handed to them. Their batches are those of the format itself.
func Remotely(n int, call Remote, may func(formats.Source) bool) analyzer.OpenFunc {
	free := make(chan int, n)
	for i := range n {
		free <- i
	}
	return func(ctx context.Context, f *formats.Format, in, _ formats.Source, rng formats.Range, opt formats.Options, read func(int) error) (formats.Reader, error) {
		if f.Shape != formats.Records || in.Size() < leastRemote || opt.TZ != nil || opt.Year != 0 || opt.After != nil || !may(in) {
			return nil, nil
		}
		m := "op=parse&format=" + f.Name + "&from=" + strconv.FormatInt(rng.From, 10) + "&to=" + strconv.FormatInt(rng.To, 10) +
			"&lists=" + strconv.FormatBool(opt.Lists) + "&memory=" + strconv.FormatInt(opt.Memory, 10) + "&block=" + strconv.Itoa(opt.Block) +
			"&now=" + strconv.FormatInt(opt.Now.UnixNano(), 10)
		size := rng.To
		if size < 0 {
			size = in.Size()
		}
		ctx, cancel := context.WithCancel(ctx)
		r := &remote{ctx: ctx, cancel: cancel, came: make(chan struct{}, 1), size: int(size - rng.From), read: read}
		go func() {
			select {
			case k := <-free:
				call(ctx, k, []byte(m), in, r.answer)
				free <- k
			case <-ctx.Done():
			}
			r.answer(nil, nil)
		}()
		return r, nil
	}
}

// parsed is what a worker knows when it has read a range.
type parsed struct {
	Runs    []*trace.RunMeta
	Diags   []diag.Diag
	Account formats.Account
	Err     string
}

// remote is the reader of a range that another worker reads.
type remote struct {
	ctx    context.Context
	cancel func()
	size   int // bytes of the range
	read   func(int) error

	mu    sync.Mutex
	parts [][]byte // that have come and have not been looked at
	over  bool     // none will come
	came  chan struct{}

	wire    wire.Reader
	batches []*trace.Batch
	end     parsed
	ended   bool
	err     error
}

// answer takes an answer of the worker; none at all is the end of answers.
func (r *remote) answer(head, body []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if body != nil {
		r.parts = append(r.parts, body)
	}
	r.over = r.over || head == nil
	select {
	case r.came <- struct{}{}:
	default:
	}
}

// part returns the next part, nil when there is none.
func (r *remote) part() []byte {
	for {
		r.mu.Lock()
		if len(r.parts) > 0 {
			out := r.parts[0]
			r.parts = r.parts[1:]
			r.mu.Unlock()
			return out
		}
		over := r.over
		r.mu.Unlock()
		if over {
			return nil
		}
		select {
		case <-r.came:
		case <-r.ctx.Done():
			return nil
		}
	}
}

// Next implements formats.Reader.
func (r *remote) Next() bool {
	if len(r.batches) > 0 {
		r.batches = r.batches[1:]
	}
	for len(r.batches) == 0 && !r.ended && r.err == nil {
		text := r.part()
		switch {
		case r.ctx.Err() != nil:
			r.err = context.Cause(r.ctx)
		case text == nil:
			r.err = errors.New("a worker has ended before its answer")
		default:
			r.take(text)
		}
	}
	return len(r.batches) > 0
}

func (r *remote) take(text []byte) {
	r.ended, r.err = r.wire.Parts(bytes.NewReader(text), func(b *trace.Batch) error {
		r.batches = append(r.batches, b)
		return nil
	}, &r.end)
	switch {
	case !r.ended:
	case r.end.Err != "":
		r.err = errors.New(r.end.Err)
	default:
		r.err = r.read(r.size)
	}
}

// Batch implements formats.Reader.
func (r *remote) Batch() *trace.Batch { return r.batches[0] }

// Err implements formats.Reader.
func (r *remote) Err() error { return r.err }

// Diags implements formats.Reader.
func (r *remote) Diags() *diag.Log {
	log := new(diag.Log)
	for _, d := range r.end.Diags {
		log.Add(d)
	}
	return log
}

// Runs implements formats.Reader.
func (r *remote) Runs() []*trace.RunMeta { return r.end.Runs }

// Account implements formats.Reader.
func (r *remote) Account() formats.Account { return r.end.Account }

// Close implements formats.Reader.
func (r *remote) Close() error {
	r.cancel()
	return nil
}

// parse reads a range of the source that came with the request for another worker.
func (e *Engine) parse(ctx context.Context, m message, files []formats.Input, out Out) (any, []byte, error) {
	f, err := e.opt.Set.Lookup(m.text("format"))
	if err != nil || len(files) != 1 {
		return nil, nil, errors.New("a range is parsed of one file in a known format")
	}
	var n [5]int64
	for i, key := range []string{"from", "to", "memory", "block", "now"} {
		if n[i], err = m.number(key, 0); err != nil {
			return nil, nil, err
		}
	}
	var w wire.Writer
	var end parsed
	r, err := f.Open(ctx, files[0].Source, formats.Range{From: n[0], To: n[1]}, formats.Options{
		Workers: 1, Lists: m.yes("lists"), Memory: n[2], Block: int(n[3]), Now: time.Unix(0, n[4]),
	})
	if err == nil {
		defer r.Close()
		for r.Next() && ctx.Err() == nil {
			if w.Batch(r.Batch()); w.Len() >= partSize {
				out(encode(&part{Type: "part"}), w.Take())
			}
		}
		err = r.Err()
		end = parsed{Runs: r.Runs(), Diags: r.Diags().All(), Account: r.Account()}
	}
	if err != nil {
		end.Err = err.Error()
	}
	w.End(&end)
	return done, w.Take(), ctx.Err()
}
