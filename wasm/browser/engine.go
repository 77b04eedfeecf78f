//go:build js && wasm && !writer

package main

import (
	"context"
	"time"

	"servescope/formats"
	"servescope/formats/all"
	"servescope/wasm/bridge"
)

// memory is the budget of a session. A tab has 4 GiB of address space.
const memory = 768 << 20

func main() {
	e := bridge.New(bridge.Options{
		Set: all.Set(), Workers: 1, Memory: memory, Now: time.Now, Zone: bridge.Zone, Yield: newYielder().yield,
	})
	serve(func(ctx context.Context, request []byte, files []formats.Input, out func(head, body []byte)) {
		e.Call(ctx, request, files, out)
	})
}
