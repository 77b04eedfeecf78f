// Package sglanglog reads the text logs of SGLang servers, schedulers and
// gateways, of every release.
//
// Scheduler lines become rows of the steps table: a Prefill line is one forward
// pass, a Decode line the window of decode steps since the one before (40 unless
// set otherwise). Request logs, "Req Time Stats" and the gateway's responses become
// rows of requests, of the sides server, engine (prefill and decode where the two
// are disaggregated) and proxy: one request may have one row per side, which say
// the same of it and are never added up. Receive and Finish of a request log are
// one row. table.go lists every line that is known, and since when it is printed;
// the stages of a request are explained in package sglmeta.
package sglanglog

import (
	"context"

	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/internal/linelog"
)

const name = "sglanglog"

// Format is the format of SGLang's server logs.
var Format = formats.Format{
	Name:     name,
	Title:    "SGLang server log",
	Priority: 49,
	Shape:    formats.Ordered,
	Sniff:    sniff,
	Open:     open,
}

func open(ctx context.Context, src formats.Source, rng formats.Range, opt formats.Options) (formats.Reader, error) {
	run := &trace.RunMeta{Format: name, Engine: "sglang", Side: trace.Server}
	return linelog.Open(ctx, src, rng, opt, table, run, func(log *linelog.Log) linelog.Fold {
		return newFold(run, log)
	})
}

// sniff looks for lines that only SGLang writes.
func sniff(h *formats.Head) (formats.Score, string) {
	seen := table.Sniff(h)
	for _, k := range kinds(loadKinds, requestKinds, factKinds) {
		if k.Name != linelog.AccessKind.Name && k.Name != "gateway response" && seen.Records[k.Name] > 0 {
			return formats.Sure, "it has lines of an SGLang server: " + k.Name
		}
	}
	switch {
	case seen.Records["gateway response"] > 0: // other servers in Rust write much the same
		return formats.Likely, "it has lines of a gateway of SGLang"
	case seen.Loose > 0:
		return formats.Likely, "it has the text of lines of an SGLang server, with an unknown prefix"
	case seen.Heads["sglang"] > 0:
		return formats.Maybe, "its lines have the prefix of SGLang"
	}
	return formats.No, "no line is one that an SGLang server prints"
}
