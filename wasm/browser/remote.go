//go:build js && wasm

package main

import (
	"context"
	"syscall/js"

	"servescope/formats"
	"servescope/wasm/bridge"
)

// remoteCall hands a request to a worker that the script around this one knows by
// a number. It is a bridge.Remote.
func remoteCall(ctx context.Context, worker int, request []byte, src formats.Source, out bridge.Out) {
	done := make(chan struct{}, 1)
	answer := js.FuncOf(func(_ js.Value, args []js.Value) any {
		var body []byte
		if args[1].Truthy() {
			array := js.Global().Get("Uint8Array").New(args[1])
			body = make([]byte, array.Length())
			js.CopyBytesToGo(body, array)
		}
		out([]byte(args[0].String()), body)
		if args[2].Bool() {
			done <- struct{}{}
		}
		return nil
	})
	file := js.Null()
	if src != nil {
		file = src.(*blob).file
	}
	id := js.Global().Call("servescopeRemote", worker, string(request), file, answer)
	select {
	case <-done:
	case <-ctx.Done():
		js.Global().Call("servescopeCancel", worker, id)
		<-done
	}
	answer.Release()
}

// handed says whether a source may be read by another worker: files may, what is
// unpacked from them is here only.
func handed(src formats.Source) bool {
	_, ok := src.(*blob)
	return ok
}
