// Package k6 reads what k6 writes: the points of --out json and --out csv, and the
// summaries of --summary-export and handleSummary.
//
// k6 emits the points of a request together when its response has been read to the end:
// http_reqs first, then http_req_duration, …_blocked, …_connecting, …_tls_handshaking,
// …_sending, …_waiting, …_receiving and …_failed, all with the time of the end and the
// same tags; values are ms. They make one row, of the client's wall clock:
//
//	finished       the time of the points
//	sent           finished less http_req_duration, which is sending + waiting + receiving
//	d_client_wait  blocked + connecting + tls_handshaking, which come before
//
// waiting ends with the first byte of the response's head, not with a token, and the
// body is read as a whole: there is no time of a token, and tokens are not counted. Time
// to the head is reported. CSV has times in whole seconds unless it is told otherwise.
//
// A summary holds figures over all requests, and no request.
package k6

import (
	"bytes"
	"context"

	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/internal/records"
)

// Format is the format's entry in formats/all.
var Format = formats.Format{
	Name:     "k6",
	Title:    "k6: points of --out json and csv, summaries (--summary-export, handleSummary)",
	Priority: 98,
	Shape:    formats.Document,
	Sniff:    sniff,
	Open: func(ctx context.Context, src formats.Source, _ formats.Range, opt formats.Options) (formats.Reader, error) {
		return records.Open(ctx, src, opt, &dialect)
	},
}

const header = "metric_name,timestamp,metric_value"

func sniff(h *formats.Head) (formats.Score, string) {
	if bytes.HasPrefix(h.Start, []byte(header)) {
		return formats.Sure, "its columns are those of k6's points"
	}
	whole := h.Keys()
	lines := [][]formats.Key{whole}
	for i, line := range h.Lines() {
		if i == 50 {
			break
		}
		lines = append(lines, formats.Keys(line))
	}
	for _, keys := range lines {
		if has(keys, "type", formats.String) && has(keys, "metric", formats.String) && has(keys, "data", formats.Object) && (bytes.Contains(h.Start, []byte(`"type":"Point"`)) || bytes.Contains(h.Start, []byte(`"type":"Metric"`))) {
			return formats.Sure, "its lines are k6's metrics and points"
		}
	}
	if has(whole, "metrics", formats.Object) && (has(whole, "root_group", formats.Object) || bytes.Contains(h.Start, []byte(`"http_req_duration"`))) {
		return formats.Sure, "it is k6's summary: metrics, and the group of all"
	}
	return formats.No, "no points or summary of k6"
}

func has(keys []formats.Key, name string, kind formats.Kind) bool {
	for _, k := range keys {
		if k.Name == name && k.Kind == kind {
			return true
		}
	}
	return false
}

const (
	kind = iota
	metric
	stamp
	value
	status
	method
	name
	url
	errorCode
	scenario
	contains
)

var dialect = records.Dialect{
	Name: "k6",
	Run:  trace.RunMeta{Side: trace.Client, Clock: trace.Clock{Kind: trace.Wall}},
	Fields: map[string]int{
		"type": kind, "metric": metric, "data.time": stamp, "data.value": value, "data.tags.status": status, "data.tags.method": method,
		"data.tags.name": name, "data.tags.url": url, "data.tags.error_code": errorCode, "data.tags.scenario": scenario, "data.contains": contains,
		"metric_name": metric, "timestamp": stamp, "metric_value": value, "status": status, "method": method,
		"name": name, "url": url, "error_code": errorCode, "scenario": scenario,
	},
	Table: true,
	New:   func(w *records.Writer) records.Fold { return &fold{Writer: w, times: make(map[string]bool)} },
	HowTo: "run k6 with --out json=FILE",
}
