//go:build js

package main

import (
	"errors"
	"io"
	"net/http"
	"syscall/js"
)

// block is how many bytes are taken from the stream at a time: each costs a
// promise, and the stream by itself gives 4 KiB.
const block = 1 << 20

// byob reads a stream of the runtime into one buffer that goes to and fro.
type byob struct {
	reader js.Value
	buffer js.Value // an ArrayBuffer
	chunk  js.Value // what was read, as far as it is not yet taken
	length int
	at     int
	err    error // the end, which stays
}

// body returns a reader of the body of r.
func body(r *http.Request) io.Reader {
	raw, ok := r.Body.(interface{ GetRawJSBody() js.Value })
	if !ok {
		return http.NoBody
	}
	reader := raw.GetRawJSBody().Call("getReader", map[string]any{"mode": "byob"})
	return &byob{reader: reader, buffer: js.Global().Get("ArrayBuffer").New(block)}
}

// Read implements io.Reader.
func (b *byob) Read(p []byte) (int, error) {
	if b.at == b.length && b.err == nil {
		b.err = b.fill()
	}
	if b.err != nil {
		return 0, b.err
	}
	n := js.CopyBytesToGo(p, b.chunk.Call("subarray", b.at, b.length))
	b.at += n
	return n, nil
}

// fill reads the next block. readAtLeast is the runtime's own; without it a read
// gives what has arrived.
func (b *byob) fill() error {
	view := js.Global().Get("Uint8Array").New(b.buffer)
	promise := js.Undefined()
	if b.reader.Get("readAtLeast").Type() == js.TypeFunction {
		promise = b.reader.Call("readAtLeast", block, view)
	} else {
		promise = b.reader.Call("read", view)
	}
	result, err := await(promise)
	if err != nil {
		return err
	}
	b.chunk, b.at, b.length = result.Get("value"), 0, 0
	if b.chunk.IsUndefined() || b.chunk.IsNull() {
		return io.EOF
	}
	if b.length = b.chunk.Get("byteLength").Int(); b.length == 0 {
		return io.EOF
	}
	b.buffer = b.chunk.Get("buffer")
	return nil
}

// await waits for a promise.
func await(promise js.Value) (js.Value, error) {
	type outcome struct {
		value js.Value
		err   error
	}
	done := make(chan outcome, 1)
	then := js.FuncOf(func(_ js.Value, args []js.Value) any {
		done <- outcome{value: args[0]}
		return nil
	})
	defer then.Release()
	failed := js.FuncOf(func(js.Value, []js.Value) any {
		done <- outcome{err: errors.New("the body broke off")}
		return nil
	})
	defer failed.Release()
	promise.Call("then", then, failed)
	o := <-done
	return o.value, o.err
}
