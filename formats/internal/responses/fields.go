package responses

import (
	"bytes"

	"servescope/formats"
	"servescope/formats/internal/json"
	"servescope/formats/internal/numx"
	"servescope/formats/internal/sglmeta"
)

// The values that are kept of an object.
const (
	promptTokens = iota
	outputTokens
	cachedTokens
	reasoningTokens
	maxTokens
	specSteps
	specAccepted
	specDrafted
	queueMS
	prefillMS
	decodeMS
	arrival
	queuedTS
	scheduledTS
	firstTS
	lastTS
	firstLatency
	firstScheduled
	firstTime
	lastTime
	finishedTime
	e2eLatency
	queuedTime
	prefillTime
	decodeTime
	promptLen
	slots
)

// The texts that are kept.
const (
	id = iota
	requestID
	model
	reason
	errorType
	texts
)

// Scales of numbers.
const (
	whole = -1
	ms    = numx.Millisecond
	sec   = numx.Second
)

// numbers are the keys of numbers, in ns where they are times.
var numbers = map[string]struct{ slot, scale int }{
	"usage.prompt_tokens":                              {promptTokens, whole},
	"usage.completion_tokens":                          {outputTokens, whole},
	"usage.input_tokens":                               {promptTokens, whole}, // the Responses API
	"usage.output_tokens":                              {outputTokens, whole},
	"usage.prompt_tokens_details.cached_tokens":        {cachedTokens, whole},
	"usage.input_tokens_details.cached_tokens":         {cachedTokens, whole},
	"usage.completion_tokens_details.reasoning_tokens": {reasoningTokens, whole},
	"usage.output_tokens_details.reasoning_tokens":     {reasoningTokens, whole},

	"queue_time_ms":          {queueMS, ms},
	"time_to_first_token_ms": {prefillMS, ms}, // from scheduled, not from arrival
	"generation_time_ms":     {decodeMS, ms},

	"speculative_decoding.num_spec_steps":            {specSteps, whole},
	"speculative_decoding.num_accepted_draft_tokens": {specAccepted, whole},
	"speculative_decoding.num_draft_tokens":          {specDrafted, whole},

	"arrival_time":          {arrival, sec},
	"queued_ts":             {queuedTS, sec},
	"scheduled_ts":          {scheduledTS, sec},
	"first_token_ts":        {firstTS, sec},
	"last_token_ts":         {lastTS, sec},
	"first_token_latency":   {firstLatency, sec},
	"num_generation_tokens": {outputTokens, whole},
	"num_cached_tokens":     {cachedTokens, whole},
	"prompt_token_ids_len":  {promptTokens, whole},

	"first_scheduled_time": {firstScheduled, sec},
	"first_token_time":     {firstTime, sec},
	"last_token_time":      {lastTime, sec},
	"finished_time":        {finishedTime, sec},

	"e2e_latency":       {e2eLatency, sec},
	"queued_time":       {queuedTime, sec},
	"prefill_time":      {prefillTime, sec},
	"decode_time":       {decodeTime, sec},
	"num_prompt_tokens": {promptTokens, whole},
	"max_tokens_param":  {maxTokens, whole},
}

// names are the keys of texts.
var names = map[string]int{
	"id": id, "request_id": requestID, "custom_id": requestID, "model": model,
	"finish_reason": reason, "choices[].finish_reason": reason, "outputs[].finish_reason": reason,
	"error.type": errorType, "error.code": errorType,
}

// wrappers are names of objects in which answers are kept.
var wrappers = [][]byte{[]byte("response."), []byte("body."), []byte("output."), []byte("result."), []byte("metrics."), []byte("request_stats.")}

// Parser takes the values of one object after another. The zero value is ready for
// use; it implements records.Parser.
type Parser struct {
	have   uint64
	values [slots]int64
	texts  [texts][]byte

	metaInfo, usage, failed bool
	inChunk, choices        bool // object is a chunk; it has choices
	outputs                 int64
	outputLen               int64
	unfinished              bool // finish_reason is null

	sglang sglmeta.Meta
}

