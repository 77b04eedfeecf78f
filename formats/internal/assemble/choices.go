package assemble

import (
	"slices"

	"servescope/analyzer/trace"
)

// A request of several choices is one open request per choice: events that state
// no choice, or 0, are those of the request itself, whose sequence is choice 0.
// The others have its id with another hash, and begin with their first event. They
// end with the request and have its stages and fields besides their own.

// sequence is what one of several choices has beside other requests.
type sequence struct {
	choices []*open      // of a request: its further choices, in order of their first events
	of      *open        // of a further choice: the request; else nil
	ended   int64        // of a request: choices that have ended by themselves
	own     bool         // the choice has ended by itself: what its end stated is its own
	status  trace.Status // if so
}

// choice adds an event that states its choice.
func (a *shard) choice(e *Events, ev *Event) {
	q := a.findChoice(e, ev)
	switch {
	case q == nil:
	case ev.Kind > Token:
		a.endChoice(q, e, ev)
	case ev.Kind == Token:
		a.token(q, ev)
		a.keep(q.detail, e, ev)
	case q.of == nil:
		a.stage(e, ev, q)
	default:
		d := q.detail
		if ev.Timed && (d.set>>ev.Kind&1 == 0 || ev.At < d.stages[ev.Kind]) {
			d.set |= 1 << ev.Kind
			d.stages[ev.Kind] = ev.At
		}
		a.keep(d, e, ev)
	}
}

// findChoice returns the choice of an event, which begins if need be, or nil for
// one that comes after its request's end.
func (a *shard) findChoice(e *Events, ev *Event) *open {
	id, own := e.Bytes(ev.ID), *ev
	of := a.find(ev.Hash, id)
	if ev.Choice > 1 {
		own.Hash = Mix(ev.Hash, uint64(ev.Choice))
		if q := a.find(own.Hash, id); q != nil && q.of == of {
			return q
		}
	}
	if of == nil {
		of = a.begin(e, ev, id)
	}
	if ev.Choice == 1 || of == nil {
		return of
	}
	q := a.begin(e, &own, id)
	q.of = of
	of.choices = append(of.choices, q)
	return q
}

// endChoice notes that one choice of a request has ended, and writes the request
// when all have: as many as it was asked for, or where that is not known as many
// as have begun.
func (a *shard) endChoice(q *open, e *Events, ev *Event) {
	d := q.detail
	of := q
	if d.of != nil {
		of = d.of
	}
	if !d.own {
		of.ended++
	}
	d.own, d.status = true, [...]trace.Status{trace.OK, trace.Failed, trace.Aborted}[ev.Kind-Finish]
	if ev.Timed {
		d.fields = append(d.fields, Field{Col: trace.Finished, Int: ev.At})
	}
	a.keep(d, e, ev)
	n := int64(len(of.choices)) + 1
	if i := slices.IndexFunc(of.fields, func(f Field) bool { return f.Col == trace.NChoices }); i >= 0 {
		n = max(n, of.fields[i].Int)
	}
	if of.ended >= n {
		a.end(of, trace.OK)
	}
}

// ownStatus is how the choice ended, if it has by itself; else as given.
func (s *sequence) ownStatus(status trace.Status) trace.Status {
	if s.own {
		return s.status
	}
	return status
}

// ofAll are the columns that, stated for a request of several choices, are about
// all of them together: nobody says how much is whose.
var ofAll = []trace.Col{trace.OutputTokens, trace.OutputTokensSource, trace.ClientTokens, trace.ReasoningTokens,
	trace.FirstChunkTokens, trace.FirstToken, trace.FirstAnswerToken, trace.LastToken}

// ofEnd are those that the end of choice 0 states of itself.
var ofEnd = []trace.Col{trace.Finished, trace.FinishReason, trace.ErrorClass}

// inherit sets what a choice has of its request.
func (f *finisher) inherit(d *detail, r *Row) {
	d.fill(r)
	unsetAll(r, ofAll)
	if d.own {
		unsetAll(r, ofEnd)
		r.Error = false
	}
	r.SetInt(trace.Choice, 0) // its own follows
}

func unsetAll(r *Row, list []trace.Col) {
	for _, c := range list {
		r.Unset(c)
	}
}
