// Package nethttp writes a servescope token log of what an http.Handler answers:
// a line of JSON per request, of the format that docs/tokenlog.md describes.
//
// The package is one file without dependencies, to be copied into a server or
// gateway in front of an OpenAI-compatible API:
//
//	log, err := os.OpenFile("requests.jsonl", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
//	…
//	http.ListenAndServe(":8080", nethttp.Handler(proxy, log))
//
// It takes times and counts and keeps no text: prompts and answers never reach the
// log. A chunk of an answer is stamped when the handler writes it.
package nethttp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Paths are ends of the paths of APIs that generate. POST requests to others, for
// embeddings, tokens or models, are no requests of a log of latencies.
var Paths = []string{"/completions", "/responses", "/messages", "/generate"}

// generates tells whether the path of a request ends with one of these.
func generates(r *http.Request, paths []string) bool {
	for _, end := range paths {
		if strings.HasSuffix(strings.TrimRight(r.URL.Path, "/"), end) {
			return r.Method == http.MethodPost
		}
	}
	return false
}

// Handler returns a handler that has next answer and writes a line to w for every
// POST request to a path with one of the given ends, Paths unless there are any, when
// it has ended. Of answers that are no completions it has times and no tokens. Lines
// of concurrent requests are written one at a time. Errors of w are ignored: a log
// that cannot be written stops no server.
func Handler(next http.Handler, w io.Writer, paths ...string) http.Handler {
	if len(paths) == 0 {
		paths = Paths
	}
	var mu sync.Mutex
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if !generates(r, paths) {
			next.ServeHTTP(rw, r)
			return
		}
		t := &tap{ResponseWriter: rw, arrival: time.Now(), id: r.Header.Get("X-Request-Id")}
		defer func() {
			cause := recover()
			line := t.line(cause, r.Context().Err() != nil)
			mu.Lock()
			w.Write(line)
			mu.Unlock()
			if cause != nil {
				panic(cause)
			}
		}()
		next.ServeHTTP(t, r)
	})
}

// maxBody bounds what is kept of an answer that is not streamed, and of an event
// that has not ended.
const maxBody = 16 << 20

// tap passes an answer on and notes its times.
type tap struct {
	http.ResponseWriter
	arrival time.Time
	id      string
	status  int
	stream  bool
	rest    []byte // of the body, not yet looked at
	failed  string // class of an error of the stream
	broken  bool   // the client has gone
	ended   bool   // there was an end mark, or a finish_reason
	event   time.Time
	model   string
	usage   usage
	choices []*choice
}

