package app

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"servescope/analyzer/unit"
)

// terminal says whether w is a terminal that understands control sequences.
func (p *Process) terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && p.Getenv("TERM") != "dumb" && term.IsTerminal(int(f.Fd()))
}

// width returns the columns of the terminal w, or 80.
func width(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 {
			return columns
		}
	}
	return 80
}

// whens are the values of --color.
var whens = []string{"auto", "always", "never"}

func colorFlag() cli.Flag {
	return &cli.StringFlag{Name: "color", Value: "auto", Usage: "`WHEN` to color: auto, always or never"}
}

// color decides whether text for w is coloured: on a terminal, unless the
// environment says NO_COLOR or TERM=dumb, or as --color commands.
func (p *Process) color(c *cli.Context, w io.Writer) (bool, error) {
	switch when := c.String("color"); when {
	case "always":
		return true, nil
	case "never":
		return false, nil
	case "auto":
		return p.Getenv("NO_COLOR") == "" && p.terminal(w), nil
	default:
		return false, unknown("--color", "value", when, whens)
	}
}

// patience is how long work lasts before it shows a progress bar.
const patience = 500 * time.Millisecond

// progress returns a function that shows how many of the bytes are read, and
// one that removes the bar. Work that ends soon, or whose standard error is not
// a terminal, shows nothing.
func (p *Process) progress(c *cli.Context) (show func(done, total int64), clear func()) {
	if c.Bool("no-progress") || !p.terminal(p.Stderr) {
		return nil, func() {}
	}
	out := &patient{w: p.Stderr, since: time.Now()}
	bar := progressbar.NewOptions64(-1, // its rate and its prediction are off by factors: neither is shown
		progressbar.OptionSetWriter(out),
		progressbar.OptionSetPredictTime(false),
		progressbar.OptionSetElapsedTime(false),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionSpinnerType(14),
		progressbar.OptionClearOnFinish())
	show = func(done, total int64) {
		bar.ChangeMax64(total)
		bar.Describe("read " + unit.Format(unit.Byte, float64(done)))
		_ = bar.Set64(done) // a bar that cannot be drawn must not stop the work
	}
	return show, func() {
		if out.shown {
			_ = bar.Clear()
		}
	}
}

// patient is a writer that loses what is written before patience is over: a bar
// is only seen when work lasts.
type patient struct {
	w     io.Writer
	since time.Time
	shown bool
}

func (p *patient) Write(b []byte) (int, error) {
	if !p.shown && time.Since(p.since) < patience {
		return len(b), nil
	}
	p.shown = true
	return p.w.Write(b)
}
