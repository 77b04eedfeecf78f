// Package vllmlog reads the text logs of vLLM servers, of every prefix generation
// and of both engines.
//
// Periodic lines and the lines of iterations become rows of the steps table,
// request lines become requests, lines that say what runs become facts of the
// run. table.go lists every line that is known, and since when it is printed;
// what carries times or load and has no place in a table goes to a diag.
package vllmlog

import (
	"context"

	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/internal/linelog"
)

const name = "vllmlog"

// Format is the format of vLLM's server logs.
var Format = formats.Format{
	Name:     name,
	Title:    "vLLM server log",
	Priority: 50,
	Shape:    formats.Ordered,
	Sniff:    sniff,
	Open:     open,
}

func open(ctx context.Context, src formats.Source, rng formats.Range, opt formats.Options) (formats.Reader, error) {
	run := &trace.RunMeta{Format: name, Engine: "vllm", Side: trace.Server}
	return linelog.Open(ctx, src, rng, opt, table, run, func(log *linelog.Log) linelog.Fold {
		return newFold(run, log, opt)
	})
}

// sniff looks for lines that only vLLM writes.
func sniff(h *formats.Head) (formats.Score, string) {
	seen := table.Sniff(h)
	var most int64
	var kind string
	for _, list := range [][]linelog.Kind{loadKinds, requestKinds, statisticsKinds()[:1], factKinds} {
		for i := range list {
			if k := list[i].Name; k != linelog.AccessKind.Name && seen.Records[k] > most {
				most, kind = seen.Records[k], k
			}
		}
	}
	heads := seen.Heads["vllm"] + seen.Heads["vllm bracket"]
	switch {
	case most > 0:
		return formats.Sure, "it has lines of a vLLM server: mostly " + kind
	case seen.Loose > 0:
		return formats.Likely, "it has the text of lines of a vLLM server, with an unknown prefix"
	case heads > 0:
		return formats.Likely, "its lines have the prefix of vLLM"
	}
	return formats.No, "no line is one that a vLLM server prints"
}
