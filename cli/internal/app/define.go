package app

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"servescope/analyzer/metric"
	"servescope/analyzer/query"
	"servescope/analyzer/trace"
)

// modelTables are the tables of the model whose columns define explains.
var modelTables = []*trace.Table{trace.Requests}

func (p *Process) define() *cli.Command {
	return &cli.Command{
		Name:      "define",
		Usage:     "say what a metric, a definition set or a column means",
		UsageText: "servescope define [NAME]",
		Description: `Prints the formula of a metric under every definition set, with its unit, its
inputs and why it may be null; the formulas of a definition set, which
--definition takes; or the columns of a table, which --filter takes. Without a
name it lists them all.`,
		ArgsUsage: `  servescope define
  servescope define tpot
  servescope define vllm-2026
  servescope define requests`,
		Action: func(c *cli.Context) error {
			switch c.NArg() {
			case 0:
				return p.defineList()
			case 1:
				return p.defineName(c.Args().First())
			}
			return usagef("define takes one name, got %d", c.NArg())
		},
	}
}

// defineNames lists what define explains.
func defineNames() []candidate {
	var out []candidate
	for _, m := range metric.All() {
		out = append(out, candidate{m.Name, m.Title})
	}
	out = append(out, definitionList()...)
	for _, t := range modelTables {
		out = append(out, candidate{t.Name, "columns of the table"})
	}
	return out
}

func definitionList() []candidate {
	var out []candidate
	for _, d := range metric.Definitions() {
		out = append(out, candidate{d.Name, d.Title})
	}
	return out
}

func (p *Process) defineList() error {
	tw := tabwriter.NewWriter(p.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "METRIC\tUNIT\tMEANING")
	for _, m := range metric.All() {
		fmt.Fprintf(tw, "%s\t%s\t%s\n", m.Name, m.Unit, m.Title)
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(tw, "\nDEFINITION SET\tMEANING")
	for _, d := range metric.Definitions() {
		fmt.Fprintf(tw, "%s\t%s\n", d.Name, d.Title)
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(tw, "\nTABLE\tCOLUMNS")
	for _, t := range modelTables {
		fmt.Fprintf(tw, "%s\t%d\n", t.Name, len(t.Fields))
	}
	return tw.Flush()
}

func (p *Process) defineName(name string) error {
	for _, t := range modelTables {
		if t.Name == name {
			return defineTable(p.Stdout, t)
		}
	}
	if text, ok := metric.Explain(name); ok {
		_, err := io.WriteString(p.Stdout, text)
		return err
	}
	var names []string
	for _, c := range defineNames() {
		names = append(names, c.word)
	}
	e := usagef("nothing is named %q", name)
	if n := query.Nearest(name, names); n != "" {
		return e.with("did you mean %s?", n)
	}
	return e.with("%s define lists the names", programName)
}

// typeNames are the types of columns as users of the tables know them.
var typeNames = map[trace.Type]string{
	trace.Int64: "int64", trace.Float64: "double", trace.Bool: "bool", trace.Text: "text", trace.Dict: "text", trace.List: "list of int64",
}

func defineTable(w io.Writer, t *trace.Table) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "COLUMN\tTYPE\tUNIT\tMEANING")
	for _, f := range t.Fields {
		doc := f.Doc
		if len(f.Values) > 0 {
			doc += ": " + strings.Join(f.Values, ", ")
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\n", f.Name, typeNames[f.Type], f.Unit, doc)
	}
	return tw.Flush()
}
