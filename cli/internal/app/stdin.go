package app

import (
	"context"
	"io"
	"sync"
)

// interruptible is a reader whose Read returns when the context ends, even
// while the underlying reader still waits for input.
type interruptible struct {
	ctx   context.Context
	r     io.Reader
	start sync.Once
	pipe  *io.PipeReader
}

// Read implements io.Reader.
func (i *interruptible) Read(p []byte) (int, error) {
	i.start.Do(func() {
		pr, pw := io.Pipe()
		i.pipe = pr
		context.AfterFunc(i.ctx, func() { pw.CloseWithError(context.Cause(i.ctx)) })
		go func() {
			_, err := io.CopyBuffer(struct{ io.Writer }{pw}, struct{ io.Reader }{i.r}, make([]byte, 256<<10))
			pw.CloseWithError(err) // nil is the end of the input
		}()
	})
	return i.pipe.Read(p)
}
