package decompose

import (
	"cmp"
	"slices"

	"servescope/analyzer/collective"
	"servescope/analyzer/trace"
)

// Timeline holds the steps of one rank of an engine, all of whose lengths measure
// the same quantity. It includes the steps that a query removes, because the
// sequences of a step have waited during the steps before it.
type Timeline struct {
	Name    string // of the rank, for people
	Replica string // of its engine
	Refused string // reason code of the source for giving no TPOT, or ""
	Steps   []Step

	Resolution int64 // ns: coarsest step of the stamps of ends; at most 1 where exact

	Clock string // of the ends, as kernel.Axis names it; "mixed" where there are several

	Place   collective.Place
	World   int64               // ranks of the deployment, 0 where unknown
	Kernels []collective.Kernel // communication kernels of the rank, in any order; empty without communication or with a single rank

	source StepSource
	waits  []wait
	why    string // reason code for giving no TPOT, or ""
}

// wait holds the times that the sequences of a step had waited when the step gave
// them a token.
type wait struct {
	tokens    int64 // that were given and whose wait is known
	sequences int64 // that got them
	unknown   int64 // tokens to sequences whose previous token is not in the recording
	before    int64 // ns: steps that only prefill, since the step that gave the token before
	through   int64 // sequences that waited through these as well; the others were prefilled there last
	other     int64 // the same under the other assumption
	assumed   bool  // through is an assumption
}

// Sort orders the steps by their ends, then by their numbers.
func (t *Timeline) Sort() {
	order := func(a, b Step) int {
		return cmp.Or(cmp.Compare(a.End, b.End), cmp.Compare(a.Index, b.Index), cmp.Compare(a.Duration, b.Duration), cmp.Compare(a.Decoding, b.Decoding))
	}
	if !slices.IsSortedFunc(t.Steps, order) { // they are in most cases
		slices.SortStableFunc(t.Steps, order)
	}
}

// settle orders the steps and finds out what their sequences have waited for. It
// is called once, when all steps are there.
func (t *Timeline) settle() {
	t.Sort()
	t.source = sourceOf(t.Steps)
	t.why = t.reason()
	if t.source.Quantity != trace.Interval { // what lies between steps is not known
		return
	}
	t.waits = make([]wait, len(t.Steps))
	var since history
	for i := range t.Steps {
		k := &t.Steps[i]
		switch {
		case k.Kind == trace.StepDummy:
			since = history{given: true}
		case k.Kind == trace.StepPrefill || k.Kind != NoKind && k.Decoding == 0:
			since.prefill(k)
		default:
			t.waits[i] = since.wait(k)
			since = history{given: true, decoding: k.Decoding}
		}
	}
}

// history holds the steps since the last step that gave tokens.
type history struct {
	given    bool  // there is such a step; before it the engine may have had any sequences
	decoding int64 // sequences that it gave tokens to; 0 after a step without any, -1 where unknown
	prefills int64 // steps that only prefill since
	time     int64 // ns: their time
	context  int64 // sequences in them, -1 where one does not tell
}

func (h *history) prefill(k *Step) {
	h.prefills++
	h.time += max(k.Duration, 0)
	if k.Context < 0 || h.context < 0 {
		h.context = -1
	} else {
		h.context += k.Context
	}
}

// wait returns what the sequences of step k have waited for. Of those that the
// step before had as many as can go on do so, through all that was prefilled
// since; the rest is taken to have been prefilled by the last step that did. The
// other assumption is that every prompt that was worked on since came to its end.
func (h *history) wait(k *Step) wait {
	tokens := k.Emitted
	if tokens < 0 {
		tokens = k.Decoding
	}
	w := wait{tokens: tokens, sequences: k.Decoding}
	switch {
	case k.Decoding < 0: // the number of sequences is unknown
		return wait{}
	case k.Duration < 0 || !h.given || h.decoding == 0 && h.prefills == 0:
		return wait{unknown: tokens}
	case h.prefills == 0:
		return w
	}
	w.before, w.assumed = h.time, true
	w.through = k.Decoding
	if h.decoding >= 0 {
		w.through = min(h.decoding, k.Decoding)
	}
	w.other = w.through
	if h.context >= 0 && h.decoding != 0 {
		w.other = max(0, k.Decoding-h.context)
	}
	return w
}

// sourceOf returns the facts that the source of steps states. A class that no step
// states is a class that the source does not know.
func sourceOf(steps []Step) StepSource {
	s := StepSource{Scheduler: true}
	for i := range steps {
		k := &steps[i]
		s.Quantity = k.Quantity // of all
		if k.Duration < 0 || k.Parts == nil {
			continue
		}
		s.Classes = true
		s.Sampling = s.Sampling || k.Parts.Has(Sampling)
		s.Communication = s.Communication || k.Parts.Has(Communication)
		s.Scheduler = s.Scheduler && k.Parts.Has(Scheduling)
	}
	return s
}

// reason returns why the timeline gives no time per token, or "".
func (t *Timeline) reason() string {
	intervals, given := 0, false
	for i := range t.Steps {
		k := &t.Steps[i]
		if k.Duration >= 0 {
			intervals++
		}
		given = given || k.Decoding > 0
		switch {
		case k.Kind == NoKind:
			return "no_step_range"
		case k.Kind == trace.StepVerify && k.Emitted < 0:
			return "accepted_unknown"
		}
	}
	switch {
	case t.Refused != "":
		return t.Refused
	case intervals == 0:
		return "single_step"
	case !given:
		return "no_token"
	}
	return ""
}
