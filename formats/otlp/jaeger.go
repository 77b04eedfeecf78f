package otlp

import (
	"servescope/formats/internal/json"
	"servescope/formats/internal/numx"
)

// process is one that a trace of Jaeger names. Its description comes behind the
// spans.
type process struct {
	id       string
	resource *resource
	place    int32 // index in the part, or -1
}

// inTrace reads a member of a trace of Jaeger.
func (w *walker) inTrace() {
	switch key := string(w.c.Key(64)); {
	case key == "spans" && w.c.Kind() == json.Array:
		w.enter(inTraceSpans)
	case key == "processes" && w.c.Kind() == json.Object:
		w.enter(inProcesses)
	default:
		w.c.Skip()
	}
}

// inProcesses reads the description of one process.
func (w *walker) inProcesses() {
	id := string(w.c.Key(maxText))
	w.take(func(w *walker, b text) int {
		n := b.value(0)
		if n < 0 {
			return n
		}
		p := w.process(id)
		if p.resource = resourceOf(b[:n]); p.place >= 0 {
			w.s.out.places[p.place].resource = p.resource
		}
		return n
	})
}

// process returns the resource of a process of the trace.
func (w *walker) process(id string) *process {
	for i := range w.processes {
		if w.processes[i].id == id {
			return &w.processes[i]
		}
	}
	w.processes = append(w.processes, process{id: id, place: -1})
	return &w.processes[len(w.processes)-1]
}

func (w *walker) jaegerSpan(b text) int {
	w.s.process = piece{}
	n := w.span(b, (*scanner).jaeger)
	if n < 0 || w.s.span == nil {
		return n
	}
	if w.s.span.start > 0 {
		w.s.span.end += w.s.span.start // it was the duration
	}
	w.s.span.flags |= coarse
	p := w.process(string(w.s.out.raw(w.s.process)))
	if p.place < 0 {
		p.place = w.newPlace(place{resource: p.resource})
	}
	w.s.span.place = p.place
	return n
}

// jaeger reads a member of a span as Jaeger's page and API give it.
func (s *scanner) jaeger(key []byte, at int) int {
	switch string(key) {
	case "tags":
		return s.array(at, (*scanner).attribute)
	case "references":
		return s.array(at, (*scanner).reference)
	case "logs":
		return s.array(at, (*scanner).log)
	}
	end := s.value(at)
	if end < 0 {
		return end
	}
	sp := s.span
	switch string(key) {
	case "traceID":
		sp.trace = identity(s.plain(at, end))
	case "spanID":
		sp.id = identity(s.plain(at, end))
	case "parentSpanID":
		sp.parent = identity(s.plain(at, end))
	case "operationName":
		sp.name = s.keep(s.string(at, end))
	case "startTime":
		sp.start = s.time(s.plain(at, end), numx.Microsecond)
	case "duration":
		sp.end = s.time(s.plain(at, end), numx.Microsecond)
	case "processID":
		s.process = s.keep(s.string(at, end))
	}
	return end
}

// reference reads a link to another span; a child links to its parent.
func (s *scanner) reference(i int) int {
	child, id := false, uint64(0)
	next := s.object(i, func(s *scanner, key []byte, at int) int {
		end := s.value(at)
		if end > 0 {
			switch string(key) {
			case "refType":
				child = string(s.plain(at, end)) == "CHILD_OF"
			case "spanID":
				id = identity(s.plain(at, end))
			}
		}
		return end
	})
	if next > 0 && child && s.span.parent == 0 {
		s.span.parent = id
	}
	return next
}

// log takes the event that a log entry holds, in its field "event" with the
// others beside it.
func (s *scanner) log(i int) int {
	x, name := schedule{size: -1, mode: noMode}, ""
	next := s.object(i, func(s *scanner, key []byte, at int) int {
		switch string(key) {
		case "fields":
			return s.array(at, func(s *scanner, i int) int {
				key, at, end, next := s.pair(i)
				if next > 0 && end > 0 {
					if string(key) == "event" {
						name = string(s.plain(at, end))
					}
					x.set(key, s.plain(at, end))
				}
				return next
			})
		case "timestamp":
			end := s.value(at)
			if end > 0 {
				x.at = s.time(s.plain(at, end), numx.Microsecond)
			}
			return end
		}
		return s.value(at)
	})
	if next > 0 {
		s.happened(name, x)
	}
	return next
}
