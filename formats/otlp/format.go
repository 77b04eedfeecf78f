package otlp

import (
	"bytes"
	"context"

	"servescope/formats"
)

const name = "otlp"

// Format reads exported spans.
var Format = formats.Format{
	Name:     name,
	Title:    "OpenTelemetry spans of vLLM, SGLang and any model call (OTLP/JSON, Jaeger)",
	Priority: 55,
	Shape:    formats.Ordered,
	Sniff:    sniff,
	Open: func(ctx context.Context, src formats.Source, rng formats.Range, opt formats.Options) (formats.Reader, error) {
		return newReader(ctx, src, opt)
	},
}

// sniff recognises exports of spans by their outermost members. In a collector's
// file, lines of metrics and logs may come before the first line of spans.
func sniff(h *formats.Head) (formats.Score, string) {
	reason := "no resourceSpans, and no traces of Jaeger"
	judge := func(keys []formats.Key, text []byte) (formats.Score, string) {
		for _, k := range keys {
			array := k.Kind == formats.Array
			switch {
			case array && (k.Name == "resourceSpans" || k.Name == "resource_spans"):
				return formats.Sure, "has resourceSpans"
			case array && k.Name == "batches" && marks(text, "scopeSpans", "instrumentationLibrarySpans", "scope_spans"):
				return formats.Sure, "has batches of scopeSpans"
			case array && k.Name == "data" && marks(text, "traceID") && marks(text, "operationName", "processes"):
				return formats.Sure, "has traces of Jaeger"
			case k.Kind == formats.Object && k.Name == "trace" && marks(text, "resourceSpans"):
				return formats.Sure, "has a trace with resourceSpans"
			case k.Name == "resourceMetrics" || k.Name == "resourceLogs":
				reason = "has metrics or logs of OpenTelemetry, and no spans"
			}
		}
		return formats.No, ""
	}
	if score, why := judge(h.Keys(), h.Start); score > formats.No {
		return score, why
	}
	for _, line := range h.Lines() {
		if score, why := judge(formats.Keys(line), line); score > formats.No {
			return score, why
		}
	}
	for _, s := range h.Samples {
		if marks(s, "resourceSpans") && marks(s, "scopeSpans") {
			return formats.Likely, "has resourceSpans further on"
		}
	}
	return formats.No, reason
}

// marks reports whether one of the names stands in the text as a key.
func marks(text []byte, names ...string) bool {
	for _, n := range names {
		if bytes.Contains(text, []byte(`"`+n+`"`)) {
			return true
		}
	}
	return false
}
