package app

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"servescope/analyzer/query"
	"servescope/analyzer/render"
	"servescope/analyzer/report"
	"servescope/analyzer/unit"
)

// renderers are the forms of a report, the values of --format. Without --format
// the name of the output decides.
var (
	renderers    = []string{"text", "markdown", "csv", "json"}
	rendererExts = map[string]string{".md": "markdown", ".csv": "csv", ".json": "json"}

	analyzeForms = append(slices.Clone(renderers), "html") // only analyze writes a page with charts
)

func (p *Process) analyze() *cli.Command {
	return &cli.Command{
		Name:      "analyze",
		Usage:     "compute every serving metric of result files and logs",
		UsageText: "servescope analyze [FLAGS] FILES",
		Description: `Reads result files and logs, computes TTFT, TPOT, chunk gaps, E2E, throughput,
concurrency and goodput, and prints a report. FILES are files, folders,
patterns, archives, - for standard input, or any of these as LABEL=PATH; files
of one label are one run. What a file cannot tell is null, with the reason.`,
		ArgsUsage: `  servescope analyze result.json
  servescope analyze --slo ttft=500ms,tpot=50ms result.json
  servescope analyze --by model --window 10s server.log.gz
  servescope analyze before=a.json after=b.json --format markdown
  servescope analyze --definition vllm-2026 result.json
  servescope analyze --join client.jsonl server.log spans.json
  zcat old.jsonl.gz | servescope analyze - --format json -o report.json`,
		Flags: slices.Concat(
			[]cli.Flag{
				&cli.StringFlag{Name: "format", Usage: "print as `FORM`: text, markdown, csv, json or html"},
				&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write to `FILE`, which appears when complete"},
			},
			queryFlags(),
			joinFlags(),
			[]cli.Flag{
				&cli.BoolFlag{Name: "estimate", Usage: "estimate the parts of TPOT from timestamps"},
				&cli.BoolFlag{Name: "complete", Usage: "for --estimate: no request is missing"},
				strictFlag(),
			},
			inputFlags(),
			[]cli.Flag{colorFlag()},
		),
		Action: p.runAnalyze,
	}
}

func (p *Process) runAnalyze(c *cli.Context) (err error) {
	form, force, err := forms(c, analyzeForms)
	if err != nil {
		return err
	}
	q, err := queryOf(c)
	if err != nil {
		return err
	}
	if c.Bool("complete") && !c.Bool("estimate") {
		return usagef("--complete has no effect without --estimate")
	}
	if form == "" {
		form = rendererExts[filepath.Ext(c.String("output"))]
		if filepath.Ext(c.String("output")) == ".html" {
			form = "html"
		}
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
	rep, err := w.Run(c.Context, q)
	if err == nil && c.Bool("estimate") {
		err = p.estimate(c, w, q, rep)
	}
	w.clear()
	if err != nil {
		return err
	}
	path := c.String("output")
	color = color && (path == "" || path == "-" || c.String("color") == "always")
	err = p.write(path, w.names(), func(out io.Writer) error {
		if form == "html" {
			return w.writeHTML(c, rep, out)
		}
		return printReport(out, rep, form, render.TextOptions{Color: color, Width: width(p.Stdout)})
	})
	return cmp.Or(err, lost(rep.Diags, false), w.Empty(), lost(rep.Diags, c.Bool("strict")))
}

// estimate adds the estimate from timestamps to a report and prints the time it
// took, which no figure of the report includes.
func (p *Process) estimate(c *cli.Context, w *workspace, q *query.Query, rep *report.Report) error {
	since := time.Now()
	chunks, err := w.Estimate(c.Context, q, rep, c.Bool("complete"))
	if err != nil {
		return err
	}
	w.clear()
	cost := unit.Format(unit.Nanosecond, float64(time.Since(since)))
	fmt.Fprintf(p.Stderr, "%s: the estimate took %s for %d chunks of tokens\n", programName, cost, chunks)
	return nil
}

// printReport writes the report in the given form.
func printReport(w io.Writer, rep *report.Report, form string, opt render.TextOptions) error {
	switch form {
	case "json":
		return render.JSON(w, rep)
	case "csv":
		return render.CSV(w, rep)
	case "markdown":
		return render.Markdown(w, rep)
	}
	return render.Text(w, rep, opt)
}
