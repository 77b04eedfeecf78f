package source

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"servescope/analyzer/diag"
	"servescope/formats"
)

// Expand resolves the arguments of a command line: a file, a directory (every
// file below it, in order), a pattern that the shell has left alone, "-" for
// stdin, and any of these as label=path. What can be read only once, such as a
// pipe, is kept: in memory up to a quarter of opt.Memory, then in a temporary
// file in opt.Scratch. Then it unpacks what it found; see Unpack. When opt.Context
// ends, so does this, whatever it waits for.
//
// The error is one that no result should hide: a named file that is missing or
// cannot be read, or nothing to read at all. Everything else is in Diags.
func Expand(args []string, stdin io.Reader, opt formats.Options) (*Inputs, error) {
	e := &expander{in: &Inputs{spools: newSpools(opt)}, stdin: stdin, seen: make(map[string]bool)}
	err := e.all(args)
	for u, i := newUnpacker(e.in, opt), 0; err == nil && i < len(e.found); i++ {
		err = u.add(e.found[i])
	}
	if err == nil && len(e.in.List) == 0 {
		err = nothing(args, &e.in.Diags)
	}
	if err != nil {
		e.in.Close()
		return nil, err
	}
	return e.in, nil
}

// nothing says why args hold nothing to read.
func nothing(args []string, log *diag.Log) error {
	msg := "no file to read in " + strings.Join(args, ", ")
	for _, d := range log.All() {
		msg += fmt.Sprintf("\n  %s: %s", d.File, d.Msg)
	}
	return errors.New(msg)
}

// argError is an argument that makes no sense, and what to do about it.
type argError struct{ msg, hint string }

func (e *argError) Error() string { return e.msg }

// Hint returns what to do about the error, or "".
func (e *argError) Hint() string { return e.hint }

// expander finds the files that arguments name.
type expander struct {
	in    *Inputs
	found []Input
	stdin io.Reader
	seen  map[string]bool // label and true path
}

func (e *expander) all(args []string) error {
	for _, arg := range args {
		ok, err := e.arg(arg, "")
		if label, path, cut := strings.Cut(arg, "="); err == nil && !ok && cut && isLabel(label) {
			ok, err = e.arg(path, label)
			arg = path
		}
		if err != nil {
			return err
		}
		if !ok {
			return missing(arg)
		}
	}
	return nil
}