type usage struct {
	Prompt     *int64 `json:"prompt_tokens"`
	Completion *int64 `json:"completion_tokens"`
	Details    struct {
		Cached *int64 `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	More struct {
		Reasoning *int64 `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

// choice is one sequence of an answer.
type choice struct {
	index  int
	times  []time.Time
	kind   string // of the first token
	answer time.Time
	reason string
}

// now returns the time, which goes on evenly from the arrival whatever is done to
// the clock of the host.
func (t *tap) now() time.Time { return t.arrival.Add(time.Since(t.arrival)) }

// WriteHeader implements http.ResponseWriter.
func (t *tap) WriteHeader(status int) {
	if t.status == 0 && status >= 200 {
		t.status = status
		t.stream = strings.HasPrefix(t.Header().Get("Content-Type"), "text/event-stream")
	}
	t.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (t *tap) Write(b []byte) (int, error) {
	if t.status == 0 {
		t.WriteHeader(http.StatusOK)
	}
	now := t.now()
	if len(t.rest)+len(b) <= maxBody {
		t.rest = append(t.rest, b...)
	}
	for t.stream {
		line, rest, whole := bytes.Cut(t.rest, []byte("\n"))
		if !whole {
			break
		}
		t.take(bytes.TrimSpace(line), now)
		t.rest = rest
	}
	n, err := t.ResponseWriter.Write(b)
	t.broken = t.broken || err != nil
	return n, err
}

// Flush implements http.Flusher, which many handlers look for.
func (t *tap) Flush() {
	if t.status == 0 {
		t.WriteHeader(http.StatusOK)
	}
	if err := http.NewResponseController(t.ResponseWriter).Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		t.broken = true
	}
}

// Unwrap gives http.ResponseController what is behind.
func (t *tap) Unwrap() http.ResponseWriter { return t.ResponseWriter }

// take takes a line of a stream of events.
func (t *tap) take(line []byte, now time.Time) {
	if string(line) == "event: error" {
		t.failed = "stream_error"
	}
	data, ok := bytes.CutPrefix(line, []byte("data:"))
	if !ok {
		return
	}
	if string(bytes.TrimSpace(data)) == "[DONE]" {
		t.ended = true
		return
	}
	if t.event.IsZero() {
		t.event = now
	}
	t.payload(data, now)
}

// payload takes a chunk, or the body of an answer that is not streamed.
func (t *tap) payload(data []byte, now time.Time) {
	var body struct {
		ID      string `json:"id"`
		Model   string `json:"model"`
		Usage   *usage `json:"usage"`
		Error   any    `json:"error"`
		Choices []struct {
			Index  int    `json:"index"`
			Text   given  `json:"text"`
			Reason string `json:"finish_reason"`
			Delta  struct {
				Content   given `json:"content"`
				Reasoning given `json:"reasoning"`
				Thinking  given `json:"reasoning_content"`
				Refusal   given `json:"refusal"`
				Tools     given `json:"tool_calls"`
			} `json:"delta"`
		} `json:"choices"`
	}
	// A field of another type than it should have says nothing; the others do.
	if err := json.Unmarshal(data, &body); err != nil && !errors.As(err, new(*json.UnmarshalTypeError)) {
		return
	}
	if t.id == "" {
		t.id = body.ID
	}
	if body.Model != "" {
		t.model = body.Model
	}
	if body.Usage != nil {
		t.usage = *body.Usage
	}
	if body.Error != nil {
		t.failed = "stream_error"
	}
	for _, c := range body.Choices {
		kind := ""
		switch {
		case bool(c.Delta.Thinking || c.Delta.Reasoning):
			kind = "reasoning"
		case bool(c.Delta.Content || c.Text):
			kind = "content"
		case bool(c.Delta.Tools):
			kind = "tool"
		case bool(c.Delta.Refusal):
			kind = "refusal"
		}
		t.choice(c.Index).add(kind, c.Reason, now)
	}
}

// given tells of a value, a text or a list of parts, whether there is anything in it.
type given bool

// UnmarshalJSON implements json.Unmarshaler.
func (g *given) UnmarshalJSON(b []byte) error {
	switch string(b) {
	case "null", "false", `""`, "[]", "{}":
	default:
		*g = true
	}
	return nil
}

// choice returns the sequence of an index.
func (t *tap) choice(index int) *choice {
	for _, c := range t.choices {
		if c.index == index {
			return c
		}
	}
	t.choices = append(t.choices, &choice{index: index})
	return t.choices[len(t.choices)-1]
}

func (c *choice) add(kind, reason string, now time.Time) {
	if reason != "" {
		c.reason = reason
	}
	if kind == "" {
		return
	}
	if len(c.times) == 0 {
		c.kind = kind
	}
	c.times = append(c.times, now)
	if kind != "reasoning" && c.answer.IsZero() {
		c.answer = now
	}
}

// record is a line of the log; see docs/tokenlog.md.
type record struct {
	ID        string   `json:"request_id,omitempty"`
	Choice    *int     `json:"choice,omitempty"`
	Choices   int      `json:"n_choices,omitempty"`
	Model     string   `json:"model,omitempty"`
	Stream    bool     `json:"stream"`
	Arrival   stamp    `json:"arrival"`
	Event     *stamp   `json:"first_event,omitempty"`
	Answer    *stamp   `json:"first_answer_token,omitempty"`
	Kind      string   `json:"token_kind,omitempty"`
	Times     *[]stamp `json:"token_timestamps,omitempty"`
	Finished  stamp    `json:"finished"`
	Prompt    *int64   `json:"prompt_tokens,omitempty"`
	Cached    *int64   `json:"cached_tokens,omitempty"`
	Output    *int64   `json:"output_tokens,omitempty"`
	Reasoning *int64   `json:"reasoning_tokens,omitempty"`
	Reason    string   `json:"finish_reason,omitempty"`
	Error     string   `json:"error,omitempty"`
	Status    string   `json:"status,omitempty"`
}

// stamp is a time that is written as seconds since 1970, to the nanosecond.
type stamp struct{ time.Time }

// MarshalJSON implements json.Marshaler.
func (s stamp) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, "%d.%09d", s.Unix(), s.Nanosecond()), nil
}

// line returns what there is to say of the request, once it has ended: a line for
// each choice.
func (t *tap) line(panicked any, gone bool) []byte {
	now := t.now()
	if !t.stream {
		t.payload(t.rest, now)
	}
	seen := len(t.choices) > 0 // else it is no answer of which the tokens can be told
	if !seen {
		t.choices = append(t.choices, &choice{})
	}
	var out []byte
	for _, c := range t.choices {
		r := record{ID: t.id, Model: t.model, Stream: t.stream, Arrival: stamp{t.arrival}, Finished: stamp{now}, Prompt: t.usage.Prompt,
			Cached: t.usage.Details.Cached, Output: t.usage.Completion, Reasoning: t.usage.More.Reasoning, Reason: c.reason}
		if len(t.choices) > 1 { // usage counts the tokens of all
			r.Choice, r.Choices, r.Output, r.Reasoning = &c.index, len(t.choices), nil, nil
		}
		if t.stream {
			times := make([]stamp, 0, len(c.times))
			for _, at := range c.times {
				times = append(times, stamp{at})
			}
			if r.Kind = c.kind; seen {
				r.Times = &times
			}
			if !t.event.IsZero() {
				r.Event = &stamp{t.event}
			}
			if !c.answer.IsZero() {
				r.Answer = &stamp{c.answer}
			}
		}
		switch ended := t.ended || c.reason != "" || !t.stream && t.usage.Completion != nil; {
		case panicked == http.ErrAbortHandler, (gone || t.broken) && !ended:
			r.Status = "aborted"
		case panicked != nil:
			r.Error = "panic"
		case t.status >= 400:
			r.Error = fmt.Sprintf("http_%d", t.status)
		default:
			r.Error = t.failed
		}
		if text, err := json.Marshal(r); err == nil {
			out = append(append(out, text...), '\n')
		}
	}
	return out
}
