package sse

import (
	"bytes"

	"servescope/analyzer/trace"
)

// begin begins an answer, of the request that was sent first and fits.
func (r *reader) begin(id []byte) *stream {
	s := newStream(id, r.off)
	for i, q := range r.sent {
		if q.id == "" || q.id == string(id) {
			s.sent, s.known = q.at, true
			r.sent = append(r.sent[:i], r.sent[i+1:]...)
			break
		}
	}
	s.known = s.known || r.survey.clock == relative && r.fresh
	r.fresh = false
	if len(r.open) >= maxOpen {
		r.note(crowded)
		r.finish(r.open[0])
	}
	r.open = append(r.open, s)
	r.current = s
	return s
}

// find returns the answer that an event belongs to, and begins one if there is none.
func (r *reader) find(id []byte) *stream {
	if s := r.current; s != nil && (len(id) == 0 || s.id == "" || s.id == string(id)) {
		if s.id == "" {
			s.id = string(id[:min(len(id), trace.MaxText)])
		}
		return s
	}
	if len(id) > 0 {
		for _, s := range r.open {
			if s.id == string(id) {
				r.current = s
				return s
			}
		}
	}
	return r.begin(id)
}

// add adds the event that was read to its answer.
func (r *reader) add(at int64) (kind string, p *problem) {
	c := &r.chunk
	switch {
	case !c.known:
		return "", unknownPayload
	case string(c.kind) == "ping":
		return "", nil
	}
	id := r.label
	if len(id) == 0 {
		id = c.id
	}
	s := r.find(id)
	if s.events > 0 && at < s.last {
		r.note(backwards)
	}
	s.add(c, at)
	if c.done {
		r.finish(s)
	}
	return "event", nil
}

// close ends the answer at hand.
func (r *reader) close(at int64) {
	if s := r.answerAtHand(); s != nil {
		s.last = at
		r.finish(s)
	}
}

// answerAtHand returns the answer that a line without a payload belongs to, or nil.
func (r *reader) answerAtHand() *stream {
	if len(r.label) == 0 {
		return r.current
	}
	for _, s := range r.open {
		if s.id == string(r.label) {
			return s
		}
	}
	return nil
}

// writeUnanswered writes a request that got no answer.
func (r *reader) writeUnanswered(q send) {
	s := newStream([]byte(q.id), q.off)
	s.sent, s.known, s.silent = q.at, true, true
	r.finish(s)
}

// finish writes an answer and forgets it.
func (r *reader) finish(s *stream) {
	for i, o := range r.open {
		if o == s {
			r.open = append(r.open[:i], r.open[i+1:]...)
			break
		}
	}
	if r.current == s {
		r.current = nil
	}
	if r.survey.clock == relative && s.known && s.sent == 0 && s.events > 0 && s.first < 1e5 { // it is the beginning itself
		s.known = false
	}
	if !s.known {
		r.writer.Note(notSent, s.offset)
	}
	r.rows++
	ended := s.ended || s.failed
	for i := range s.sequences {
		ended = ended || len(s.sequences[i].reason) > 0
	}
	if !ended {
		r.writer.Note(noEnd, s.offset)
	}
	s.write(&r.writer, &r.row, r.run.Clock.Kind, r.step)
}

// takeUntimed takes the id, the model and the counts of tokens from the text of an answer
// whose parts have no times.
func (r *reader) takeUntimed(s *stream, text []byte) {
	for line := range bytes.Lines(text) {
		if w, body := field(line); w != payload || !r.chunk.read(body) {
			continue
		}
		c := &r.chunk
		c.parts = c.parts[:0]
		if s.id == "" {
			s.id = string(c.id[:min(len(c.id), trace.MaxText)])
		}
		events, first := s.events, s.first
		s.add(c, 0)
		s.events, s.first = events, first
	}
}
