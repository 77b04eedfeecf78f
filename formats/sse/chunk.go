package sse

import (
	"bytes"

	"servescope/formats"
	"servescope/formats/internal/json"
	"servescope/formats/internal/numx"
)

// The kinds of tokens, as the column token_kind names them.
const (
	content = iota
	reasoning
	tool
	refusal
	audio
)

// part is the output of one choice in a chunk.
type part struct {
	choice int64
	kind   int
}

// chunk is the payload of an event.
type chunk struct {
	known  bool // the payload is that of a known API
	id     []byte
	model  []byte
	parts  []part
	index  int64 // of the choice at hand
	ahead  bool  // the index precedes the values of its choice
	stated bool
	texts  int64 // length of the text so far, of APIs that repeat it; -1: none

	prompt, output, cached, thought int64 // -1: not stated
	more                            int64 // tokens of the prompt beside prompt
	reason                          []byte
	failed                          bool
	class                           []byte
	done                            bool // the event ends the answer
	kind                            []byte
}

// begin empties the chunk.
func (c *chunk) begin() {
	*c = chunk{parts: c.parts[:0], texts: -1, prompt: -1, output: -1, cached: -1, thought: -1}
}

// read reads the payload of an event. It reports false if the payload is not well formed.
func (c *chunk) read(b []byte) (ok bool) {
	c.begin()
	n, ok := json.Walk(b, 0, c.value)
	return ok && len(bytes.Trim(b[min(n, len(b)):], " \t\r\n\x00")) == 0
}

// addPart adds a part if its text is not empty.
func (c *chunk) addPart(kind int, raw []byte, is formats.Kind) {
	if is == formats.String && len(raw) > 0 {
		c.parts = append(c.parts, part{c.index, kind})
		c.stated = !c.ahead
	}
}

// value takes a value of the payload.
func (c *chunk) value(path, raw []byte, kind formats.Kind) {
	if c.choice(path, raw, kind) || c.usage(path, raw) || c.message(path, raw, kind) {
		c.known = true
		return
	}
	switch string(path) {
	case "id", "request_id", "message.id", "response.id":
		if c.id = raw; string(path) != "id" && string(path) != "request_id" {
			c.known = true
		}
	case "model", "message.model", "response.model":
		c.model = json.Text(raw)
	case "object":
		c.known = c.known || bytes.Contains(raw, []byte("completion"))
		c.failed = c.failed || string(raw) == "error"
	case "error", "error.message", "error.code":
		c.failed = c.failed || kind != formats.Null
	case "response.error.code":
		c.class = json.Text(raw)
	case "error.type":
		c.failed, c.class = true, json.Text(raw)
	}
	if c.failed {
		c.known = true
	}
}

// choice takes a value of the choices of an OpenAI-compatible API.
func (c *chunk) choice(path, raw []byte, kind formats.Kind) bool {
	rest, ok := bytes.CutPrefix(path, []byte("choices[]."))
	if !ok {
		return string(path) == "choices"
	}
	switch string(rest) {
	case "index":
		v, _, _ := numx.ParseInt(raw)
		if c.stated { // the index follows the values of its choice
			c.parts[len(c.parts)-1].choice = v
			c.stated = false
		} else {
			c.ahead = true
		}
		c.index = v
	case "text", "delta.content", "delta.content[].text":
		c.addPart(content, raw, kind)
	case "delta.reasoning_content", "delta.reasoning", "delta.thinking":
		c.addPart(reasoning, raw, kind)
	case "delta.tool_calls[].function.arguments", "delta.tool_calls[].function.name", "delta.function_call.arguments":
		if len(c.parts) == 0 || c.parts[len(c.parts)-1].kind != tool { // a name and its arguments are one part
			c.addPart(tool, raw, kind)
		}
	case "delta.refusal":
		c.addPart(refusal, raw, kind)
	case "delta.audio.data":
		c.addPart(audio, raw, kind)
	case "finish_reason":
		if kind == formats.String {
			c.reason = raw
		}
	}
	return true
}

// usage takes a count of tokens.
func (c *chunk) usage(path, raw []byte) bool {
	name := path
	for _, p := range [...]string{"usage.", "message.usage.", "response.usage.", "meta_info.", "details."} {
		if rest, ok := bytes.CutPrefix(path, []byte(p)); ok {
			name = rest
			break
		}
	}
	if len(name) == len(path) {
		return false
	}
	v, n, ok := numx.ParseInt(raw)
	ok = ok && n == len(raw) && v >= 0
	to := (*int64)(nil)
	switch string(name) {
	case "prompt_tokens", "input_tokens":
		to = &c.prompt
	case "completion_tokens", "output_tokens", "generated_tokens":
		if string(c.kind) != "message_start" { // it precedes the first token
			to = &c.output
		}
	case "prompt_tokens_details.cached_tokens", "input_tokens_details.cached_tokens", "cached_tokens":
		to = &c.cached
	case "cache_read_input_tokens": // Anthropic counts them beside its input_tokens
		c.more += max(v, 0)
		to = &c.cached
	case "cache_creation_input_tokens":
		c.more += max(v, 0)
	case "completion_tokens_details.reasoning_tokens", "output_tokens_details.reasoning_tokens", "reasoning_tokens":
		to = &c.thought
	case "id":
		c.id = raw
	case "finish_reason.type", "finish_reason":
		if string(raw) != "null" {
			c.reason = raw
		}
	}
	if ok && to != nil {
		*to = v
	}
	return true
}

// message takes a value of the other APIs: Anthropic's Messages and OpenAI's Responses,
// which name their events, and /generate of vLLM, SGLang and TGI.
func (c *chunk) message(path, raw []byte, kind formats.Kind) bool {
	switch string(path) {
	case "type":
		return c.setKind(raw)
	case "delta":
		switch {
		case bytes.HasSuffix(c.kind, []byte("refusal.delta")):
			c.addPart(refusal, raw, kind)
		case bytes.Contains(c.kind, []byte("reasoning")):
			c.addPart(reasoning, raw, kind)
		case bytes.Contains(c.kind, []byte("arguments")):
			c.addPart(tool, raw, kind)
		case bytes.Contains(c.kind, []byte("audio")):
			c.addPart(audio, raw, kind)
		default:
			c.addPart(content, raw, kind)
		}
	case "delta.text":
		c.addPart(content, raw, kind)
	case "delta.thinking":
		c.addPart(reasoning, raw, kind)
	case "delta.partial_json":
		c.addPart(tool, raw, kind)
	case "delta.stop_reason", "response.incomplete_details.reason", "details.finish_reason":
		if kind == formats.String {
			c.reason = raw
		}
	case "token.text":
		c.addPart(content, raw, kind)
	case "text": // of /generate: the whole text so far
		if kind == formats.String || kind == formats.Array && len(raw) > 2 {
			c.texts = int64(len(raw))
		}
	default:
		return false
	}
	return true
}

// setKind takes the type of an event, which says what its delta is.
func (c *chunk) setKind(raw []byte) bool {
	c.kind = raw
	switch string(raw) {
	case "message_stop", "response.completed", "response.incomplete":
		c.done = true
	case "error", "response.failed":
		c.failed = true
	case "message_start", "message_delta", "content_block_start", "content_block_delta", "content_block_stop", "ping":
	default:
		return bytes.HasPrefix(raw, []byte("response."))
	}
	return true
}

// ignore takes a value of no interest.
func (*chunk) ignore(_, _ []byte, _ formats.Kind) {}
