package torchtrace

import (
	"context"

	"servescope/formats"
)

const formatName = "torchtrace"

// Format reads the traces of the PyTorch profiler.
var Format = formats.Format{
	Name:     formatName,
	Title:    "PyTorch profiler (Kineto) trace of vLLM or SGLang workers",
	Priority: 110,
	Shape:    formats.Document,
	Sniff:    sniff,
	Open: func(ctx context.Context, src formats.Source, rng formats.Range, opt formats.Options) (formats.Reader, error) {
		return newReader(ctx, src, opt), nil
	},
}

// marks are members of the top-level object that only the profiler writes.
var marks = []string{"schemaVersion", "deviceProperties", "distributedInfo", "baseTimeNanoseconds", "trace_id",
	"cuda_runtime_version", "hip_runtime_version", "traceName"}

// sniff recognises the profiler's header, and the events of any Chrome trace.
func sniff(h *formats.Head) (formats.Score, string) {
	keys := h.Keys()
	switch h.Top() {
	case formats.Object:
		seen := 0
		for _, m := range marks {
			if _, ok := formats.Find(keys, m); ok {
				seen++
			}
		}
		events, ok := formats.Find(keys, "traceEvents")
		switch {
		case ok && events.Kind == formats.Array && seen > 0, seen >= 2:
			return formats.Sure, "has the header of a PyTorch profiler trace"
		case ok && events.Kind == formats.Array:
			return formats.Likely, "has a list of trace events"
		}
		return formats.No, "has no traceEvents"
	case formats.Array:
		if ph, ok := formats.Find(keys, "ph"); ok && ph.Kind == formats.String {
			return formats.Likely, "is a list of trace events"
		}
		return formats.No, "is a list, but not of trace events"
	}
	return formats.No, "is no JSON object or array"
}
