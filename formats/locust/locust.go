// Package locust reads the tables that Locust writes with --csv: PREFIX_stats.csv,
// PREFIX_stats_history.csv and PREFIX_failures.csv. They hold figures over all requests
// of a name, and no request.
//
// Times are ms. Averages, the least and the greatest are of the times themselves;
// percentiles and medians are of times that Locust has rounded: to 1 ms below 100 ms, to
// 10 ms below 1 s, to 100 ms below 10 s, and to 1 s above. The times of failed requests
// are among them. Of a history the totals of the last row of each name are taken:
// percentiles of its rows are those of the last ten seconds.
package locust

import (
	"bytes"
	"context"

	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/internal/records"
)

// Format is the format's entry in formats/all.
var Format = formats.Format{
	Name:     "locust",
	Title:    "Locust: figures of --csv (PREFIX_stats.csv, _stats_history.csv, _failures.csv)",
	Priority: 116,
	Shape:    formats.Document,
	Sniff:    sniff,
	Open: func(ctx context.Context, src formats.Source, _ formats.Range, opt formats.Options) (formats.Reader, error) {
		return records.Open(ctx, src, opt, &dialect)
	},
}

func sniff(h *formats.Head) (formats.Score, string) {
	first, _, _ := bytes.Cut(h.Start, []byte("\n"))
	first = bytes.ReplaceAll(bytes.TrimSpace(first), []byte(`"`), nil)
	for _, header := range [...]string{"Type,Name,Request Count,Failure Count,", "Type,Name,# requests,# failures,", "Timestamp,User Count,Type,Name,", "Method,Name,Error,Occurrences"} {
		if bytes.HasPrefix(first, []byte(header)) {
			return formats.Sure, "its columns are those of a table of Locust"
		}
	}
	return formats.No, "the first line is no header of a table of Locust"
}

// The slots of what a row states. What is no figure stands first.
const (
	kind = iota
	name
	message
	stamp
	users
	figures
)

// dialect is filled by init: columns are slots from figures on.
var dialect = records.Dialect{
	Name:   "locust",
	Run:    trace.RunMeta{Side: trace.Client, Clock: trace.Clock{Kind: trace.Wall}},
	Fields: map[string]int{"Type": kind, "Method": kind, "Name": name, "Error": message, "Timestamp": stamp, "User Count": users},
	Table:  true,
	New:    func(w *records.Writer) records.Fold { return &fold{Writer: w, last: make(map[string]int)} },
	HowTo:  "Locust's tables are figures over all of them",
}

func init() {
	for i, c := range columns {
		for _, name := range c.names {
			if name != "" {
				dialect.Fields[name] = figures + i
			}
		}
	}
}
