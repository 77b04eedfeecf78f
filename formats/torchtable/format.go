// Package torchtable reads the summary tables that the PyTorch profiler prints
// (key_averages().table): vLLM leaves one per worker beside its traces
// (profiler_out_RANK.txt, since about v0.12).
//
// A table is a claim of its producer about a run, and a cross-check of the
// trace: it has no times of single events. Its names are cut off at 55
// characters, and it counts marked ranges such as execute_context_… as time of
// the device, once per stream, so that their share may be 500 %. Those are
// never taken for device time here.
package torchtable

import (
	"bytes"
	"context"

	"servescope/formats"
)

const formatName = "torchtable"

// Format reads the summary tables of the PyTorch profiler.
var Format = formats.Format{
	Name:     formatName,
	Title:    "PyTorch profiler summary table (profiler_out_RANK.txt of vLLM)",
	Priority: 111,
	Shape:    formats.Document,
	Sniff:    sniff,
	Open: func(ctx context.Context, src formats.Source, _ formats.Range, opt formats.Options) (formats.Reader, error) {
		return newReader(ctx, src, opt), nil
	},
}

func sniff(h *formats.Head) (formats.Score, string) {
	lines := h.Lines()
	if len(lines) < 2 || !isRule(lines[0]) {
		return formats.No, "does not begin with the rule of a table"
	}
	if !bytes.Contains(lines[1], []byte("Self CPU")) || !bytes.Contains(lines[1], []byte("# of Calls")) {
		return formats.No, "has a table, but not with the columns of the profiler"
	}
	return formats.Sure, "has the columns of the profiler's table"
}

// isRule reports whether a line rules a table: dashes, with spaces where
// columns meet.
func isRule(line []byte) bool {
	return bytes.HasPrefix(line, []byte("--")) && len(bytes.Trim(line, "- \r")) == 0
}
