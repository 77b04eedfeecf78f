package servebench

import "sync"

// ahead makes batches on a goroutine of its own: it prepares the next one while
// that before is in use.
type ahead struct {
	prepare, take func() bool
	wanted        chan struct{}
	ready         chan bool
	ended         bool
	wg            sync.WaitGroup
}

func newAhead(prepare, take func() bool) *ahead {
	a := &ahead{prepare: prepare, take: take, wanted: make(chan struct{}), ready: make(chan bool)}
	a.wg.Go(a.work)
	return a
}

func (a *ahead) work() {
	for more := true; more; {
		more = a.prepare()
		if _, ok := <-a.wanted; !ok {
			return
		}
		more = more && a.take()
		a.ready <- more
	}
}

// next lets the batch before go and reports whether there is another.
func (a *ahead) next() bool {
	if !a.ended {
		a.wanted <- struct{}{}
		a.ended = !<-a.ready
	}
	return !a.ended
}

// close ends the goroutine. It may be called again.
func (a *ahead) close() {
	if a.ended = true; a.wanted != nil {
		close(a.wanted)
		a.wg.Wait()
		a.wanted = nil
	}
}
