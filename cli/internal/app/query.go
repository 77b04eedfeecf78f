package app

import (
	"errors"
	"strings"

	"github.com/urfave/cli/v2"

	"servescope/analyzer/metric"
	"servescope/analyzer/query"
)

// queryFlags are the flags that say what is asked of the runs.
func queryFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "definition", Usage: "compute as another tool does: `NAME` from 'define'"},
		&cli.StringFlag{Name: "filter", Usage: "keep requests with `EXPR`: 'prompt_tokens > 1000'"},
		&cli.StringFlag{Name: "by", Usage: "group by `DIM`, or several: model,status"},
		&cli.StringFlag{Name: "window", Usage: "also report each window of `DURATION`: 10s"},
		&cli.StringFlag{Name: "from", Usage: "begin at `TIME`: +30s, epoch seconds or RFC 3339"},
		&cli.StringFlag{Name: "to", Usage: "end before `TIME`"},
		&cli.StringFlag{Name: "trim", Usage: "cut edges: `HOW` is steady, warmup=30s or warmup=100"},
		&cli.StringFlag{Name: "slo", Usage: "goodput under `LIMITS`: ttft=500ms,tpot=50ms"},
		&cli.StringFlag{Name: "aborts", Usage: "aborted requests in goodput: `HOW` is missed or exclude"},
		&cli.StringFlag{Name: "percentiles", Usage: "report the percentiles in `LIST`: 50,99,99.9"},
		&cli.Int64Flag{Name: "replicas", Usage: "`NUMBER` of replicas, where the log cannot tell"},
	}
}

// queryOf returns the query that the flags of c describe. Errors are usage
// errors that name the flag and what to write.
func queryOf(c *cli.Context) (*query.Query, error) {
	q := &query.Query{Definition: c.String("definition"), Replicas: c.Int64("replicas")}
	if q.Replicas < 0 || c.IsSet("replicas") && q.Replicas == 0 {
		return nil, usagef("--replicas %d: give a number above 0", q.Replicas)
	}
	if err := definition(q.Definition); err != nil {
		return nil, err
	}
	var errs []error
	set(c, "filter", &q.Filter, query.ParseFilter, &errs)
	set(c, "by", &q.By, query.ParseBy, &errs)
	set(c, "window", &q.Window, query.ParseWindow, &errs)
	set(c, "from", &q.From, instant("--from"), &errs)
	set(c, "to", &q.To, instant("--to"), &errs)
	set(c, "trim", &q.Trim, query.ParseTrim, &errs)
	set(c, "slo", &q.SLO, query.ParseSLO, &errs)
	set(c, "aborts", &q.ExcludeAborts, query.ParseAborts, &errs)
	set(c, "percentiles", &q.Ranks, query.ParseRanks, &errs)
	if len(errs) > 0 {
		return nil, asUsage(errs[0])
	}
	return q, nil
}

// definition refuses a name that is no definition set's.
func definition(name string) error {
	if _, err := metric.LookupDefinition(name); err == nil {
		return nil
	}
	return unknown("--definition", "definition set", name, definitionNames())
}

// unknown is the error of a flag's value that is not one of names.
func unknown(flag, what, value string, names []string) error {
	return usagef("%s: unknown %s %q", flag, what, value).with("%s", query.Suggest(value, names))
}

// set parses the flag of that name into dst, if it was given.
func set[T any](c *cli.Context, name string, dst *T, parse func(string) (T, error), errs *[]error) {
	if c.String(name) == "" {
		return
	}
	v, err := parse(c.String(name))
	if err != nil {
		*errs = append(*errs, err)
		return
	}
	*dst = v
}

func instant(flag string) func(string) (*query.Instant, error) {
	return func(text string) (*query.Instant, error) { return query.ParseInstant(flag, text) }
}

// asUsage turns the error of a flag's value into a usage error.
func asUsage(err error) error {
	var q *query.Error
	if !errors.As(err, &q) {
		return usagef("%s", err)
	}
	return usagef("%s: %s", q.Flag, strings.TrimRight(q.Msg, ".")).with("%s", q.Fix)
}
