package app

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/urfave/cli/v2"
	"golang.org/x/term"
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
	var bar *progressbar.ProgressBar
	start := time.Now()
	show = func(done, total int64) {
		if bar == nil {
			if time.Since(start) < patience {
				return
			}
			bar = progressbar.NewOptions64(total,
				progressbar.OptionSetWriter(p.Stderr),
				progressbar.OptionSetDescription("reading"),
				progressbar.OptionShowBytes(true),
				progressbar.OptionSetPredictTime(true),
				progressbar.OptionThrottle(100*time.Millisecond),
				progressbar.OptionClearOnFinish())
		}
		bar.ChangeMax64(total)
		_ = bar.Set64(done) // a bar that cannot be drawn must not stop the work
	}
	return show, func() {
		if bar != nil {
			_ = bar.Clear()
		}
	}
}
