package app

import (
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"servescope/analyzer/metric"
	"servescope/analyzer/query"
	"servescope/analyzer/render/arrow"
	"servescope/analyzer/render/csv"
	"servescope/analyzer/render/jsonl"
	"servescope/analyzer/render/parquet"
	"servescope/analyzer/render/table"
	"servescope/analyzer/trace"
	"servescope/analyzer/trace/manifest"
)

// tableWriter writes batches of one table to a file.
type tableWriter interface {
	Write(b *trace.Batch) error
	Close() error // completes the file
}

// container is a kind of file that can hold a table.
type container struct {
	name string // value of --format
	ext  string // extension of file names
	text bool   // may go to a terminal
	open func(w io.Writer, t *table.Table, workers int) tableWriter
}

var containers = []container{
	{"parquet", ".parquet", false, func(w io.Writer, t *table.Table, workers int) tableWriter { return parquet.NewParallel(w, t, workers) }},
	{"arrow", ".arrow", false, func(w io.Writer, t *table.Table, _ int) tableWriter {
		return arrow.NewWriter(w, t, arrow.Options{File: true})
	}},
	{"arrows", ".arrows", false, func(w io.Writer, t *table.Table, _ int) tableWriter {
		return arrow.NewWriter(w, t, arrow.Options{})
	}},
	{"csv", ".csv", true, func(w io.Writer, t *table.Table, _ int) tableWriter { return csv.NewWriter(w, t) }},
	{"jsonl", ".jsonl", true, func(w io.Writer, t *table.Table, _ int) tableWriter { return jsonl.NewWriter(w, t) }},
}

// The values of --table and --timestamps.
var (
	tables         = []string{"requests", "tokens", "summary", "steps", "collectives", "histograms", "reported"}
	timestampUnits = []string{"us", "ns"}
)

func (p *Process) convert() *cli.Command {
	return &cli.Command{
		Name:      "convert",
		Usage:     "write requests, tokens or figures as Parquet, Arrow, CSV or JSON",
		UsageText: "servescope convert [FLAGS] FILES",
		Description: `Writes what was read as a table that DuckDB, pandas, Polars and Spark open:
requests (one row each, with lists of chunk gaps), tokens (one row per chunk),
or summary (one row per figure); or what no query selects: steps (one row per
engine step or logged window), collectives (per communication kernel),
histograms (per sample of a metrics endpoint), or reported (per figure that a
producer computed). The schema is the same for every input. The
kind of file is that of --format, or what the name of the output ends in: arrow
is a file (Feather), arrows a stream.`,
		ArgsUsage: `  servescope convert result.json -o requests.parquet
  servescope convert --table tokens logs/ -o tokens.arrow
  servescope convert --filter 'ttft > 1s' --format csv result.json`,
		Flags: slices.Concat(
			[]cli.Flag{
				&cli.StringFlag{Name: "table", Value: "requests", Usage: "write the table `NAME`, one of those above"},
				&cli.StringFlag{Name: "format", Usage: "write `KIND`: " + strings.Join(kinds(), ", ")},
				&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write to `FILE`, which appears when complete"},
				&cli.StringFlag{Name: "timestamps", Value: "us", Usage: "`UNIT` of timestamps: us, or ns for exact ones"},
			},
			queryFlags(),
			joinFlags()[:1],
			[]cli.Flag{strictFlag()},
			inputFlags(),
		),
		Action: p.runConvert,
	}
}

func (p *Process) runConvert(c *cli.Context) error {
	form, force, err := forms(c, kinds())
	if err != nil {
		return err
	}
	if to := c.String("to"); slices.Contains(kinds(), to) { // "--to parquet" reads well, and is no point in time
		form = to
		if err := c.Set("to", ""); err != nil {
			return err
		}
	}
	q, err := queryOf(c)
	if err != nil {
		return err
	}
	kind, err := p.containerOf(form, c.String("output"))
	if err != nil {
		return err
	}
	t, err := tableOf(c, q)
	if err != nil {
		return err
	}
	w, err := p.open(c, force)
	if err != nil {
		return err
	}
	defer w.Close()
	err = p.write(c.String("output"), w.names(), func(out io.Writer) error {
		tw := kind.open(out, t, w.workers)
		t.Manifest = func() *manifest.Manifest { return w.Manifest(q) }
		switch {
		case t.Name == "summary":
			err = w.summary(c, q, tw.Write)
		case t.Source == trace.Requests:
			err = w.Rows(c.Context, q, true, tw.Write)
		default:
			err = w.Table(c.Context, t.Source, tw.Write)
		}
		if err != nil {
			return err
		}
		w.clear()
		if err := lost(w.Diags(), false); err != nil {
			return err
		}
		if err := w.Empty(); err != nil {
			p.warn(w.Diags())
			return err
		}
		return tw.Close()
	})
	if err != nil {
		return err
	}
	p.warn(w.Diags())
	return lost(w.Diags(), c.Bool("strict"))
}

// summary emits the figures of the report as rows.
func (w *workspace) summary(c *cli.Context, q *query.Query, emit func(*trace.Batch) error) error {
	rep, err := w.Run(c.Context, q)
	if err != nil {
		return err
	}
	return emit(table.Summary(rep))
}

// kinds lists the values of --format.
func kinds() []string {
	var names []string
	for _, k := range containers {
		names = append(names, k.name)
	}
	return names
}

// containerOf returns the kind of file to write: the kind with the given name,
// or if name is empty, the kind that the extension of path states.
func (p *Process) containerOf(name, path string) (*container, error) {
	for i := range containers {
		k := &containers[i]
		if name != k.name && (name != "" || filepath.Ext(path) != k.ext) {
			continue
		}
		if !k.text && (path == "" || path == "-") && p.terminal(p.Stdout) {
			return nil, usagef("%s is not for a terminal", k.name).with("give -o FILE")
		}
		return k, nil
	}
	list := strings.Join(kinds(), ", ")
	return nil, usagef("the kind of file to write is not given").with("give --format with one of %s, or -o with a name that ends in one of them", list)
}

// tableOf returns the table that --table names. Its latencies follow the
// query's definition.
func tableOf(c *cli.Context, q *query.Query) (*table.Table, error) {
	var opt table.Options
	var err error
	if opt.Definition, err = metric.LookupDefinition(q.Definition); err != nil {
		return nil, err
	}
	switch unit := c.String("timestamps"); unit {
	case "us":
	case "ns":
		opt.Nanos = true
	default:
		return nil, unknown("--timestamps", "unit", unit, timestampUnits)
	}
	switch name := c.String("table"); name {
	case "requests":
		return table.Requests(opt), nil
	case "tokens":
		return table.Tokens(), nil
	case "summary":
		return table.Summaries(), nil
	case "steps":
		return unselected(c, trace.Steps, opt)
	case "collectives":
		return unselected(c, trace.Collectives, opt)
	case "histograms":
		return unselected(c, trace.Histograms, opt)
	case "reported":
		return unselected(c, trace.ReportedTable, opt)
	default:
		return nil, unknown("--table", "table", name, tables)
	}
}

// unselected returns a table that queries do not select from. It refuses the
// flags of a query.
func unselected(c *cli.Context, source *trace.Table, opt table.Options) (*table.Table, error) {
	for _, f := range queryFlags() {
		if name := f.Names()[0]; c.IsSet(name) && c.String(name) != "" {
			return nil, usagef("--%s selects requests, and the table %s holds none", name, source.Name).with("leave it out")
		}
	}
	return table.Rows(source, opt), nil
}
