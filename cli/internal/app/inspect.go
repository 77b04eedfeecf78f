package app

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"servescope/analyzer/diag"
	"servescope/analyzer/metric"
	"servescope/analyzer/query"
	"servescope/analyzer/render"
	"servescope/analyzer/report"
	"servescope/analyzer/unit"
)

// inspectForms are the values of --format.
var inspectForms = []string{"text", "json"}

func (p *Process) inspect() *cli.Command {
	return &cli.Command{
		Name:      "inspect",
		Usage:     "tell what files are, and what can be computed from them",
		UsageText: "servescope inspect [FLAGS] FILES",
		Description: `Tells of every file which format it has and why, what it holds, what was skipped
and why, and which metrics can be computed from it, or why not.`,
		ArgsUsage: `  servescope inspect unknown.log
  servescope inspect results/
  servescope inspect --format json dump.tar.gz`,
		Flags: slices.Concat(
			[]cli.Flag{
				&cli.StringFlag{Name: "format", Usage: "print as `FORM`: text or json"},
				&cli.BoolFlag{Name: "suggest-mapping", Usage: "print a mapping of columns for --map"},
			},
			inputFlags(),
		),
		Action: p.runInspect,
	}
}

// inspection is the JSON form of what inspect prints.
type inspection struct {
	Inputs []report.Input `json:"inputs"`
	Runs   []inspectedRun `json:"runs"`
	Diags  []diag.Diag    `json:"diags"`
}

// inspectedRun is a run without its figures.
type inspectedRun struct {
	Label      string            `json:"label"`
	Format     string            `json:"format"`
	Engine     string            `json:"engine"`
	Version    string            `json:"version"`
	Model      string            `json:"model"`
	Models     []string          `json:"models"`
	Side       string            `json:"side"`
	Clock      string            `json:"clock"`
	Requests   report.Requests   `json:"requests"`
	Computable []string          `json:"computable"` // metrics
	Sections   []string          `json:"sections"`   // what else a report has of it
	Missing    map[string]string `json:"missing"`    // reason by metric
	Config     [][2]string       `json:"config"`
	Notes      []string          `json:"notes"`
}

func (p *Process) runInspect(c *cli.Context) error {
	form, force, err := forms(c, inspectForms)
	if err != nil {
		return err
	}
	if c.Bool("suggest-mapping") {
		return p.suggest(c)
	}
	w, err := p.open(c, force)
	if err != nil {
		return err
	}
	defer w.Close()
	rep, err := w.Run(c.Context, new(query.Query))
	w.clear()
	if err != nil {
		return err
	}
	in := inspected(rep)
	if form == "json" {
		err = printJSON(p.Stdout, in)
	} else {
		var b strings.Builder
		in.text(&b)
		_, err = io.WriteString(p.Stdout, b.String())
	}
	if err != nil {
		return err
	}
	return w.Empty()
}

// inspected takes from a report what it says about the inputs.
func inspected(rep *report.Report) *inspection {
	in := &inspection{Inputs: rep.Inputs, Diags: rep.Diags, Runs: []inspectedRun{}}
	for _, r := range rep.Runs {
		run := inspectedRun{
			Label: r.Label, Format: r.Format, Engine: r.Engine, Version: r.Version, Model: r.Model, Models: append([]string{}, r.Models...), Side: r.Side, Clock: r.Clock,
			Requests: r.Requests, Computable: []string{}, Sections: sections(&r), Missing: map[string]string{},
			Config: append([][2]string{}, r.Config...), Notes: append([]string{}, r.Notes...), // never null
		}
		for _, m := range metric.Distributions() {
			switch figure, ok := r.Metrics[m.Name]; {
			case ok && figure.N > 0:
				run.Computable = append(run.Computable, m.Name)
			case ok:
				run.Missing[m.Name] = figure.Reason
			}
		}
		in.Runs = append(in.Runs, run)
	}
	return in
}

