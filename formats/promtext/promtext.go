// Package promtext reads what vLLM and SGLang expose to Prometheus, saved as
// text: one scrape (curl …/metrics > metrics.prom), or a series of scrapes
// behind one another, with or without the comments that llm-d's harness puts
// before each (# Timestamp, # Pod, # PodIP, # Source), with or without stamps
// of the samples, with or without comment lines (grep); or as JSON, what the HTTP
// API of Prometheus answers to query and query_range. Scrapes of one server may
// lie in files of their own, which one label unites: they are taken in the order
// of time, that of the text, of the file's name or of the file.
//
// Metrics that OpenTelemetry exports as JSON (resourceMetrics, a line of the file
// exporter of the collector, or any other layout) are read as the samples that
// Prometheus would have of them (otlp.go): those of the engines, and those of the
// conventions for calls of any model (gen_ai.server.*, gen_ai.client.*). Their points
// tell when counting began, so figures are those since then; increments are added up;
// exponential histograms give limits like others.
//
// Every sample of the engines becomes a row of the histograms table as it is, and
// gauges of the load one of steps: see gauges.go.
// Families of other programs in the same scrape (python_*, process_*, http_*)
// are noise. A scrape is a sum over all requests since the process began, so
// figures of the run are those of the time between the first scrape and the
// last where there are several, each process's restart taken into account.
// Quantiles are never interpolated: a bucket gives bounds, and an observation
// above the last bucket has no upper one.
//
// names.go lists the families that have a meaning here, and their versions.
package promtext

import (
	"bytes"
	"context"
	"fmt"

	"servescope/analyzer/trace"
	"servescope/formats"
)

const formatName = "promtext"

// Format reads Prometheus text scrapes.
var Format = formats.Format{
	Name:     formatName,
	Title:    "Metrics of vLLM, SGLang and gen_ai: Prometheus (GET /metrics, /api/v1/query_range), OTLP/JSON",
	Priority: 89,
	Shape:    formats.Ordered,
	Sniff:    sniff,
	Open: func(ctx context.Context, src formats.Source, rng formats.Range, opt formats.Options) (formats.Reader, error) {
		return newReader(ctx, src, rng, opt)
	},
	Begins: begins,
}

// sniff looks for samples of an engine, and else for those of any program.
func sniff(h *formats.Head) (formats.Score, string) {
	if top := bytes.TrimLeft(h.Start, " \t\r\n"); len(top) > 0 && (top[0] == '{' || top[0] == '[') {
		if marksOTLP(h.Start) {
			return sniffOTLP(h)
		}
		return sniffAPI(h.Start)
	}
	var others, lines int
	parts := append([][]byte{h.Start}, h.Samples...)
	for _, part := range parts {
		for line := range bytes.Lines(part) {
			lines++
			s, ok := parse(bytes.TrimRight(line, "\r\n"))
			if !ok {
				continue
			}
			if engine, _ := engineOf(s.name); engine != "" {
				return formats.Sure, fmt.Sprintf("it has samples of %s in the text format of Prometheus", engine)
			}
			if len(s.labels) > 0 || bytes.Contains(part, append([]byte("# TYPE "), s.name...)) {
				others++
			}
		}
	}
	if others > 0 && others*4 >= lines {
		return formats.Maybe, "it has samples in the text format of Prometheus, though none of vLLM or SGLang"
	}
	return formats.No, "no line is a sample in the text format of Prometheus"
}

// documents reads samples out of JSON.
type documents interface {
	next(r *reader) bool // takes some, and reports false at the end
	finish(r *reader, rises []*figure)
	err() error
	close() error
}

// marksOTLP reports whether a text has metrics as OpenTelemetry exports them.
func marksOTLP(text []byte) bool {
	return bytes.Contains(text, []byte(`"resourceMetrics"`)) || bytes.Contains(text, []byte(`"resource_metrics"`))
}

// noRequests is why there are no requests.
const noRequests = "a scrape of metrics holds no requests: its counters and histograms are sums over all of them"

func newRun() *trace.RunMeta {
	return &trace.RunMeta{Format: formatName, Side: trace.Server, Clock: trace.Clock{Kind: trace.Wall}, NoRequests: noRequests}
}

// sniffAPI looks for an answer of the HTTP API.
func sniffAPI(text []byte) (formats.Score, string) {
	if !bytes.Contains(text, []byte(`"resultType"`)) || !bytes.Contains(text, []byte(`"result"`)) {
		return formats.No, "it is JSON, but no answer of the API of Prometheus"
	}
	if bytes.Contains(text, []byte(`"resultType":"streams"`)) || bytes.Contains(text, []byte(`"resultType": "streams"`)) {
		return formats.No, "it is an answer of the API of Loki: lines of logs, as logcli query --output=raw prints them"
	}
	for _, name := range prefixes {
		for _, colon := range []string{`"__name__":"`, `"__name__": "`} {
			if bytes.Contains(text, []byte(colon+name.prefix)) {
				return formats.Sure, "it is an answer of the API of Prometheus with series of " + name.engine
			}
		}
	}
	return formats.Maybe, "it is an answer of the API of Prometheus, though the beginning has no series of vLLM or SGLang"
}
