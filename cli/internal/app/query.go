package app

import (
	"errors"
	"slices"
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

// queryOf returns the query that the flags of c describe, but those of the given
// names. Errors are usage errors that name the flag and what to write.
func queryOf(c *cli.Context, except ...string) (*query.Query, error) {
	q, err := query.Parse(func(name string) string {
		if !c.IsSet(name) || slices.Contains(except, name) {
			return ""
		}
		return c.String(name)
	})
	if err != nil {
		return nil, asUsage(err)
	}
	if err := definition(q.Definition); err != nil {
		return nil, err
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

// asUsage turns the error of a flag's value into a usage error.
func asUsage(err error) error {
	var q *query.Error
	if !errors.As(err, &q) {
		return usagef("%s", err)
	}
	return usagef("%s: %s", q.Flag, strings.TrimRight(q.Msg, ".")).with("%s", q.Fix)
}
