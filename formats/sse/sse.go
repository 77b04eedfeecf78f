// Package sse reads transcripts of streamed answers with the times at which their
// events arrived, as people record them:
//
//	curl -sN … | ts -s '%.s'                   0.213456 data: {"id":…}
//	curl -sN … | ts '%.s'                      1764428000.213456 data: {"id":…}
//	curl -sNv … 2>&1 | ts '%.s'                … > POST /v1/chat/completions …
//	curl -sN … | ts -i '%.s'                   0.024310 data: {"id":…}
//	curl -N --trace-time --trace-ascii - …     10:00:00.213456 <= Recv data, 312 bytes
//	curl -N --trace-time --trace - …           the same, in hexadecimal
//	a browser or proxy                         an HTTP archive (HAR); see har.go
//	a script                                   {"t":0.213,"data":"{\"id\":…}"}
//
// A line is a stamp and what arrived then: a field of a server-sent event, or a
// JSON object. A stamp is a number of seconds (or, where it is an epoch of 2001 to
// 2096, also of ms, µs and ns), an ISO date or a time of day. Of the JSON lines of
// scripts the stamp is a member named t, ts, time, timestamp, at, elapsed or
// received_at, perhaps with a unit behind it (t_ms), and the event one named data,
// chunk, event, line or raw.
//
// The payloads are those of OpenAI-compatible APIs (chat and text completions,
// Responses), of Anthropic's Messages, of /generate of vLLM and SGLang, and of TGI.
//
//	first_event   the first event of any content: a chunk with a role and no text
//	first token   the first one that carries text, reasoning, a part of a tool call,
//	              a refusal or audio. Empty texts, usage and pings are none
//	finished      [DONE], message_stop or response.completed, else the last event
//	tokens        usage at the end; where every chunk states them (usage of each
//	              chunk, meta_info), those of each chunk too. Else one per chunk is
//	              assumed and said so
//
// A request begins where the transcript says: the request line of curl, or a JSON
// line whose event is send, sent, request or start. Where stamps are relative they
// count from there: the first request of a recording begins at 0, unless the first
// event does. Else its beginning is unknown, and TTFT with it.
//
// curl stamps what arrives itself. ts stamps lines when it reads them, and counts from
// when it starts: what comes in between, as a connection that is made while the shell
// starts ts, is stamped late. --trace-time is exact.
//
// Answers of several requests may follow each other, or be interleaved where their
// chunks have ids. One that ends without an end mark and a finish_reason is open.
package sse

import (
	"context"

	"servescope/formats"
)

// Format reads transcripts of streams.
var Format = formats.Format{
	Name:     "sse",
	Title:    "transcripts of streamed answers (server-sent events) with arrival times: ts, curl --trace-time, HAR, JSON lines",
	Priority: 130,
	Shape:    formats.Document,
	Sniff:    sniff,
	Open: func(ctx context.Context, src formats.Source, _ formats.Range, opt formats.Options) (formats.Reader, error) {
		return open(ctx, src, opt)
	},
}

// maxSniffed is the number of lines of a head that are looked at.
const maxSniffed = 400

func sniff(h *formats.Head) (formats.Score, string) {
	if isArchive(h) {
		return formats.Sure, "it is an HTTP archive (HAR)"
	}
	s := surveyOf(h.Start)
	switch {
	case s.events == 0 && s.trace: // its events come behind a long prompt
		return formats.Likely, "it is a trace of curl"
	case s.events == 0:
		return formats.No, "no line is an event of a stream behind the time of its arrival"
	case s.trace:
		return formats.Sure, "it is a trace of curl with a stream of events"
	case s.kind == jsonLine:
		return formats.Sure, "its lines are events of streams with the times of their arrival"
	}
	return formats.Sure, "its lines are events of a stream behind the times of their arrival"
}
