package query

import (
	"fmt"
	"strconv"
)

// Parse returns the query that options describe. values returns the text of an
// option by its name, "slo", or "" if the option is not given. Parse returns an
// *Error for the first text that cannot be parsed; it names the option as a
// flag. The caller must check that the definition set in Definition exists.
func Parse(values func(name string) string) (*Query, error) {
	q := &Query{Definition: values("definition")}
	o := options{values: values}
	set(&o, "filter", &q.Filter, ParseFilter)
	set(&o, "by", &q.By, ParseBy)
	set(&o, "window", &q.Window, ParseWindow)
	set(&o, "from", &q.From, instant("--from"))
	set(&o, "to", &q.To, instant("--to"))
	set(&o, "trim", &q.Trim, ParseTrim)
	set(&o, "slo", &q.SLO, ParseSLO)
	set(&o, "aborts", &q.ExcludeAborts, ParseAborts)
	set(&o, "percentiles", &q.Ranks, ParseRanks)
	set(&o, "replicas", &q.Replicas, parseReplicas)
	if o.err != nil {
		return nil, o.err
	}
	return q, nil
}

type options struct {
	values func(name string) string
	err    error // the first error
}

// set parses the option with the given name into dst if it is given.
func set[T any](o *options, name string, dst *T, parse func(string) (T, error)) {
	text := o.values(name)
	if text == "" || o.err != nil {
		return
	}
	v, err := parse(text)
	if err != nil {
		o.err = err
		return
	}
	*dst = v
}

func instant(flag string) func(string) (*Instant, error) {
	return func(text string) (*Instant, error) { return ParseInstant(flag, text) }
}

func parseReplicas(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 {
		return 0, &Error{Flag: "--replicas", Msg: fmt.Sprintf("%.40q is not a number above 0", text), Fix: "give the number of replicas"}
	}
	return n, nil
}
