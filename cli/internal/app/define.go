package app

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"servescope/analyzer/metric"
	"servescope/analyzer/query"
	"servescope/analyzer/trace"
)

// modelTables are the tables whose columns define explains.
var modelTables = []*trace.Table{trace.Requests}

func (p *Process) define() *cli.Command {
	return &cli.Command{
		Name:      "define",
		Usage:     "say what a metric, a definition set or a column means",
		UsageText: "servescope define [--definition SET] [NAME]\n       servescope define --compare SETS [FLAGS] FILES",
		Description: `Prints the formula of a metric under every definition set, or under one, with
its unit, its inputs and why it may be null; the formulas of a definition set,
which --definition takes; or the columns of a table, which --filter takes.
Without a name it lists them all.

With --compare it computes the metrics of files under several sets: a line per
metric and set with the formula filled in with the numbers of the run, why the
figure differs from ours, and which are equal. Means are over requests; where a
mean of quotients is not the quotient of the means, both are shown.`,
		ArgsUsage: `  servescope define
  servescope define tpot
  servescope define tpot --definition guidellm
  servescope define vllm-2026
  servescope define requests
  servescope define --compare all result.json
  servescope define --compare vllm-2026,aiperf,guidellm result.json -o why.md`,
		Flags: slices.Concat(
			[]cli.Flag{
				&cli.StringFlag{Name: "compare", Usage: "compute FILES under `SETS`: vllm-2026,sglang or all"},
				&cli.StringFlag{Name: "definition", Usage: "explain a metric under one `SET`"},
				&cli.StringFlag{Name: "format", Usage: "print as `FORM`: text, markdown, csv or json"},
				&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write to `FILE`, which appears when complete"},
			},
			selectFlags(),
			inputFlags(),
			[]cli.Flag{colorFlag()},
		),
		Action: p.runDefine,
	}
}

// selectFlags returns the flags that select requests and say which of them are
// good.
func selectFlags() []cli.Flag {
	return slices.DeleteFunc(queryFlags(), func(f cli.Flag) bool {
		return !slices.Contains([]string{"filter", "from", "to", "trim", "slo"}, f.Names()[0])
	})
}

func (p *Process) runDefine(c *cli.Context) error {
	if c.IsSet("compare") {
		if c.IsSet("definition") {
			return usagef("--compare and --definition exclude each other").with("name the set in --compare")
		}
		return p.runCompare(c)
	}
	for _, f := range c.Command.Flags {
		if name := f.Names()[0]; name != "definition" && c.IsSet(name) {
			return usagef("--%s needs --compare", name).with("servescope define --compare all FILE")
		}
	}
	if c.NArg() > 1 {
		return usagef("define takes one name, got %d", c.NArg()).with("to compare definition sets on files, name the sets: --compare all")
	}
	set := c.String("definition")
	if err := definition(set); err != nil {
		return err
	}
	switch {
	case c.NArg() == 1 && set != "":
		return p.defineUnder(c.Args().First(), set)
	case set != "":
		return p.defineName(set)
	case c.NArg() == 1:
		return p.defineName(c.Args().First())
	}
	return p.defineList()
}

// defineUnder explains a metric under one set.
func (p *Process) defineUnder(name, set string) error {
	m, ok := metric.Lookup(name)
	if !ok {
		var names []string
		for _, m := range metric.All() {
			names = append(names, m.Name)
		}
		return unknown("define", "metric", name, names)
	}
	d, err := metric.LookupDefinition(set)
	if err != nil {
		return err
	}
	_, err = io.WriteString(p.Stdout, d.Explain(m))
	return err
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
			return defineFields(p.Stdout, t.Fields)
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
	base := strings.TrimSuffix(name, "_ns") // exports add this suffix
	for _, t := range modelTables {
		for _, f := range t.Fields {
			if f.Name == base {
				return defineFields(p.Stdout, []trace.Field{f})
			}
			names = append(names, f.Name)
		}
	}
	if text, ok := metric.Explain(base); ok {
		_, err := io.WriteString(p.Stdout, text)
		return err
	}
	e := usagef("nothing is named %q", name)
	if n := query.Nearest(name, names); n != "" {
		return e.with("did you mean %s?", n)
	}
	return e.with("%s define lists the names", programName)
}

// typeNames are the names of column types for users of the tables.
var typeNames = map[trace.Type]string{
	trace.Int64: "int64", trace.Float64: "double", trace.Bool: "bool", trace.Text: "text", trace.Dict: "text", trace.List: "list of int64",
}

func defineFields(w io.Writer, fields []trace.Field) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "COLUMN\tTYPE\tUNIT\tMEANING")
	for _, f := range fields {
		doc := f.Doc
		if len(f.Values) > 0 {
			doc += ": " + strings.Join(f.Values, ", ")
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\n", f.Name, typeNames[f.Type], f.Unit, doc)
	}
	return tw.Flush()
}
