package app

import (
	"cmp"
	"io"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"servescope/analyzer/metric"
	"servescope/analyzer/render"
	"servescope/analyzer/report"
)

// everySet is the value of --compare that means all definition sets.
const everySet = "all"

// definitionNames returns the names of all definition sets.
func definitionNames() []string {
	var names []string
	for _, d := range metric.Definitions() {
		names = append(names, d.Name)
	}
	return names
}

// comparedSets reads the value of --compare.
func comparedSets(list string) ([]string, error) {
	known := definitionNames()
	var names []string
	for name := range strings.SplitSeq(list, ",") {
		switch name = strings.TrimSpace(name); {
		case name == everySet:
			return known, nil
		case name == "":
			return nil, usagef("--compare %q: a name is empty", list).with("write names with commas between them, as vllm-2026,sglang, or all")
		}
		if _, err := metric.LookupDefinition(name); err != nil {
			return nil, unknown("--compare", "definition set", name, append(known, everySet))
		}
		names = append(names, name)
	}
	return names, nil
}

// runCompare prints the metrics of files under several definition sets.
func (p *Process) runCompare(c *cli.Context) error {
	form, force, err := forms(c, renderers)
	if err != nil {
		return err
	}
	names, err := comparedSets(c.String("compare"))
	if err != nil {
		return err
	}
	q, err := queryOf(c)
	if err != nil {
		return err
	}
	if form == "" {
		form = rendererExts[filepath.Ext(c.String("output"))]
	}
	color, err := p.color(c, p.Stdout)
	if err != nil {
		return err
	}
	w, err := p.open(c, force)
	if err != nil {
		return err
	}
	defer w.Close()
	d, err := w.Define(c.Context, q, names)
	w.clear()
	if err != nil {
		return err
	}
	path := c.String("output")
	color = color && (path == "" || path == "-" || c.String("color") == "always")
	err = p.write(path, w.names(), func(out io.Writer) error {
		return printDefinitions(out, d, form, render.TextOptions{Color: color, Width: width(p.Stdout)})
	})
	if err != nil {
		return err
	}
	return cmp.Or(lost(w.Diags(), false), w.Empty())
}

// printDefinitions writes definitions side by side in the given form.
func printDefinitions(w io.Writer, d *report.Definitions, form string, opt render.TextOptions) error {
	switch form {
	case "json":
		return render.DefinitionsJSON(w, d)
	case "csv":
		return render.DefinitionsCSV(w, d)
	case "markdown":
		return render.DefinitionsMarkdown(w, d)
	}
	return render.DefinitionsText(w, d, opt)
}
