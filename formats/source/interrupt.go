package source

import (
	"context"
	"errors"
	"io"
	"os"
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

// cancelled is a reader that reads no further once the context has ended.
type cancelled struct {
	ctx context.Context
	r   io.Reader
}

// Read implements io.Reader.
func (c *cancelled) Read(p []byte) (int, error) {
	if c.ctx.Err() != nil {
		return 0, context.Cause(c.ctx)
	}
	return c.r.Read(p)
}

// pipeFile is what has a name and can be read only once, such as a pipe. It is opened when it is read first, which
// waits until something writes to a pipe, and closed at its end.
type pipeFile struct {
	path string
	file *os.File
}

// Read implements io.Reader.
func (f *pipeFile) Read(p []byte) (int, error) {
	if f.file == nil {
		var err error
		if f.file, err = os.Open(f.path); err != nil {
			if path := new(os.PathError); errors.As(err, &path) {
				err = path.Err // the caller names the path
			}
			return 0, err
		}
	}
	n, err := f.file.Read(p)
	if err != nil {
		f.file.Close()
	}
	return n, err
}
