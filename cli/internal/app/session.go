package app

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	_ "time/tzdata" // zones of --tz, where the system has no database

	"github.com/urfave/cli/v2"

	"servescope/analyzer"
	"servescope/analyzer/diag"
	"servescope/formats"
	"servescope/formats/all"
	"servescope/formats/source"
)

// inputFlags are the flags that say how files are read.
func inputFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "input-format", Aliases: []string{"f"}, Usage: "read every file as `NAME` from 'formats'"},
		&cli.StringSliceFlag{Name: "map", Usage: "what columns `MEAN`: ttft=first:ms, @FILE.json"},
		&cli.StringSliceFlag{Name: "year", Usage: "`YEAR` of stamps without one: 2026, LABEL=2025"},
		&cli.StringSliceFlag{Name: "tz", Usage: "`ZONE` of stamps without one: +02:00, LABEL=Asia/Tokyo"},
		&cli.IntFlag{Name: "workers", Usage: "`NUMBER` of goroutines (default: one per core)"},
		memoryFlag(),
		&cli.BoolFlag{Name: "no-progress", Usage: "never draw a progress bar"},
	}
}

// joinFlags are the flags that link the requests of several files.
func joinFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "join", Usage: "unite files into one run, requests linked by id"},
		&cli.BoolFlag{Name: "align-clocks", Usage: "with --join: align the clocks of the files, with ±"},
	}
}

// workspace is an open session and what must be tidied up after it.
type workspace struct {
	*analyzer.Session
	clear   func() // removes the progress bar
	workers int
}

// open opens the files that the operands of c name. The caller closes the
// workspace.
func (p *Process) open(c *cli.Context, force string) (*workspace, error) {
	return p.openWith(c, force, p.progress)
}

// openWith is open with another way to tell progress; see progress.
func (p *Process) openWith(c *cli.Context, force string, progress func(*cli.Context) (show func(done, total int64), clear func())) (*workspace, error) {
	if !c.Args().Present() {
		command := c.Command.Name
		if command == "define" {
			command += " --compare SETS"
		}
		return nil, usagef("no file given").with("servescope %s FILE…; - reads standard input", command)
	}
	opt, err := p.options(c)
	if err != nil {
		return nil, err
	}
	return p.openInputs(c, c.Args().Slice(), force, opt, progress)
}

// openInputs is openWith for other operands than those of c, and given options.
func (p *Process) openInputs(c *cli.Context, operands []string, force string, opt analyzer.Options, progress func(*cli.Context) (show func(done, total int64), clear func())) (*workspace, error) {
	inputs, err := source.Expand(operands, p.Stdin, formats.Options{
		Context: c.Context,
		Workers: opt.Workers, Memory: opt.Memory, Scratch: opt.Scratch, Now: opt.Now,
	})
	if err != nil {
		return nil, err
	}
	if err := checkLabels(&opt, inputs, append(c.Args().Slice(), c.String("baseline"))); err != nil {
		inputs.Close()
		return nil, err
	}
	w := &workspace{workers: opt.Workers}
	opt.Progress, w.clear = progress(c)
	if w.Session, err = analyzer.Open(c.Context, all.Set(), inputs, force, opt); err != nil {
		inputs.Close()
		return nil, err
	}
	return w, nil
}

// Close closes the session, which removes its temporary files.
func (w *workspace) Close() error {
	w.clear()
	return w.Session.Close()
}

// names returns the names of the inputs, which outputs must not overwrite.
func (w *workspace) names() []string {
	var out []string
	for _, in := range w.Inputs() {
		out = append(out, in.Name)
	}
	return out
}

func (p *Process) options(c *cli.Context) (analyzer.Options, error) {
	opt := analyzer.Options{Workers: runtime.GOMAXPROCS(0), Scratch: os.TempDir(), Now: p.Now, Join: c.Bool("join"), Align: c.Bool("align-clocks")}
	if opt.Align && !opt.Join {
		return opt, usagef("--align-clocks needs --join: offsets follow from linked requests").with("add --join")
	}
	if c.IsSet("workers") {
		if opt.Workers = c.Int("workers"); opt.Workers < 1 {
			return opt, usagef("--workers %d: give a number above 0", opt.Workers)
		}
	}
	var err error
	if opt.Memory, err = p.memory(c); err != nil {
		return opt, err
	}
	if opt.Map, err = mapping(c); err != nil {
		return opt, err
	}
	return opt, dates(c, &opt)
}

// forms returns the form of the output, one of known or "" when none is named,
// and the forced input format, or "". --format names the form, or else an input
// format: what is the name of both, as parquet is for convert, is the form.
func forms(c *cli.Context, known []string) (form, force string, err error) {
	form, force = c.String("format"), c.String("input-format")
	names := formatNames()
	if force != "" && !slices.Contains(names, force) {
		return "", "", unknown("--input-format", "format", force, names)
	}
	switch {
	case form == "" || slices.Contains(known, form):
		return form, force, nil
	case !slices.Contains(names, form):
		return "", "", unknown("--format", "form or input format", form, slices.Concat(known, names))
	case force != "" && force != form:
		return "", "", usagef("--format %s and --input-format %s name two input formats", form, force)
	}
	return "", form, nil
}

func formatNames() []string {
	var names []string
	for _, f := range all.Set().All() {
		names = append(names, f.Name)
	}
	return names
}

func strictFlag() cli.Flag {
	return &cli.BoolFlag{Name: "strict", Usage: "exit with 1 when any input was skipped"}
}

// memoryError says that requests were left out because there was no room for them.
type memoryError struct{ file, msg string }

func (e *memoryError) Error() string { return e.file + ": " + e.msg }
func (e *memoryError) Hint() string  { return "give more with --memory" }

// lost returns an error when requests did not fit the memory, and when any input
// was skipped if that is to be fatal.
func lost(diags []diag.Diag, strict bool) error {
	for _, d := range diags {
		if d.Code == "memory" && d.Severity == diag.Error {
			return &memoryError{d.File, d.Msg}
		}
	}
	if !strict {
		return nil
	}
	var kinds []string
	for _, d := range diags {
		if d.Severity >= diag.DataLoss {
			kinds = append(kinds, fmt.Sprintf("%s ×%d in %s", d.Code, d.Count, d.File))
		}
	}
	if len(kinds) == 0 {
		return nil
	}
	return fmt.Errorf("--strict: input was skipped: %s", strings.Join(kinds, ", "))
}
