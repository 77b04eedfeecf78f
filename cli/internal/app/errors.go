package app

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/urfave/cli/v2"

	"servescope/analyzer/query"
	"servescope/analyzer/render"
)

// usageError is an invalid command line. hint, if not empty, says how to write
// it.
type usageError struct{ msg, hint string }

func (e *usageError) Error() string { return e.msg }

// Hint returns what to do about the error.
func (e *usageError) Hint() string { return e.hint }

// usagef returns a usage error without hint.
func usagef(format string, args ...any) *usageError {
	return &usageError{msg: fmt.Sprintf(format, args...)}
}

// with adds advice to a usage error.
func (e *usageError) with(format string, args ...any) *usageError {
	e.hint = fmt.Sprintf(format, args...)
	return e
}

// fail reports err on standard error and returns the exit code.
func (p *Process) fail(ctx context.Context, err error) int {
	if err == nil {
		return exitOK
	}
	if code := signalled(ctx); code != 0 {
		return code
	}
	if errors.Is(err, syscall.EPIPE) {
		return exitOK // the reader of our output stopped reading
	}
	var q *query.Error
	if errors.As(err, &q) {
		err = asUsage(q)
	}
	p.complain(err)
	var u *usageError
	if errors.As(err, &u) {
		return exitUsage
	}
	if errors.Is(err, errNotMet) {
		return exitNotMet
	}
	return exitFailed
}

// complain prints an error and its hint.
func (p *Process) complain(err error) {
	lines := strings.Split(strings.TrimRight(err.Error(), "\n"), "\n")
	for i, line := range lines {
		lines[i] = render.Visible(line) // file names and messages may hold anything
	}
	fmt.Fprintf(p.Stderr, "%s: %s\n", programName, strings.Join(lines, "\n"))
	var h interface{ Hint() string }
	if errors.As(err, &h) && h.Hint() != "" {
		fmt.Fprintf(p.Stderr, "hint: %s\n", h.Hint())
	}
}

// flagError converts the library's error about a flag.
func flagError(c *cli.Context, err error, _ bool) error {
	return usagef("%s", strings.ReplaceAll(err.Error(), " -", " --")).with("see %s help %s", programName, c.Command.Name)
}
