package kernel

import (
	"servescope/analyzer/metric"
	"servescope/analyzer/report"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
)

// occupancy is what only rates ask of a row: when its sequence took a place in
// the running batch, and for how long it was not scheduled in it.
type occupancy struct {
	admitted, prefill  trace.Ints
	stall, preemptions trace.Ints
}

func occupancyOf(v *View) occupancy {
	return occupancy{v.Ints(trace.Admitted), v.Ints(trace.DPrefill), v.Ints(trace.DStall), v.Ints(trace.Preemptions)}
}

// admission returns when row i, whose first token came at first, was admitted, or
// none. Where that is not stamped its prefill, measured by the engine, lies before
// the first token.
func (o *occupancy) admission(i int, first int64) int64 {
	at := get(o.admitted, i)
	if d := get(o.prefill, i); at == none && d >= 0 && d <= day {
		at = first - d
	}
	if at > first { // stamps contradict each other
		return none
	}
	return at
}

// stalled returns the decode time of row i in which it was not scheduled, or
// none. What was never preempted never stalled.
func (o *occupancy) stalled(i int) int64 {
	if d := get(o.stall, i); d >= 0 {
		return d
	}
	if get(o.preemptions, i) == 0 {
		return 0
	}
	return none
}

// occupy adds the time that a sequence which decoded in [begin, end) spent in the
// running batch, and the part of it in which it stalled. A stall has a length and
// no place: a sequence with one that lies in several windows leaves them without.
func (s *ratesState) occupy(y *sequence, begin, end int64) {
	admitted, stall := s.more.admission(y.i, begin), s.more.stalled(y.i)
	if admitted != none {
		s.during(y, admitted, end, func(window, d int64) { s.in(y, window, 0).running += d })
	}
	if admitted != none && stall == 0 {
		return
	}
	parts, inside := 0, 0
	s.during(y, begin, end, func(window, _ int64) {
		if parts++; window != elsewhere {
			inside++
		}
	})
	first := true
	s.during(y, begin, end, func(window, _ int64) {
		f, once := s.in(y, window, 0), first && window != elsewhere
		if once {
			first = false
		}
		if admitted == none {
			count(&f.unadmitted, &f.unadmittedIn, once)
		}
		switch {
		case stall == none:
			count(&f.unstalled, &f.unstalledIn, once)
		case stall == 0:
		case inside < parts: // some of it may be outside of the query's interval
			count(&f.severed, &f.adrift, once)
		default:
			if once {
				f.stalled += stall
			}
			if parts > 1 {
				f.adrift++
			}
		}
	})
}

// count counts what is there once, and in every window.
func count(total, everywhere *int64, once bool) {
	*everywhere++
	if once {
		*total++
	}
}

// occupancy writes the batches that hold more or less than decoding sequences.
func (p *putter) occupancy(why metric.Reason, note string) {
	f, w := p.f, p.w
	batch := func(name string, d int64, why metric.Reason, notes ...string) {
		v := report.Null(why.String())
		if why == metric.None {
			v = report.Known(float64(d)/float64(w.dt), unit.None)
			v.Note = joined(append([]string{w.note}, notes...)...)
		}
		setValue(p.c, name, v)
	}
	if w.why != metric.None {
		why = w.why
	}
	active, running := why, why
	if why == metric.None {
		switch {
		case p.lack.unstalled > 0:
			active = metric.NotRecorded
		case p.lack.adrift > 0:
			active = metric.Preempted
		}
		if p.all.running == 0 {
			running = metric.NotRecorded
		}
	}
	if w.why == metric.None && f.running > 0 {
		running = metric.None // sequences run before they decode
	}
	batch("batch_decode_active", f.span-f.stalled, active, note)
	batch("batch_running", f.running, running, note,
		counting(p.lack.unadmitted, "the admission of 1 sequence is not recorded, so it is left out", "the admissions of %d sequences are not recorded, so they are left out"))
}
