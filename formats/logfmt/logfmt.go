// Package logfmt reads the logs of servers that write a line of text for each request or
// event of one, with its values as pairs: log/slog, logrus and go-kit of Go, and what
// people print (ttft=0.123s tokens=200). What the keys mean is found out as for objects of
// JSON with these members; see package mapping.
package logfmt

import (
	"context"

	"servescope/formats"
	"servescope/formats/internal/mapping"
)

// Format is the format's entry in formats/all.
var Format = formats.Format{
	Name:     mapping.Pairs,
	Title:    "logfmt and other lines with key=value pairs of requests: log/slog, logrus, zap; see --map",
	Priority: 900,
	Shape:    formats.Document,
	Loose:    true,
	Sniff:    func(head *formats.Head) (formats.Score, string) { return mapping.SniffPairs(head) },
	Open: func(ctx context.Context, src formats.Source, _ formats.Range, opt formats.Options) (formats.Reader, error) {
		return mapping.Open(ctx, src, opt, mapping.Pairs)
	},
	Learn: mapping.Learn,
}
