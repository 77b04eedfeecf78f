// Package columns reads the logs that people's own servers, gateways and scripts
// write: tables of comma- or tab-separated values and JSON objects whose columns
// have names of their own. Package mapping finds out what they mean; the formats
// parquet and arrow ask it for tables that servescope has not written.
package columns

import (
	"context"

	"servescope/formats"
	"servescope/formats/internal/mapping"
)

// Format reads any table of requests. It is the last resort: every other format
// that knows a file goes before it.
var Format = formats.Format{
	Name:     "columns",
	Title:    "any CSV, TSV or JSON log with a latency per request; see --map",
	Priority: 1000,
	Shape:    formats.Document,
	Sniff:    func(head *formats.Head) (formats.Score, string) { return mapping.Sniff(head) },
	Open: func(ctx context.Context, src formats.Source, _ formats.Range, opt formats.Options) (formats.Reader, error) {
		return mapping.Open(ctx, src, opt, "columns")
	},
	Learn: mapping.Learn,
}
