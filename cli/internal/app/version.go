package app

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/urfave/cli/v2"
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
			_, err := fmt.Fprintf(p.Stdout, "%s %s (%s, %s/%s)\n", programName, buildVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}

// buildVersion returns the module's version, or the commit of a build from a
// checkout, or "devel" where the build recorded neither.
func buildVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	commit, dirty := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "+changes"
		}
	}
	if commit == "" {
		return "devel"
	}
	return "devel-" + commit + dirty
}

// noOperands refuses arguments that a command would ignore.
func noOperands(c *cli.Context) error {
	if c.Args().Present() {
		return usagef("%s takes no arguments, got %q", c.Command.Name, c.Args().First())
	}
	return nil
}
