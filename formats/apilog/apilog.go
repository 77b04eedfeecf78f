// Package apilog reads what clients and scripts save of a server's answers, one
// JSON object per line: bodies of OpenAI-compatible APIs with usage and vLLM's
// metrics, bare, wrapped (response, body, response.body) or as the events of a
// stream; SGLang's answers with meta_info; and the objects in which vLLM keeps
// the times of a request, dumped as JSON.
//
//	object                       first seen  last seen  stamps
//	usage                        v0.1        to come    none: created is in whole seconds and the same in all chunks
//	usage…cached_tokens          v0.6.4      to come    with --enable-prompt-tokens-details
//	metrics (…_ms)               v0.25       to come    durations of the engine; time_to_first_token_ms is the prefill alone
//	metrics.speculative_decoding v0.28       to come
//	RequestMetrics (V0)          v0.2        v0.10      time.time(); last_token_time may be arrival_time: unset
//	RequestStateStats (V1)       v0.11.1     to come    arrival_time and first_token_latency wall, *_ts monotonic
//	FinishedRequestStats         v0.6.4      to come    durations in s; request_id since v0.20
//	meta_info (SGLang)           v0.3.0      to come    see package sglmeta
//
// Package responses says how they become rows.
package apilog

import (
	"bytes"
	"context"

	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/internal/json"
	"servescope/formats/internal/records"
	"servescope/formats/internal/responses"
)

const formatName = "apilog"

// Format reads saved API answers and request statistics.
var Format = formats.Format{
	Name:     formatName,
	Title:    "API answers with usage and metrics, or vLLM's request statistics, as JSON lines",
	Priority: 46,
	Shape:    formats.Records,
	Sniff:    sniff,
	Open: func(ctx context.Context, src formats.Source, rng formats.Range, opt formats.Options) (formats.Reader, error) {
		return records.OpenLines(ctx, src, rng, opt, &dialect)
	},
}

var dialect = records.LineDialect{
	Name:   formatName,
	Wanted: "an API answer with usage or metrics, or an object of request statistics",
	Run:    trace.RunMeta{Side: trace.Server, Clock: trace.Clock{Kind: trace.Wall}},
	New:    func() records.Parser { return new(responses.Parser) },
}

// sniffLines is the number of objects of a head that are looked at.
const sniffLines = 64

func sniff(h *formats.Head) (formats.Score, string) {
	if isFlows(h.Start) {
		return formats.No, "answers are within flows of mitmproxy"
	}
	var p responses.Parser
	best, objects := responses.Nothing, 0
	var hits, timed int
	own := false // the object has a latency of its own
	visit := func(path, raw []byte, kind formats.Kind) {
		own = own || isLatency(path)
		p.Value(path, raw, kind)
	}
	for _, line := range h.Lines() {
		i := bytes.IndexByte(line, '{')
		if i < 0 || objects == sniffLines || i > 0 && !bytes.HasPrefix(line, []byte("data:")) && len(bytes.Trim(line[:i], " \t,[")) > 0 {
			continue
		}
		objects++
		p.Begin()
		own = false
		if _, ok := json.Walk(line, i, visit); !ok {
			continue
		}
		if k := p.Kind(); k != responses.Nothing && k != responses.Failure { // others write errors, too
			hits++
			if best = max(best, k); own && k <= responses.Answer {
				timed++
			}
		}
	}
	switch {
	case hits == 0:
		return formats.No, "no line is " + dialect.Wanted
	case 2*timed > hits:
		return formats.No, "its lines have latencies beside the usage of API answers: they are records of their own"
	case bytes.Contains(h.Start, []byte(`"predicted_ms"`)): // llama.cpp's answers say more
		return formats.Likely, "its lines are API answers with timings of llama.cpp"
	case best == responses.Chunk || 2*hits < objects:
		return formats.Likely, "some lines are of API answers: " + best.String()
	}
	return formats.Sure, "its lines are API answers or request statistics: " + best.String()
}

// isFlows reports whether a text begins with two lengths, as the flows of mitmproxy do.
func isFlows(text []byte) bool {
	digits := 0
	for range 2 {
		digits = 0
		for digits < len(text) && text[digits]-'0' <= 9 {
			digits++
		}
		if digits == 0 || digits == len(text) || text[digits] != ':' {
			return false
		}
		text = text[digits+1:]
	}
	return true
}

// isLatency reports whether a member of an object is a latency by its name. No API states
// one beside its usage.
func isLatency(path []byte) bool {
	if bytes.IndexByte(path, '.') >= 0 {
		return false
	}
	for _, word := range [...]string{"latency", "ttft", "duration", "elapsed", "response_time", "process_time"} {
		if bytes.Contains(bytes.ToLower(path), []byte(word)) {
			return true
		}
	}
	return false
}
