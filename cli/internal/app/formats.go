package app

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"servescope/formats"
	"servescope/formats/all"
)

func (p *Process) formats() *cli.Command {
	return &cli.Command{
		Name:      "formats",
		Usage:     "list the formats that can be read",
		UsageText: "servescope formats [--json]",
		Description: `Lists the formats that can be read. A file's format is detected by its content;
--input-format NAME forces one.`,
		ArgsUsage: `  servescope formats
  servescope formats --json`,
		Flags: []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "print a JSON array"}},
		Action: func(c *cli.Context) error {
			if err := noOperands(c); err != nil {
				return err
			}
			list := all.Set().All()
			if c.Bool("json") {
				return p.formatsJSON(list)
			}
			tw := tabwriter.NewWriter(p.Stdout, 0, 0, 2, ' ', 0)
			fmt.Fprintln(tw, "NAME\tWRITTEN BY")
			for _, f := range list {
				fmt.Fprintf(tw, "%s\t%s\n", f.Name, f.Title)
			}
			return tw.Flush()
		},
	}
}

func (p *Process) formatsJSON(list []*formats.Format) error {
	type entry struct {
		Name  string `json:"name"`
		Title string `json:"title"`
	}
	out := make([]entry, len(list)) // never null
	for i, f := range list {
		out[i] = entry{f.Name, f.Title}
	}
	return printJSON(p.Stdout, out)
}

// printJSON writes v as indented JSON.
func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