// sections names what a report has of a run beside the metrics of requests.
func sections(r *report.Run) []string {
	out := []string{}
	for _, d := range r.Decompositions {
		parts := slices.ContainsFunc(d.Tables, func(t report.Breakdown) bool { return len(t.Entries) > 0 })
		if name := strings.ToLower(d.Of) + " by part"; parts && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	if len(r.Throughput.Engines) > 0 {
		out = append(out, "load as engines log it")
	}
	if len(r.Steps) > 0 {
		out = append(out, "engine steps")
	}
	if len(r.Reported) > 0 {
		out = append(out, "figures of the producer")
	}
	return out
}

// text prints the inspection for people.
func (in *inspection) text(w io.Writer) {
	for i, input := range in.Inputs {
		if i > 0 {
			fmt.Fprintln(w)
		}
		format := "not recognised"
		if input.Format != "" {
			format = input.Format
		}
		fmt.Fprintln(w, render.Visible(input.Name))
		field(w, "format", format+": "+render.Visible(input.Reason))
		field(w, "size", unit.Format(unit.Byte, float64(input.Bytes)))
		if input.Format != "" {
			field(w, "records", fmt.Sprintf("%d: %d read, %d skipped or repaired, %d without data",
				input.Total, input.Parsed, input.Diagnosed, input.Noise))
		}
		in.warn(w, input.Name)
		for _, kind := range slices.Sorted(maps.Keys(input.Kinds)) {
			field(w, "  "+render.Visible(kind), strconv.FormatInt(input.Kinds[kind], 10))
		}
	}
	for i := range in.Runs {
		fmt.Fprintln(w)
		in.Runs[i].text(w)
	}
	if len(in.Diags) > 0 {
		fmt.Fprintln(w, "\nSkipped, repaired or assumed")
	}
	for _, d := range in.Diags {
		fmt.Fprintf(w, "  %s\n", render.Visible(diagLine(d)))
		if d.Fix != "" {
			fmt.Fprintf(w, "    to do: %s\n", render.Visible(d.Fix))
		}
	}
}

// warn says beside the numbers of an input if more of its lines are unknown than
// may be: what they tell is missing from all that follows.
func (in *inspection) warn(w io.Writer, name string) {
	for _, d := range in.Diags {
		if d.File == name && d.Code == "unrecognised_line" && d.Severity >= diag.DataLoss {
			field(w, "WARNING", render.Visible(d.Msg))
		}
	}
}

func (r *inspectedRun) text(w io.Writer) {
	fmt.Fprintf(w, "Run %s\n", render.Visible(r.Label))
	field(w, "producer", render.Visible(strings.TrimSpace(r.Format+" "+r.Version)))
	field(w, "engine", render.Visible(r.Engine))
	field(w, "model", render.Visible(r.Model+strings.Join(r.Models, ", "))) // either or
	field(w, "stamps", render.Visible(strings.Trim(r.Side+", "+r.Clock+" clock", ", ")))
	field(w, "requests", counts(r.Requests))
	field(w, "computable", cmp.Or(strings.Join(slices.Concat(r.Computable, r.Sections), ", "), "none of the metrics"))
	byReason := make(map[string][]string)
	for _, m := range metric.Distributions() {
		if reason, ok := r.Missing[m.Name]; ok {
			byReason[reason] = append(byReason[reason], m.Name)
		}
	}
	for _, reason := range slices.Sorted(maps.Keys(byReason)) {
		names := strings.Join(byReason[reason], ", ")
		if len(byReason[reason]) == len(metric.Distributions()) {
			names = "every metric of requests"
		}
		field(w, "missing", strings.ReplaceAll(reason, "_", " ")+": "+names)
	}
	for _, note := range r.Notes {
		field(w, "note", render.Visible(note))
	}
	var settings []string
	for _, c := range r.Config {
		settings = append(settings, render.Visible(c[0]+"="+c[1]))
	}
	if len(settings) > 0 {
		field(w, "settings", strings.Join(settings, ", "))
	}
}

// counts prints how many requests there are, and of them those of each status.
func counts(n report.Requests) string {
	var parts []string
	for _, s := range []struct {
		n    int64
		name string
	}{{n.OK, "ok"}, {n.Failed, "failed"}, {n.Aborted, "aborted"}, {n.Empty, "empty"}, {n.Open, "open"}, {n.HeadMissing, "without their head"}} {
		if s.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", s.n, s.name))
		}
	}
	if len(parts) == 0 {
		return "none"
	}
	return fmt.Sprintf("%d: %s", n.Total, strings.Join(parts, ", "))
}

// field prints one entry of a list, wrapped into lines of 80 bytes; unknown
// values are named so.
func field(w io.Writer, name, value string) {
	if value == "" {
		value = "unknown"
	}
	const indent = 14
	line := fmt.Sprintf("  %-11s ", name)
	for i, word := range strings.Fields(value) {
		if i > 0 && len(line)+1+len(word) > 80 {
			fmt.Fprintln(w, strings.TrimRight(line, " "))
			line = strings.Repeat(" ", indent)
		} else if i > 0 {
			line += " "
		}
		line += word
	}
	fmt.Fprintln(w, line)
}

// warn tells on standard error what was skipped, for results that have no room
// for it.
func (p *Process) warn(diags []diag.Diag) {
	for _, d := range diags {
		if d.Severity < diag.DataLoss {
			continue
		}
		fmt.Fprintf(p.Stderr, "%s: %s\n", programName, render.Visible(diagLine(d)))
		if d.Fix != "" {
			fmt.Fprintf(p.Stderr, "hint: %s\n", render.Visible(d.Fix))
		}
	}
}

// diagLine is a diagnostic on one line.
func diagLine(d diag.Diag) string {
	place := d.File
	switch {
	case d.Line > 0:
		place += ":" + strconv.FormatInt(d.Line, 10)
	case d.Offset >= 0:
		place += " at byte " + strconv.FormatInt(d.Offset, 10)
	}
	times := ""
	if d.Count > 1 {
		times = fmt.Sprintf(" (×%d)", d.Count)
	}
	return fmt.Sprintf("%s %s%s %s: %s", d.Severity, d.Code, times, place, d.Msg)
}
