//go:build js && wasm && !writer

package main

import (
	"context"
	"syscall/js"
	"time"

	"servescope/formats"
	"servescope/formats/all"
	"servescope/wasm/bridge"
)

// memory is the budget of a session. A tab has 4 GiB of address space.
const memory = 768 << 20

func main() {
	opt := bridge.Options{Set: all.Set(), Workers: 1, Memory: memory, Now: time.Now, Zone: bridge.Zone, Yield: newYielder().yield}
	if n := js.Global().Get("servescopeWorkers"); n.Type() == js.TypeNumber && n.Int() > 1 {
		opt.Workers = n.Int()
		opt.Open = bridge.Remotely(n.Int(), remoteCall, handed)
	}
	e := bridge.New(opt)
	serve(func(ctx context.Context, request []byte, files []formats.Input, out func(head, body []byte)) {
		e.Call(ctx, request, files, out)
	})
}
