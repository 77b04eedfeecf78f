package fold

import (
	"context"
	"errors"
	"runtime"

	"servescope/analyzer/dataset"
	"servescope/analyzer/kernel"
	"servescope/analyzer/load"
)

// First is the pass over the requests that goes on while they are read for the first
// time: of a query that keeps all of them. It is a Sink.
type First struct {
	pass    *Pass
	pool    *foldPool
	spilled *dataset.Store
	remote  load.Remote
	fold    *load.RemoteFold // nil: no reader is remote

	done   chan struct{} // closed when the states are there
	states []kernel.State
	err    error
}

// Fold implements Sink.
func (f *First) Fold() *load.RemoteFold { return f.fold }

// Take implements Sink.
func (f *First) Take(worker int, r *load.Reading) error {
	if f.pass.watch != nil {
		f.pass.watch.Read(r.File, r.Rows.Run)
	}
	if !r.Folded {
		f.pool.fold(worker, r.Rows, &kernel.View{Batch: r.Seen, RunIndex: r.Slot})
	}
	return f.spilled.Failed()
}

// Idle implements Sink.
func (f *First) Idle(worker int) { f.pool.help(worker) }

// Done implements Sink. It begins to merge the states.
func (f *First) Done(ctx context.Context) {
	go func() {
		defer close(f.done)
		if f.err = f.gather(ctx); f.err == nil {
			f.states, f.err = f.pass.merge()
		}
	}()
	runtime.Gosched() // remote readers are asked: they work while the caller does
}

// States waits for the states of the kernels, after Done.
func (f *First) States() ([]kernel.State, error) {
	<-f.done
	return f.states, f.err
}

// Drop ends the pass of a reading that has failed.
func (f *First) Drop() {
	if f.fold != nil {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		f.remote.States(ctx, f.fold)
	}
}

// gather adds what remote readers have folded to the pass. While they bring their
// states in order, so does the session with its own.
func (f *First) gather(ctx context.Context) error {
	if f.fold == nil {
		return nil
	}
	var list [][]byte
	var failed error
	done := make(chan struct{})
	go func() {
		defer close(done)
		list, failed = f.remote.States(ctx, f.fold)
	}()
	runtime.Gosched() // the others begin
	err := f.pass.sort()
	<-done
	err = errors.Join(err, failed)
	for _, src := range list {
		err = errors.Join(err, f.pass.load(src))
	}
	return err
}