// isLabel reports whether s can be the label of label=path rather than the
// beginning of a path with an equals sign in it.
func isLabel(s string) bool {
	if s == "" || strings.ContainsAny(s, `/\`) {
		return false
	}
	_, err := os.Lstat(s)
	return err != nil
}

func missing(arg string) error {
	switch {
	case arg == "":
		return &argError{"an empty argument names no file", ""}
	case isPattern(arg):
		return &argError{"no file matches " + arg, "to read everything below a directory, name the directory"}
	case strings.Contains(arg, "="):
		return &argError{arg + ": no such file", "a label stands before the first equals sign and holds no slash: label=path"}
	}
	return &argError{arg + ": no such file", "the path is taken from the current directory"}
}

func isPattern(arg string) bool { return strings.ContainsAny(arg, "*?[") }

// arg adds what one argument without label names, and reports whether there is
// such a thing.
func (e *expander) arg(arg, label string) (bool, error) {
	if arg == "-" {
		return true, e.standardInput(label)
	}
	switch info, err := os.Stat(arg); {
	case err == nil:
		return true, e.path(arg, label, info)
	case errors.Is(err, fs.ErrPermission):
		return false, err
	case !isPattern(arg):
		if _, err := os.Lstat(arg); err == nil {
			return false, &argError{arg + ": the link leads to no file", ""}
		}
		return false, nil
	}
	matches, err := filepath.Glob(arg)
	if err != nil {
		return false, &argError{fmt.Sprintf("%s: %v", arg, err), "write \\[ for a literal bracket"}
	}
	for _, m := range matches {
		info, err := os.Stat(m)
		if err == nil {
			err = e.path(m, label, info)
		}
		if err != nil {
			return false, err
		}
	}
	return len(matches) > 0, nil
}

// path adds a path that the user has named.
func (e *expander) path(path, label string, info os.FileInfo) error {
	switch mode := info.Mode(); {
	case mode.IsDir():
		return e.dir(path, label)
	case mode.IsRegular() && info.Size() > 0:
		e.file(path, label, info, true)
		return nil
	case mode.IsRegular(): // empty, or of a file system that tells no size, such as /proc
	case mode&(fs.ModeNamedPipe|fs.ModeCharDevice) == 0:
		return &argError{path + ": neither a file, a directory nor a pipe", ""}
	}
	if e.twice(path, label) {
		return nil
	}
	return e.pipe(path, label, &pipeFile{path: path})
}

// file adds a plain file.
func (e *expander) file(path, label string, info os.FileInfo, named bool) {
	if !e.twice(path, label) {
		f := &file{name: path, size: info.Size(), info: info, pool: &e.in.pool}
		e.found = append(e.found, Input{Source: f, Label: label, Named: named})
	}
}

// twice reports whether path has been added under this label before, be it
// under another name.
func (e *expander) twice(path, label string) bool {
	full, err := filepath.EvalSymlinks(path)
	if err != nil {
		full = path // a pipe
	}
	if abs, err := filepath.Abs(full); err == nil {
		full = abs
	}
	key := label + "\x00" + full
	if e.seen[key] {
		e.note("duplicate_input", diag.Notice, path, 1, "found more than once, read once")
		return true
	}
	e.seen[key] = true
	return false
}

func (e *expander) note(code string, s diag.Severity, file string, n int, msg string) {
	if n > 0 {
		e.in.Diags.Add(diag.Diag{Code: code, Severity: s, File: file, Offset: -1, Count: int64(n), Msg: msg})
	}
}

// standardInput adds stdin: as the file that it is, if it is one.
func (e *expander) standardInput(label string) error {
	const name = "stdin"
	if e.seen["-"] {
		e.note("duplicate_input", diag.Notice, name, 1, "found more than once, read once")
		return nil
	}
	e.seen["-"] = true
	if f, ok := e.stdin.(*os.File); ok {
		info, err := f.Stat()
		if err == nil && info.Mode().IsRegular() {
			if pos, err := f.Seek(0, io.SeekCurrent); err == nil {
				src := &section{name: name, at: f, off: pos, size: max(info.Size()-pos, 0), mod: info.ModTime()}
				e.found = append(e.found, Input{Source: src, Label: label, Named: true})
				return nil
			}
		}
	}
	return e.pipe(name, label, e.stdin)
}

// pipe adds what can be read only once.
func (e *expander) pipe(name, label string, r io.Reader) error {
	if r == nil {
		return &argError{"there is no standard input", ""}
	}
	if ctx := e.in.spools.ctx; ctx != nil {
		r = &interruptible{ctx: ctx, r: r}
	}
	sp, err := e.in.spools.fill(r)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	e.found = append(e.found, Input{Source: &section{name: name, at: sp, size: sp.size}, Label: label, Named: true})
	return nil
}

// dir adds every file below the directory path, in the order of their names.
// What is hidden stays so. Links to files are followed, links to directories
// are not: they may lead in a circle.
func (e *expander) dir(path, label string) error {
	entries, err := os.ReadDir(path)
	if err != nil {
		return err
	}
	hidden, special := 0, 0
	for _, entry := range entries {
		child := filepath.Join(path, entry.Name())
		if isHidden(entry.Name()) {
			hidden++
			continue
		}
		if entry.IsDir() {
			err = e.dir(child, label)
		} else {
			var info os.FileInfo
			if info, err = os.Stat(child); err == nil {
				if info.Mode().IsRegular() {
					e.file(child, label, info, false)
				} else {
					special++
				}
			}
		}
		if err != nil {
			e.note("unreadable", diag.Error, child, 1, err.Error())
		}
	}
	e.note("hidden_skipped", diag.Info, path, hidden, "hidden files and directories were skipped")
	e.note("special_skipped", diag.Info, path, special, "links to directories, pipes and devices were skipped")
	return nil
}
