package analyzer

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"servescope/analyzer/kernel"
	"servescope/analyzer/query"
	"servescope/analyzer/trace"
	"servescope/formats"
)

// Elsewhere is other places, in which the same program runs and which share no memory
// with the session, that read parts of inputs for it and fold their requests: a
// browser's workers. It is safe for concurrent use.
type Elsewhere interface {
	// Readers is how many parts are read there at a time. A session has a goroutine
	// that waits for each.
	Readers() int
	// Takes says whether parts of in, as it was given to Open, can be read there.
	Takes(f *formats.Format, in formats.Source) bool
	// Open opens a part, for one of the readers by number. The reader's batches are
	// those of the format itself; Folded, a method without arguments, says of the
	// present one whether it has been folded there.
	Open(ctx context.Context, reader int, p *Part) (formats.Reader, error)
	// States returns what Folders have made of a fold, each as Folder.States appends
	// it, and ends it; it is called once, when no part of it is open any more. Where
	// ctx has ended the states are only dropped.
	States(ctx context.Context, f *Fold) ([][]byte, error)
}

// Part is a part of an input that is read elsewhere.
type Part struct {
	Format  *formats.Format
	Source  formats.Source // as it was given to Open
	Range   formats.Range
	Options formats.Options
	Read    func(n int) error // counts bytes that have been read; its error must end the reader

	Fold  *Fold  // what takes the requests; nil: nothing does
	Label string // of the input, as for Folder.Fold
	Slot  int32  // the same
	Bare  bool   // batches that have been folded need no token lists
}

// Fold is a pass over requests that goes on in several places.
type Fold struct{ Query *query.Query }

// Folder folds requests in one place for a session in another. One goroutine at a
// time uses it.
type Folder struct{ pass *pass }

// NewFolder returns a Folder for a query that keeps every request, in one group.
func NewFolder(q *query.Query) (*Folder, error) {
	if !plain(q) {
		return nil, errors.New("requests are folded elsewhere where a query keeps all")
	}
	e, err := engineFor(q.Definition)
	if err != nil {
		return nil, err
	}
	return &Folder{newPass(q, new(kernel.Facts), e.kernels, 1)}, nil
}

// Fold folds a batch of an input. slot is the number of its first run in the
// session; batches of others, and of other tables, are left to the session: Fold
// returns false and does nothing.
func (f *Folder) Fold(b *trace.Batch, in formats.Source, label string, slot int32) bool {
	if b.Table != trace.Requests || b.Run.Key != 0 || b.Run.Origin != "" {
		return false
	}
	of := &file{source: in, label: label}
	f.pass.fold(0, &kernel.View{Batch: of.seen(b, of.view(b.Run)), RunIndex: slot})
	return true
}

// States appends the states of the kernels, and gives them up.
func (f *Folder) States(dst []byte) []byte {
	states := f.pass.states[0]
	size := int64(0)
	for _, state := range states {
		size += state.Size()
	}
	dst = slices.Grow(dst, int(size)) // more than they take, as a rule
	for i := range states {
		at := len(dst)
		dst = states[i].AppendState(append(dst, 0, 0, 0, 0))
		binary.LittleEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
		states[i] = nil
	}
	f.pass.states[0] = nil
	return dst
}

var errStates = errors.New("what was folded elsewhere is not what kernels write")

// load adds the states that a Folder has appended.
func (p *pass) load(src []byte) error {
	if len(src) == 0 { // nothing was
		return nil
	}
	states := p.fresh()
	for i, state := range states {
		if len(src) < 4 || int(binary.LittleEndian.Uint32(src)) > len(src)-4 {
			return errStates
		}
		n := 4 + binary.LittleEndian.Uint32(src)
		if err := state.LoadState(src[4:n]); err != nil {
			return fmt.Errorf("kernel %s: %w", p.kernels[i].Name(), err)
		}
		src = src[n:]
	}
	if len(src) > 0 {
		return errStates
	}
	p.states = append(p.states, states)
	return nil
}

// places is how many goroutines read at most: those of the session, and those that wait
// for what is read elsewhere.
func (s *Session) places() int {
	if s.opt.Elsewhere == nil {
		return s.opt.Workers
	}
	return s.opt.Workers + s.opt.Elsewhere.Readers()
}

// readers is how many goroutines read the jobs.
func (s *Session) readers(jobs []job) int {
	for i := range jobs {
		if s.opt.Elsewhere != nil && s.opt.Elsewhere.Takes(jobs[i].file.format, jobs[i].file.source) {
			return s.places()
		}
	}
	return s.opt.Workers
}

// foldElsewhere returns what p, which so many readers feed, is in other places; nil: it
// is nothing there.
func (s *Session) foldElsewhere(p *pass, readers int) *Fold {
	if p == nil || s.opt.Elsewhere == nil {
		return nil
	}
	if p.partials != nil {
		p.partials.holes = readers > s.opt.Workers
	}
	return &Fold{p.q}
}

// gather adds what has been folded elsewhere to p. While others bring it in order, so
// does the session with its own.
func (s *Session) gather(ctx context.Context, f *Fold, p *pass) error {
	if f == nil {
		return nil
	}
	var list [][]byte
	var failed error
	done := make(chan struct{})
	go func() {
		defer close(done)
		list, failed = s.opt.Elsewhere.States(ctx, f)
	}()
	runtime.Gosched() // the others begin
	err := p.sort()
	<-done
	err = errors.Join(err, failed)
	for _, src := range list {
		err = errors.Join(err, p.load(src))
	}
	return err
}

// drop ends a fold of a reading that has failed.
func (s *Session) drop(f *Fold) {
	if f != nil {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		s.opt.Elsewhere.States(ctx, f)
	}
}

// openElsewhere opens a job for a goroutine beyond those of the session; nil: it is
// to be read here.
func (s *Session) openElsewhere(ctx context.Context, worker int, j *job, r *reading, opt formats.Options) (formats.Reader, error) {
	f := j.file
	if worker < s.opt.Workers || opt.TZ != nil || opt.Year != 0 || opt.After != nil || !s.opt.Elsewhere.Takes(f.format, f.source) {
		return nil, nil
	}
	p := &Part{Format: f.format, Source: f.source, Range: j.rng, Options: opt, Read: r.meter.add, Fold: r.fold, Label: f.label}
	if r.fold != nil {
		p.Slot, p.Bare = s.slots.of(f, new(trace.RunMeta)), !r.keeper.wants()
	}
	return s.opt.Elsewhere.Open(ctx, worker-s.opt.Workers, p)
}
