package app

import (
	"fmt"
	"runtime"

	"github.com/urfave/cli/v2"

	"servescope/wasm/page"
)

func (p *Process) version() *cli.Command {
	return &cli.Command{
		Name:        "version",
		Usage:       "print the version",
		UsageText:   "servescope version",
		Description: "Prints the version, the Go release it was built with, and the platform.",
		Action: func(c *cli.Context) error {
			if err := noOperands(c); err != nil {
				return err
			}
			_, err := fmt.Fprintf(p.Stdout, "%s %s (%s, %s/%s)\n", programName, page.Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}

// noOperands refuses arguments that a command would ignore.
func noOperands(c *cli.Context) error {
	if c.Args().Present() {
		return usagef("%s takes no arguments, got %q", c.Command.Name, c.Args().First())
	}
	return nil
}
