// Package app is the command servescope: it turns arguments into queries,
// opens files, shows progress and writes results. The analysis itself is in
// package analyzer.
//
// Standard output holds only results. Everything else goes to standard error:
// the progress bar, if standard error is a terminal, and lines that start with
// "servescope: " or "hint: ", in lower case and without a period at the end.
package app

import (
	"cmp"
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"
)

// The exit codes.
const (
	exitOK      = 0
	exitFailed  = 1
	exitUsage   = 2
	exitNotMet  = 3   // of a gate
	exitSignal  = 128 // plus the signal's number
	programName = "servescope"
)

// Process holds everything outside its own memory that the command touches.
// Only one goroutine at a time uses its writers and Getenv.
type Process struct {
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	Getenv func(key string) string
	Now    time.Time

	unfinished tempFiles
}

// Main runs the command as the operating system started it and returns its
// exit code. SIGINT, SIGTERM and SIGHUP end it with temporary files removed.
func Main() int {
	signal.Ignore(syscall.SIGPIPE) // a write to a closed pipe is an error like any other
	p := &Process{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, Now: time.Now()}
	return Run(p.untilSignal(), p, os.Args[1:])
}

// Run executes the command line args (without the program's name) and returns
// the exit code: 0 ok, 1 failed, 2 wrong usage, 3 gate not met, 128+n ended by
// signal n.
func Run(ctx context.Context, p *Process, args []string) int {
	app := p.app()
	args, err := arrange(app, args)
	if err == nil {
		out := &output{Writer: p.Stdout}
		app.Writer = out // the library writes help here and ignores errors
		err = cmp.Or(app.RunContext(ctx, append([]string{programName}, args...)), out.err)
	}
	return p.fail(ctx, err)
}

// app describes the command line for the library.
func (p *Process) app() *cli.App {
	app := &cli.App{
		Name:                  programName,
		Usage:                 "an offline analyzer for the logs of LLM servers",
		Reader:                p.Stdin,
		ErrWriter:             p.Stderr,
		HideVersion:           true,
		HideHelpCommand:       true,
		CustomAppHelpTemplate: appHelp,
		Commands:              p.commands(),
		OnUsageError:          func(_ *cli.Context, err error, _ bool) error { return usagef("%s", err) },
		ExitErrHandler:        func(*cli.Context, error) {}, // Run returns the code; the library must not exit
	}
	for _, c := range app.Commands {
		c.HideHelpCommand = true
		c.CustomHelpTemplate = commandHelp
		c.OnUsageError = flagError
	}
	return app
}

// commands lists the subcommands in the order of the help.
func (p *Process) commands() []*cli.Command {
	return []*cli.Command{
		p.analyze(),
		p.gate(),
		p.convert(),
		p.inspect(),
		p.formats(),
		p.define(),
		p.view(),
		p.completion(),
		p.version(),
		p.help(),
		p.complete(),
	}
}
