//go:build js && wasm

// Command browser is the engine of the page in a browser's worker: package bridge.
// It defines three functions for the script around it,
//
//	servescope.call(id, request, files, answer)
//	servescope.cancel(id)
//	servescope.crash()
//
// where request is a text in the encoding of package bridge, files is an array
// of File and answer(head, body) is called with a text and an ArrayBuffer or
// null. What is answered is said by package bridge. The program never ends.
package main

import (
	"context"
	"syscall/js"

	"servescope/formats/source"
	"servescope/wasm/bridge"
)

// serve hands the requests of the page to the engine.
func serve(e *bridge.Engine) {
	calls := make(map[int]context.CancelFunc) // touched by JavaScript's thread alone, which is Go's
	js.Global().Set("servescope", map[string]any{
		"call": js.FuncOf(func(_ js.Value, args []js.Value) any {
			id, request, reply := args[0].Int(), []byte(args[1].String()), args[3]
			files := filesOf(args[2])
			ctx, cancel := context.WithCancel(context.Background())
			calls[id] = cancel
			go func() {
				defer func() {
					cancel()
					delete(calls, id)
				}()
				e.Call(ctx, request, files, func(head, body []byte) { reply.Invoke(string(head), bufferOf(body)) })
			}()
			return nil
		}),
		"crash": js.FuncOf(func(js.Value, []js.Value) any {
			go panic("a fatal error, as tests ask for it")
			return nil
		}),
		"cancel": js.FuncOf(func(_ js.Value, args []js.Value) any {
			if cancel := calls[args[0].Int()]; cancel != nil {
				cancel()
			}
			return nil
		}),
	})
	js.Global().Call("servescopeReady")
	select {}
}

// filesOf makes inputs of an array of File.
func filesOf(list js.Value) []source.Input {
	if !list.Truthy() {
		return nil
	}
	out := make([]source.Input, list.Length())
	for i := range out {
		out[i].Source = newBlob(list.Index(i))
	}
	return out
}

// bufferOf copies bytes into an ArrayBuffer; nil gives null.
func bufferOf(b []byte) js.Value {
	if b == nil {
		return js.Null()
	}
	array := js.Global().Get("Uint8Array").New(len(b))
	js.CopyBytesToJS(array, b)
	return array.Get("buffer")
}
