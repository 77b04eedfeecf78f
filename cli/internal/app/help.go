package app

import (
	"strings"

	"github.com/urfave/cli/v2"
)

// The help texts: usage, purpose, flags, examples. Tabs separate columns, and
// the library aligns them. The library has no field for examples, so ArgsUsage
// holds them.
const (
	appHelp = `{{.Name}} is {{.Usage}}

Usage: {{.Name}} COMMAND [FLAGS] [FILES]

Commands:
{{range .VisibleCommands}}  {{.Name}}{{"\t"}}{{.Usage}}
{{end}}
Examples:
  {{.Name}} analyze result.json          every metric of a benchmark result
  {{.Name}} analyze --by model logs/     all files of a folder, model by model
  {{.Name}} inspect unknown.log          what this file is, and what it can tell
  {{.Name}} define tpot                  what exactly TPOT is here

{{.Name}} help COMMAND shows the flags and examples of a command.
`
	commandHelp = `Usage: {{.UsageText}}

{{.Description}}
{{if .VisibleFlags}}
Flags:
{{range .VisibleFlags}}{{.}}
{{end}}{{end}}{{if .ArgsUsage}}
Examples:
{{.ArgsUsage}}
{{end}}`
)

func init() { cli.FlagStringer = flagLine }

// flagLine returns a flag's line in the help: "  -o, --output FILE\twhat it
// does". The word in back quotes in the flag's usage is the placeholder of its
// value.
func flagLine(f cli.Flag) string {
	d, ok := f.(cli.DocGenerationFlag)
	if !ok {
		return ""
	}
	usage, placeholder := d.GetUsage(), ""
	if before, rest, ok := strings.Cut(usage, "`"); ok {
		word, after, _ := strings.Cut(rest, "`")
		usage, placeholder = before+word+after, " "+word
	}
	line := "      "
	for _, n := range f.Names() {
		if len(n) == 1 {
			line = "  -" + n + ", "
		}
	}
	return line + "--" + f.Names()[0] + placeholder + "\t" + usage
}

func (p *Process) help() *cli.Command {
	return &cli.Command{
		Name:        "help",
		Usage:       "show the commands, or the flags and examples of one",
		UsageText:   "servescope help [COMMAND]",
		Description: "Shows what a command does, its flags and examples.",
		Action: func(c *cli.Context) error {
			switch c.NArg() {
			case 0:
				return cli.ShowAppHelp(c)
			case 1:
				if c.App.Command(c.Args().First()) == nil {
					return unknownCommand(c.App, c.Args().First())
				}
				return cli.ShowCommandHelp(c, c.Args().First())
			}
			return usagef("help takes one command, got %d", c.NArg())
		},
	}
}
