// Package benchresult reads what benchmarks other than those of serving write as
// JSON, one object, an array of objects, or a line each: vLLM's latency,
// throughput, startup and mm-processor benchmarks, the records it writes for the
// PyTorch benchmark database, SGLang's one-batch, offline and multi-turn
// benchmarks. These hold figures that their producer computed and no requests.
// vLLM's multi-turn benchmark writes an object per request: these become rows.
//
// shapes.go lists each shape with the versions that write it.
package benchresult

import (
	"context"
	"slices"

	"servescope/formats"
	"servescope/formats/internal/records"
)

const formatName = "benchresult"

// Format reads the results of benchmarks.
var Format = formats.Format{
	Name:     formatName,
	Title:    "results of vLLM's and SGLang's other benchmarks (JSON): multi-turn, latency, throughput, one batch, offline",
	Priority: 43,
	Shape:    formats.Document,
	Sniff:    func(h *formats.Head) (formats.Score, string) { return records.Sniff(h, judge) },
	Open: func(ctx context.Context, src formats.Source, _ formats.Range, opt formats.Options) (formats.Reader, error) {
		return open(ctx, src, opt)
	},
}

// judge tells by its keys whether an object is a result.
func judge(keys records.Keys) (formats.Score, string) {
	if s := shapeOf(func(key string) bool { return keys.Has(key) }); s != nil {
		return formats.Sure, "an object has the keys that " + s.title + " writes"
	}
	return formats.No, "no object has the keys of a benchmark's result that is known here"
}

// shapeOf returns the shape of an object with these keys, or nil.
func shapeOf(has func(string) bool) *shape {
	i := slices.IndexFunc(shapes, func(s *shape) bool {
		return !slices.ContainsFunc(s.keys, func(k string) bool { return !has(k) })
	})
	if i < 0 {
		return nil
	}
	return shapes[i]
}
