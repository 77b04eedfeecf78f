//go:build js && wasm

package main

import (
	"syscall/js"
	"time"

	"servescope/analyzer/stat"
	"servescope/formats/all"
	"servescope/wasm/bridge"
)

// memory is the budget of a session. A tab has 4 GiB of address space. Lists of 40
// million tokens stay in it: a file is read at a tenth of the speed of a disk here.
const (
	memory = 768 << 20
	lists  = 160 << 20
	limit  = 3584 << 20 // of which the rest is for what is thrown away
	most   = 1 << 20    // values of a metric that are kept: to count them takes a second pass, by one worker
)

// spare is never written to, so it takes no memory, but the collector takes it for
// something in use: it does not begin before there is about as much garbage.
var spare []byte

const spareSize = 32 << 20

func main() {
	spare = make([]byte, spareSize)
	stat.SampleLimit = most
	opt := bridge.Options{Set: all.Set(), Workers: 1, Memory: memory, Lists: lists, Limit: limit, Now: time.Now, Zone: bridge.Zone, Yield: newYielder().yield}
	if n := js.Global().Get("servescopeWorkers"); n.Type() == js.TypeNumber && n.Int() > 0 {
		opt.Remote = bridge.Remotely(n.Int(), remoteCall, handed)
	}
	serve(bridge.New(opt))
}
