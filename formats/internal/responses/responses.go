// Package responses makes rows of what is known of one request once it is answered:
// bodies of OpenAI-compatible APIs with usage and vLLM's metrics, SGLang's answers
// with meta_info, and the objects in which vLLM keeps the times of a request, as
// JSON or as Python prints them.
//
// Where an object has times of two clocks it becomes two rows, of the server and
// of the engine, which share their join_group; nothing is subtracted across
// clocks. Durations alone make rows on the clock of the request, whose zero is
// the entry into the engine's queue, or the arrival at the server.
package responses

import (
	"bytes"

	"servescope/analyzer/diag"
	"servescope/formats"
	"servescope/formats/internal/assemble"
	"servescope/formats/internal/pyrepr"
)

// Kind is what an object is.
type Kind uint8

// The kinds.
const (
	Nothing Kind = iota // that is known here
	Chunk
	Failure
	Answer
	SGLang
	FinishedRequestStats
	RequestMetrics
	RequestStateStats
)

// String names a kind as in accounts.
func (k Kind) String() string {
	return [...]string{"", "chunk", "error", "answer", "SGLang answer", "FinishedRequestStats", "RequestMetrics", "RequestStateStats"}[k]
}

// NotOne is the problem of an object of something else.
var NotOne = &assemble.Problem{Code: "not_an_answer", Severity: diag.DataLoss,
	Msg: "an object is neither an API answer with usage or metrics nor one of request statistics: it was skipped"}

// Repr takes the values of an object as Python prints it, such as
// RequestOutput(request_id=0, …, metrics=RequestStateStats(arrival_time=…)). It
// reports whether the text is whole.
func (p *Parser) Repr(text []byte) (whole bool) {
	return pyrepr.Walk(text, func(path, value []byte, kind pyrepr.Kind) {
		if kind == pyrepr.List && string(path) == "outputs" && len(value) > 1 {
			pyrepr.Walk(value[1:len(value)-1], func(path, value []byte, kind pyrepr.Kind) {
				p.word(append([]byte("outputs[]."), path...), value, kind)
			})
			return
		}
		p.word(path, value, kind)
	})
}

// word takes one value of Python's.
func (p *Parser) word(path, value []byte, kind pyrepr.Kind) {
	json := formats.String
	switch {
	case kind == pyrepr.List:
		json = formats.Array
	case string(path) == "request_id": // a number in quotes, without them
	case kind == pyrepr.Word && len(value) > 0 && (value[0]-'0' <= 9 || value[0] == '-'):
		json = formats.Number
	case kind == pyrepr.Word && string(value) == "None":
		json = formats.Null
	case kind == pyrepr.Word: // finish_reason=length, <FinishReason.STOP: 0>
		if _, name, ok := bytes.Cut(value, []byte("FinishReason.")); ok {
			name, _, _ = bytes.Cut(name, []byte(":"))
			value = bytes.ToLower(name)
		}
	}
	p.Value(path, value, json)
}
