//go:build js && wasm

package main

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall/js"
	"time"

	"servescope/wasm/wire"
)

// windowSize is how much of a file is read at a time where it is read at random.
const windowSize = 1 << 20

// windows is how many slices of one file are held.
const windows = 16

// blob is a File as a source. Its bytes come in windows, the next of which is
// read while the present one is used, or as a stream; between them the thread is free
// for messages.
type blob struct {
	file js.Value
	name string
	size int64
	mod  time.Time

	mu   sync.Mutex
	held []*window // the least recently used first
}

// window is a slice of a file, or the promise of one.
type window struct {
	index int64
	ready chan struct{} // closed when bytes or err is there
	bytes js.Value      // Uint8Array
	err   error
}

// newBlob makes a source of a File. Its name is the path within a dropped folder.
func newBlob(file js.Value) *blob {
	b := &blob{file: file, name: file.Get("name").String(), size: int64(file.Get("size").Float())}
	if path := file.Get("webkitRelativePath"); path.Type() == js.TypeString && path.String() != "" {
		b.name = path.String()
	}
	if ms := file.Get("lastModified"); ms.Type() == js.TypeNumber {
		b.mod = time.UnixMilli(int64(ms.Float()))
	}
	return b
}

func (b *blob) Name() string       { return b.name }
func (b *blob) Size() int64        { return b.size }
func (b *blob) ModTime() time.Time { return b.mod }
func (b *blob) At() io.ReaderAt    { return b }

// Open implements formats.Source.
func (b *blob) Open(off int64) (io.ReadCloser, error) {
	if off < 0 || off > b.size {
		return nil, fmt.Errorf("%s: offset %d is outside its %d bytes", b.name, off, b.size)
	}
	return &onward{blob: b, off: off}, nil
}

// ReadAt implements io.ReaderAt.
func (b *blob) ReadAt(p []byte, off int64) (int, error) {
	n := 0
	for n < len(p) && off < b.size {
		w := b.window(off / windowSize)
		<-w.ready
		if w.err != nil {
			return n, w.err
		}
		from := int(off % windowSize)
		to := min(w.bytes.Length(), from+len(p)-n)
		if from >= to {
			return n, io.ErrUnexpectedEOF
		}
		m := js.CopyBytesToGo(p[n:], w.bytes.Call("subarray", from, to))
		n += m
		off += int64(m)
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// window returns a window and begins to read the one behind it, if the file is
// being read from front to back.
func (b *blob) window(index int64) *window {
	b.mu.Lock()
	defer b.mu.Unlock()
	w, onward := b.find(index), index == 0
	if w == nil {
		onward = onward || b.find(index-1) != nil
		w = b.load(index)
	} else {
		onward = true
	}
	if onward && (index+1)*windowSize < b.size && b.find(index+1) == nil {
		b.load(index + 1)
		b.find(index)
	}
	return w
}

// find returns a window that is held, as the most recently used, or nil.
func (b *blob) find(index int64) *window {
	for i, w := range b.held {
		if w.index == index {
			copy(b.held[i:], b.held[i+1:])
			b.held[len(b.held)-1] = w
			return w
		}
	}
	return nil
}

func (b *blob) load(index int64) *window {
	w := &window{index: index, ready: make(chan struct{})}
	if len(b.held) == windows {
		copy(b.held, b.held[1:])
		b.held = b.held[:windows-1]
	}
	b.held = append(b.held, w)
	from := index * windowSize
	slice := b.file.Call("slice", from, min(from+windowSize, b.size))
	var then, fail js.Func
	then = js.FuncOf(func(_ js.Value, args []js.Value) any {
		w.bytes = js.Global().Get("Uint8Array").New(args[0])
		end(w, then, fail)
		return nil
	})
	fail = js.FuncOf(func(_ js.Value, args []js.Value) any {
		w.err = &wire.ReadError{Name: b.name, Reason: reason(args[0])}
		end(w, then, fail)
		return nil
	})
	js.Global().Call("servescopeOwe", slice.Call("arrayBuffer"), then, fail)
	return w
}

func end(w *window, funcs ...js.Func) {
	close(w.ready)
	for _, f := range funcs {
		f.Release()
	}
}

// reason is the message of what JavaScript has thrown.
func reason(v js.Value) string {
	if m := v.Get("message"); m.Type() == js.TypeString {
		return m.String()
	}
	return errors.ErrUnsupported.Error()
}