// Begin implements records.Parser: it forgets the object before.
func (p *Parser) Begin() {
	p.have, p.outputs, p.outputLen = 0, 0, 0
	p.metaInfo, p.usage, p.failed, p.inChunk, p.choices, p.unfinished = false, false, false, false, false, false
	for i := range p.texts {
		p.texts[i] = p.texts[i][:0]
	}
	p.sglang.Reset()
}

func (p *Parser) has(slots ...int) bool {
	for _, s := range slots {
		if p.have>>s&1 == 0 {
			return false
		}
	}
	return true
}

// Value implements records.Parser.
func (p *Parser) Value(path, raw []byte, kind formats.Kind) {
	for again := true; again; {
		again = false
		for _, w := range wrappers {
			if rest, ok := bytes.CutPrefix(path, w); ok {
				path, again = rest, true
			}
		}
	}
	if rest, ok := bytes.CutPrefix(path, []byte("meta_info.")); ok {
		p.metaInfo = true
		if kind != formats.Array {
			p.sglang.Set(rest, json.Text(raw))
		}
		return
	}
	if bytes.HasPrefix(path, []byte("choices[]")) {
		p.choices = true
	}
	if bytes.HasPrefix(path, []byte("error.")) && kind != formats.Null {
		p.failed = true
	}
	switch kind {
	case formats.Number:
		p.number(path, raw)
	case formats.String:
		p.text(path, raw)
	case formats.Null:
		p.unfinished = p.unfinished || names[string(path)] == reason && bytes.HasSuffix(path, []byte("finish_reason"))
	case formats.Array:
		p.list(path, raw)
	}
}

func (p *Parser) number(path, raw []byte) {
	if string(path) == "finish_reason" { // the enum of FinishedRequestStats
		if n, _, ok := numx.ParseInt(raw); ok && n >= 0 && n < int64(len(finishReasons)) {
			p.texts[reason] = append(p.texts[reason][:0], finishReasons[n]...)
		}
		return
	}
	f, ok := numbers[string(path)]
	if !ok {
		return
	}
	var v int64
	n := 0
	if f.scale == whole {
		v, n, ok = numx.ParseInt(raw)
	} else {
		v, n, ok = numx.Scaled(raw, f.scale)
	}
	if !ok || n != len(raw) || f.scale == whole && v < 0 {
		return
	}
	p.usage = p.usage || bytes.HasPrefix(path, []byte("usage."))
	p.values[f.slot] = v
	p.have |= 1 << f.slot
}

// finishReasons are the names of vLLM's enum.
var finishReasons = [...]string{"stop", "length", "abort", "error", "repetition"}

func (p *Parser) text(path, raw []byte) {
	if string(path) == "object" {
		p.inChunk = bytes.HasSuffix(raw, []byte(".chunk"))
		return
	}
	slot, ok := names[string(path)]
	if ok && len(p.texts[slot]) == 0 {
		p.texts[slot] = append(p.texts[slot], json.Text(raw)...)
	}
}

// list counts token ids.
func (p *Parser) list(path, raw []byte) {
	switch string(path) {
	case "prompt_token_ids":
		p.values[promptLen] = length(raw)
		p.have |= 1 << promptLen
	case "outputs[].token_ids":
		p.outputs++
		p.outputLen += length(raw)
	}
}

// length returns the number of elements of an array of numbers.
func length(raw []byte) int64 {
	if len(bytes.Trim(raw, "[] \t\r\n")) == 0 {
		return 0
	}
	return int64(bytes.Count(raw, []byte(","))) + 1
}

// Kind tells what the object is.
func (p *Parser) Kind() Kind {
	stats := p.has(queuedTS) || p.has(scheduledTS) || p.has(firstTS)
	switch {
	case stats && (p.has(firstLatency) || p.has(arrival) || p.has(lastTS)):
		return RequestStateStats
	case p.has(arrival) && (p.has(firstScheduled) || p.has(firstTime)):
		return RequestMetrics
	case p.has(e2eLatency) && (p.has(queuedTime) || p.has(prefillTime) || p.has(decodeTime)):
		return FinishedRequestStats
	case p.metaInfo && p.sglang.ID() != nil:
		return SGLang
	case p.failed:
		return Failure
	case p.inChunk && (p.choices || !p.usage) && !p.has(prefillMS):
		return Chunk
	case p.usage, p.has(prefillMS, queueMS):
		return Answer
	}
	return Nothing
}
