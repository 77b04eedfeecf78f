package app

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// signalGrace is how long work may go on after the signal that cancelled it. Work that
// has not returned by then is not waited for.
const signalGrace = 2 * time.Second

// interrupt is the cause of a context that a signal cancelled.
type interrupt struct{ os.Signal }

func (i interrupt) Error() string { return "interrupted by signal: " + i.String() }

// code returns the exit code of a process that the signal ended.
func (i interrupt) code() int {
	if s, ok := i.Signal.(syscall.Signal); ok {
		return exitSignal + int(s)
	}
	return exitFailed
}

// signalled returns the exit code for the signal that cancelled ctx, or 0.
func signalled(ctx context.Context) int {
	var i interrupt
	if !errors.As(context.Cause(ctx), &i) {
		return 0
	}
	return i.code()
}

// untilSignal returns a context that SIGINT, SIGTERM or SIGHUP (of a terminal that
// closes) cancels. Signals that the process was started to ignore do not: nohup does so,
// and shells do for what a script runs in the background. Work that does not return
// within signalGrace, or before a second signal, ends with the process.
func (p *Process) untilSignal() context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			signal.Notify(signals, s)
		}
	}
	go func() {
		first := interrupt{<-signals}
		cancel(first)
		select {
		case <-signals:
		case <-time.After(signalGrace):
		}
		p.unfinished.remove()
		os.Exit(first.code())
	}()
	return ctx
}

// tempFiles are the names of output files that are not complete. The zero value is
// ready; it is safe for concurrent use.
type tempFiles struct {
	mu    sync.Mutex
	names map[string]bool
}

// add notes that a file exists.
func (t *tempFiles) add(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.names == nil {
		t.names = map[string]bool{}
	}
	t.names[name] = true
}

// forget notes that a file exists no longer under that name.
func (t *tempFiles) forget(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.names, name)
}

// remove removes the files.
func (t *tempFiles) remove() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for name := range t.names {
		os.Remove(name)
	}
}
