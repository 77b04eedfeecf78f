package app

import (
	"errors"
	"io"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"servescope/analyzer/gate"
	"servescope/analyzer/query"
	"servescope/analyzer/render"
	"servescope/analyzer/report"
)

// gateForms are the forms of verdicts: the values of --format.
var gateForms = []string{"text", "markdown", "json"}

// errNotMet reports that a gate is not met. It has its own exit code.
var errNotMet = errors.New("the gate is not met")

func (p *Process) gate() *cli.Command {
	return &cli.Command{
		Name:      "gate",
		Usage:     "pass or fail: does a run keep a service level",
		UsageText: "servescope gate --slo LIMITS [--baseline FILE] [FLAGS] FILES",
		Description: `Judges each run. In --slo, ttft=500ms belongs to what a good request keeps: of
all requests, --share must be good. ttft:p99=500ms must be kept by 99 % of the
requests. Requests that failed keep no limit. Against --baseline none of
--compare may be slower, which are means, or percentiles as ttft:p99: the 95 %
interval of the change must end within --threshold. With --by, each group must
keep to all of this too, against the same group of the baseline.
Exit code: 0 met, 3 not met, 1 unknown, which is not a pass.`,
		ArgsUsage: `  servescope gate --slo ttft=500ms,tpot=50ms --share 95% result.json
  servescope gate --slo ttft:p99=800ms,tpot:p50=30ms server.log
  servescope gate --baseline main.json --compare ttft:p99 --threshold 5% pr.json
  servescope gate --slo ttft=1s --share 95% --by model gateway.jsonl
  servescope gate --slo e2e=10s --format markdown result.json >comment.md`,
		Flags: slices.Concat(
			[]cli.Flag{
				&cli.StringFlag{Name: "slo", Usage: "keep `LIMITS`: ttft=500ms,tpot:p99=50ms"},
				&cli.StringFlag{Name: "share", Usage: "good requests: at least `PERCENT` (default: 100%)"},
				&cli.StringFlag{Name: "baseline", Usage: "be no slower than the run in `FILE`"},
				&cli.StringFlag{Name: "compare", Usage: "the `METRICS` compared (default: ttft,tpot,e2e)"},
				&cli.StringFlag{Name: "threshold", Usage: "let these grow by `PERCENT` (default: 5%)"},
				&cli.StringFlag{Name: "format", Usage: "print as `FORM`: text, markdown or json"},
				&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write to `FILE`, which appears when complete"},
			},
			slices.DeleteFunc(queryFlags(), func(f cli.Flag) bool {
				return slices.Contains([]string{"slo", "window", "percentiles", "replicas"}, f.Names()[0])
			}),
			joinFlags(),
			[]cli.Flag{strictFlag()},
			inputFlags(),
			[]cli.Flag{colorFlag()},
		),
		Action: p.runGate,
	}
}

func (p *Process) runGate(c *cli.Context) error {
	form, force, err := forms(c, gateForms)
	if err != nil {
		return err
	}
	rule, err := ruleOf(c)
	if err != nil {
		return err
	}
	q, err := queryOf(c, "slo") // gate.Judge sets the limits
	if err != nil {
		return err
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
	base, err := p.baseline(c, force, q)
	if err != nil {
		return err
	}
	res, err := gate.Judge(c.Context, w, q, rule, base)
	w.clear()
	if err != nil {
		return err
	}
	path := c.String("output")
	if form == "" {
		form = rendererExts[filepath.Ext(path)]
	}
	color = color && (path == "" || path == "-" || c.String("color") == "always")
	err = p.write(path, append(w.names(), c.String("baseline")), func(out io.Writer) error {
		return printGate(out, res, form, render.TextOptions{Color: color, Width: width(p.Stdout)})
	})
	if err == nil {
		err = lost(res.Diags, c.Bool("strict"))
	}
	switch {
	case err != nil:
		return err
	case res.Verdict == gate.NotMet:
		return errNotMet
	case res.Verdict == gate.Unknown:
		return errors.Join(errors.New("the gate cannot be judged"), w.Empty())
	}
	return nil
}

// ruleOf returns the rule that the flags state.
func ruleOf(c *cli.Context) (*gate.Rule, error) {
	rule := gate.NewRule()
	var errs []error
	set(c, "share", &rule.Share, func(s string) (int64, error) { return gate.ParseShare("--share", s) }, &errs)
	set(c, "threshold", &rule.Threshold, gate.ParseThreshold, &errs)
	set(c, "compare", &rule.Compare, gate.ParseCompare, &errs)
	if c.String("slo") != "" {
		var err error
		if rule.Limits, rule.Percentiles, err = gate.ParseLimits(c.String("slo")); err != nil {
			errs = append(errs, err)
		}
	}
	switch {
	case len(errs) > 0:
		return nil, asUsage(errs[0])
	case c.String("slo") == "" && c.String("baseline") == "":
		return nil, usagef("nothing to judge by").with("add --slo ttft=500ms, or --baseline FILE")
	case c.IsSet("share") && len(rule.Limits) == 0:
		return nil, usagef("--share needs a limit without a percentile").with("add one, as in --slo ttft=500ms")
	case c.String("baseline") == "" && (c.IsSet("compare") || c.IsSet("threshold")):
		return nil, usagef("--compare and --threshold need --baseline").with("add --baseline FILE")
	}
	return rule, nil
}

// baseline returns the report of the baseline, or nil if the flag is not given.
func (p *Process) baseline(c *cli.Context, force string, q *query.Query) (*report.Report, error) {
	if c.String("baseline") == "" {
		return nil, nil
	}
	opt, err := p.options(c)
	if err != nil {
		return nil, err
	}
	w, err := p.openInputs(c, []string{c.String("baseline")}, force, opt, p.progress)
	if err != nil {
		return nil, err
	}
	defer w.Close()
	rep, err := w.Run(c.Context, q)
	switch {
	case err != nil:
		return nil, err
	case len(rep.Runs) == 0:
		return nil, errors.Join(errors.New("the baseline contains no run"), w.Empty())
	case len(rep.Runs) > 1:
		return nil, usagef("--baseline %s: it contains %d runs, not one", c.String("baseline"), len(rep.Runs)).with("choose a file of one run, or unite its files as LABEL=PATH")
	}
	return rep, nil
}

// printGate writes verdicts in the given form.
func printGate(w io.Writer, r *gate.Result, form string, opt render.TextOptions) error {
	switch form {
	case "json":
		return render.GateJSON(w, r)
	case "markdown":
		return render.GateMarkdown(w, r)
	}
	return render.GateText(w, r, opt)
}
