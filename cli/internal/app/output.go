package app

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// output is where results go: standard output, or a file that appears under its
// name only when it is complete. Until then, and for ever when the command
// fails, an earlier file of that name stays as it was.
type output struct {
	io.Writer
	file *os.File // nil: standard output
	path string   // final name; empty: written in place (a device or a pipe)
	temp *tempFiles
	err  error // the first of writing, which who writes may wrap in words of its own
}

// output opens the file path for writing ("" and "-": standard output). The
// inputs are names of files that must not be overwritten.
func (p *Process) output(path string, inputs []string) (*output, error) {
	if path == "" || path == "-" {
		return &output{Writer: p.Stdout}, nil
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target // replace what a link points to, not the link
	}
	mode := fs.FileMode(0o666) // less the umask
	if info, err := os.Stat(path); err == nil {
		switch {
		case info.IsDir():
			return nil, fmt.Errorf("output %s is a directory", path)
		case !info.Mode().IsRegular():
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err != nil {
				return nil, &outputError{path, cause(err)}
			}
			return &output{Writer: f, file: f}, nil
		}
		if err := notAnInput(path, info, inputs); err != nil {
			return nil, err
		}
		mode = info.Mode().Perm()
	}
	temp := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"."+rand.Text()[:8]+".tmp")
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return nil, &outputError{path, cause(err)}
	}
	p.unfinished.add(temp)
	return &output{Writer: f, file: f, path: path, temp: &p.unfinished}, nil
}

// notAnInput refuses the file when one of the inputs is that very file.
func notAnInput(path string, info fs.FileInfo, inputs []string) error {
	for _, name := range inputs {
		name, _, _ = strings.Cut(name, "!") // members of an archive
		if in, err := os.Stat(name); err == nil && os.SameFile(in, info) {
			return usagef("output %s is one of the inputs", path).with("inputs are never modified: choose another name")
		}
	}
	return nil
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	n, err := o.Writer.Write(p)
	if err != nil && o.path != "" {
		err = &outputError{o.path, cause(err)}
	}
	o.err = cmp.Or(o.err, err)
	return n, err
}

// outputError is why an output cannot be written.
type outputError struct {
	path string
	err  error
}

func (e *outputError) Error() string { return fmt.Sprintf("output %s: %v", e.path, e.err) }
func (e *outputError) Unwrap() error { return e.err }

// Hint returns what to do about it.
func (e *outputError) Hint() string {
	dir := filepath.Dir(e.path)
	info, err := os.Stat(dir)
	switch {
	case errors.Is(e.err, syscall.ENOSPC), errors.Is(e.err, syscall.EDQUOT):
		return "make room there, or write to another disk"
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Sprintf("there is no folder %s: create it, or give another name to -o", dir)
	case errors.Is(err, syscall.ENOTDIR), err == nil && !info.IsDir():
		return fmt.Sprintf("%s is no folder: give another name to -o", dir)
	case errors.Is(e.err, syscall.ENAMETOOLONG):
		return "give a shorter name to -o"
	case errors.Is(e.err, fs.ErrPermission), errors.Is(e.err, syscall.EROFS), errors.Is(e.err, fs.ErrNotExist):
		return fmt.Sprintf("%s may not be written to: name a file in another folder with -o", dir)
	case errors.Is(e.err, syscall.EFBIG):
		return "allow larger files (ulimit -f), or write to another disk"
	}
	return ""
}

// commit makes the file complete and gives it its name.
func (o *output) commit() error {
	if o.file == nil {
		return nil
	}
	if o.path == "" {
		return o.file.Close()
	}
	defer o.temp.forget(o.file.Name())
	err := errors.Join(o.file.Sync(), o.file.Close())
	if err == nil {
		err = os.Rename(o.file.Name(), o.path)
	}
	if err != nil {
		os.Remove(o.file.Name())
		return &outputError{o.path, cause(err)}
	}
	o.file = nil
	return nil
}

// discard removes the incomplete file; it does nothing after commit.
func (o *output) discard() {
	if o.file == nil {
		return
	}
	o.file.Close()
	if o.path != "" {
		os.Remove(o.file.Name())
		o.temp.forget(o.file.Name())
	}
}

// write opens an output, has f write it, and makes it complete.
func (p *Process) write(path string, inputs []string, f func(io.Writer) error) error {
	o, err := p.output(path, inputs)
	if err != nil {
		return err
	}
	defer o.discard()
	err = f(o)
	if errors.Is(o.err, syscall.EPIPE) {
		return nil // the reader has seen enough, which does not change a verdict
	}
	if err != nil {
		if pe := new(fs.PathError); o.path != "" && errors.As(err, &pe) && pe.Path == o.file.Name() {
			return &outputError{o.path, pe.Err}
		}
		return cmp.Or(o.err, err)
	}
	return o.commit()
}

// cause returns the reason of a file error without the path, which for a
// temporary file would mean nothing to the user.
func cause(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	var le *os.LinkError
	if errors.As(err, &le) {
		return le.Err
	}
	return err
}
