package sse

import (
	"slices"

	"servescope/analyzer/trace"
	"servescope/formats/internal/assemble"
)

// maxChunks is the largest number of chunks of an answer whose times are kept. maxOpen is
// the largest number of answers that are open at a time.
const (
	maxChunks = 1 << 20
	maxOpen   = 1 << 12
)

// sequence is the tokens of one choice of an answer.
type sequence struct {
	choice int64
	at     []int64
	kind   int   // of the first token
	answer int64 // time of the first token that is not reasoning
	has    bool
	reason []byte
}

// stream is one answer.
type stream struct {
	id     string
	offset int64
	sent   int64
	known  bool // sent is known
	first  int64
	last   int64 // time of the last event, or the end
	events int

	sequences []sequence
	counts    []int64 // tokens of each chunk, while each states them
	counted   int64   // sum of counts
	uncounted bool    // a chunk did not state its tokens
	texts     int64

	prompt, output, cached, thought int64
	model, class                    []byte
	failed, ended                   bool
	silent                          bool // the times of arrival are unknown
	whole                           bool // the answer came in one piece
}

func newStream(id []byte, offset int64) *stream {
	return &stream{id: string(id[:min(len(id), trace.MaxText)]), offset: offset, prompt: -1, output: -1, cached: -1, thought: -1, texts: -1}
}

// add adds an event.
func (s *stream) add(c *chunk, at int64) {
	if s.events++; s.events == 1 {
		s.first = at
	}
	s.last = at
	if c.texts >= 0 { // of /generate
		if c.output > max(s.output, 0) || c.output < 0 && c.texts != s.texts {
			c.parts = append(c.parts, part{0, content})
		}
		s.texts = c.texts
	}
	s.count(c)
	for _, p := range c.parts {
		s.token(p, at)
	}
	for _, v := range [...]struct {
		to   *int64
		from int64
	}{{&s.prompt, c.prompt}, {&s.output, c.output}, {&s.cached, c.cached}, {&s.thought, c.thought}} {
		if v.from >= 0 {
			*v.to = v.from
		}
	}
	if c.prompt >= 0 {
		s.prompt += c.more
	}
	if len(c.model) > 0 && s.model == nil {
		s.model = slices.Clone(c.model[:min(len(c.model), trace.MaxText)])
	}
	if len(c.reason) > 0 {
		s.sequenceOf(c.index).reason = slices.Clone(c.reason[:min(len(c.reason), 200)])
	}
	if c.failed {
		if s.failed = true; s.class == nil {
			s.class = classOf(c.class)
		}
	}
	s.ended = s.ended || c.done
}

// count adds the number of tokens of a chunk, if every chunk so far has stated its own.
func (s *stream) count(c *chunk) {
	if len(c.parts) == 0 {
		return
	}
	if c.output <= s.counted || len(s.counts) > maxChunks {
		s.uncounted = true
		return
	}
	s.counts = append(s.counts, c.output-s.counted)
	s.counted = c.output
}

// sequenceOf returns the sequence of a choice.
func (s *stream) sequenceOf(choice int64) *sequence {
	for i := range s.sequences {
		if s.sequences[i].choice == choice {
			return &s.sequences[i]
		}
	}
	if len(s.sequences) >= 1024 || choice < 0 {
		choice = -1
		if n := len(s.sequences); n > 0 && s.sequences[n-1].choice < 0 {
			return &s.sequences[n-1]
		}
	}
	s.sequences = append(s.sequences, sequence{choice: choice})
	return &s.sequences[len(s.sequences)-1]
}

// token adds the arrival of a part to its sequence.
func (s *stream) token(p part, at int64) {
	q := s.sequenceOf(p.choice)
	if len(q.at) == 0 {
		q.kind = p.kind
	}
	if len(q.at) < maxChunks {
		q.at = append(q.at, at)
	}
	if !q.has && p.kind != reasoning {
		q.has, q.answer = true, at
	}
}

// classOf returns the identifier at the beginning of an error. The rest may quote a
// user's text.
func classOf(b []byte) []byte {
	n := 0
	for n < len(b) && n < 48 && (b[n] == '_' || b[n] == '-' || b[n] == '.' || b[n]-'0' <= 9 || b[n]|0x20 >= 'a' && b[n]|0x20 <= 'z') {
		n++
	}
	if n == 0 {
		return []byte("stream_error")
	}
	return slices.Clone(b[:n])
}

// write writes the rows of an answer, one for each choice. step is the resolution of its
// stamps in ns.
func (s *stream) write(w *assemble.Writer, row *assemble.Row, kind trace.ClockKind, step int64) {
	if len(s.sequences) == 0 {
		s.sequences = append(s.sequences, sequence{})
	}
	zero := int64(0)
	if kind == trace.RequestClock {
		zero = s.sent // 0 if unknown
	}
	for i := range s.sequences {
		q := &s.sequences[i]
		row.Reset(s.offset)
		set := func(c trace.Col, v int64, known bool) {
			if known {
				row.SetInt(c, v)
			}
		}
		set(trace.Sent, s.sent-zero, s.known)
		set(trace.FirstEvent, s.first-zero, s.events > 0)
		set(trace.FirstAnswerToken, q.answer-zero, q.has)
		set(trace.TokenKind, int64(q.kind), len(q.at) > 0)
		set(trace.Finished, s.last-zero, s.ended || s.failed || len(q.reason) > 0)
		set(trace.Stream, 1, !s.whole)
		set(trace.Stream, 0, s.whole && !s.failed) // an error does not tell what was asked for
		set(trace.Resolution, step, step > 1)
		row.Tokens = row.Tokens[:0]
		for _, t := range q.at {
			row.Tokens = append(row.Tokens, t-zero)
		}
		row.HasTokens = !s.silent
		set(trace.PromptTokens, s.prompt, s.prompt >= 0)
		set(trace.CachedTokens, s.cached, s.cached >= 0)
		if n := len(s.sequences); n > 1 {
			set(trace.Choice, q.choice, q.choice >= 0)
			row.SetInt(trace.NChoices, int64(n))
		} else {
			set(trace.OutputTokens, s.output, s.output >= 0)
			set(trace.ReasoningTokens, s.thought, s.thought >= 0)
			if !s.uncounted && len(s.counts) == len(q.at) && len(q.at) > 0 {
				row.ChunkTokens, row.HasTokenCount = append(row.ChunkTokens[:0], s.counts...), true
			}
		}
		for c, v := range map[trace.Col][]byte{trace.RequestID: []byte(s.id), trace.Model: s.model, trace.FinishReason: q.reason, trace.ErrorClass: s.class} {
			if len(v) > 0 {
				row.SetText(c, v)
			}
		}
		if row.Error = s.failed; !s.failed && !s.ended && len(q.reason) == 0 {
			row.SetInt(trace.StatusCol, int64(trace.Open))
		}
		w.Add(row)
	}
}
