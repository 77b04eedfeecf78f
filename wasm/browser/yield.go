//go:build js && wasm

package main

import (
	"syscall/js"
	"time"
)

// slice is how long the engine computes before it looks at what else there is.
const slice = 25 * time.Millisecond

// yielder gives the thread back to the browser for a moment, so that messages
// come in: a cancellation above all. A timer would wait for four milliseconds;
// a message to oneself waits for nothing but those before it. The script of the worker
// has the channel for it.
type yielder struct {
	port js.Value
	back chan struct{}
	last time.Time
}

func newYielder() *yielder {
	y := &yielder{back: make(chan struct{}, 1), last: time.Now()}
	channel := js.Global().Get("servescopeLoop")
	y.port = channel.Get("port1")
	channel.Get("port2").Set("onmessage", js.FuncOf(func(js.Value, []js.Value) any {
		y.back <- struct{}{}
		return nil
	}))
	return y
}

// yield waits for one turn of the event loop if it has not turned for a while.
func (y *yielder) yield() {
	now := time.Now()
	if now.Sub(y.last) < slice {
		return
	}
	y.last = now
	y.port.Call("postMessage", js.Null())
	<-y.back
}
