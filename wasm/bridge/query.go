package bridge

import (
	"fmt"
	"strconv"

	"servescope/analyzer/metric"
	"servescope/analyzer/query"
)

// queryOf reads the part of a request that is a query.
func queryOf(m message) (*query.Query, error) {
	q := &query.Query{Definition: m.text("definition")}
	if _, err := metric.LookupDefinition(q.Definition); err != nil {
		return nil, &query.Error{Flag: "--definition", Msg: err.Error()}
	}
	var first error
	set(m, "filter", &q.Filter, query.ParseFilter, &first)
	set(m, "by", &q.By, query.ParseBy, &first)
	set(m, "window", &q.Window, query.ParseWindow, &first)
	set(m, "from", &q.From, instant("--from"), &first)
	set(m, "to", &q.To, instant("--to"), &first)
	set(m, "trim", &q.Trim, query.ParseTrim, &first)
	set(m, "slo", &q.SLO, query.ParseSLO, &first)
	set(m, "aborts", &q.ExcludeAborts, query.ParseAborts, &first)
	set(m, "percentiles", &q.Ranks, query.ParseRanks, &first)
	set(m, "replicas", &q.Replicas, replicas, &first)
	return q, first
}

// set parses the value of a key into dst, if there is one.
func set[T any](m message, key string, dst *T, parse func(string) (T, error), first *error) {
	text := m.text(key)
	if text == "" {
		return
	}
	v, err := parse(text)
	if err != nil {
		if *first == nil {
			*first = err
		}
		return
	}
	*dst = v
}

func instant(flag string) func(string) (*query.Instant, error) {
	return func(text string) (*query.Instant, error) { return query.ParseInstant(flag, text) }
}

func replicas(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 {
		return 0, &query.Error{Flag: "--replicas", Msg: fmt.Sprintf("%q is not a number above 0", text), Fix: "give the number of replicas"}
	}
	return n, nil
}
