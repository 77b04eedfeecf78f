package otlp

import (
	"io"

	"servescope/formats/internal/json"
)

// level is a container that the walker is in.
type level uint8

const (
	inDocument  level = iota // object that holds resources, or Jaeger's traces
	inList                   // array of documents
	inResources              // array
	inContainer              // object: a resource and its scopes
	inScopes                 // array
	inScope                  // object: a scope and its spans
	inSpans                  // array
	inTraces                 // of Jaeger: array
	inTrace                  // object: spans and their processes
	inTraceSpans
	inProcesses // object
)

// walker goes through the documents of a source, or of a range of it, and takes
// the spans out.
type walker struct {
	c     *json.Cursor
	s     scanner
	buf   []byte // of a value that crosses the end of the cursor's window
	stack []level

	at     int64 // where the document begins
	spans  bool  // it has a member for spans
	signal bool  // it has one for metrics or logs

	// The origin of the spans that come next.
	resource  *resource
	scope     string
	place     int32     // its index in the part, or -1
	outer     int       // first place of the container in the part
	inner     int       // of the scope
	known     bool      // the resource has come, or there are no spans that wait for it
	scoped    bool      // so has the scope
	count     int       // spans of the container
	processes []process // of a trace of Jaeger

	start int64     // of the value that is being read
	raw   []byte    // the last resource
	last  *resource // what it says
}

// newWalker returns a walker over the documents whose lines start in [from, to).
// r begins at offset; see json.NewRecords.
func newWalker(r io.Reader, offset, from, to int64, block int) *walker {
	return &walker{c: json.NewRecords(r, offset, from, to, block), place: -1, known: true, scoped: true}
}

// A part is full with so many spans or bytes of text. Spans whose resource or
// scope has not come yet are held together, up to maxPending.
const (
	partSpans  = 2048
	partText   = 1 << 20
	maxPending = 1 << 16
)

// next fills a part and reports whether there is anything in it.
func (w *walker) next(p *part) bool {
	p.reset()
	w.s.out = p
	w.place, w.outer, w.inner = -1, 0, 0
	for i := range w.processes {
		w.processes[i].place = -1
	}
	for !w.full(p) {
		if len(w.stack) > 0 {
			w.step()
		} else if !w.document() {
			break
		}
	}
	return len(p.spans)+len(p.incidents) > 0
}

func (w *walker) full(p *part) bool {
	if len(p.spans) < partSpans && len(p.text) < partText && len(p.incidents) < partSpans {
		return false
	}
	return w.known && w.scoped || w.count >= maxPending
}

func (w *walker) incident(k what, at int64) {
	w.s.out.incidents = append(w.s.out.incidents, incident{k, at})
}

func (w *walker) top() level { return w.stack[len(w.stack)-1] }

// enter goes into the container that comes next, which holds what l says.
func (w *walker) enter(l level) bool {
	if !w.c.Open() {
		return false
	}
	w.stack = append(w.stack, l)
	return true
}

// document goes to the next document. It reports false at the end.
func (w *walker) document() bool {
	switch w.c.Kind() {
	case json.EOF:
		return w.c.Next()
	case json.Object:
		w.begin()
	case json.Array:
		w.enter(inList)
	case json.Broken:
		w.stray()
	default:
		at := w.c.Offset()
		if w.c.Skip() {
			w.incident(strayText, at)
		} else {
			w.stray()
		}
	}
	return true
}

// stray counts a line that holds no document.
func (w *walker) stray() {
	w.incident(strayText, w.c.Offset())
	w.c.SkipLine()
}

// begin enters a document.
func (w *walker) begin() {
	w.at, w.spans, w.signal = w.c.Offset(), false, false
	w.enter(inDocument)
}

// step goes on to the next member of the innermost container.
func (w *walker) step() {
	if !w.c.More() {
		w.leave()
		return
	}
	switch w.top() {
	case inDocument:
		w.inDocument()
	case inList:
		if w.c.Kind() == json.Object {
			w.begin()
		} else if at := w.c.Offset(); w.c.Skip() {
			w.incident(strayText, at)
		}
	case inResources:
		w.container()
		w.element(inContainer)
	case inTraces:
		w.container()
		w.element(inTrace)
	case inScopes:
		w.scope, w.scoped, w.place = "", false, -1
		w.inner = len(w.s.out.places)
		w.element(inScope)
	case inContainer:
		w.inContainer()
	case inScope:
		w.inScope()
	case inSpans:
		w.spanOf((*walker).otlpSpan)
	case inTrace:
		w.inTrace()
	case inTraceSpans:
		w.spanOf((*walker).jaegerSpan)
	case inProcesses:
		w.inProcesses()
	}
	if p, broken := w.c.Problem(); broken {
		w.breaks(p)
	}
}

// spanOf reads an element of a list of spans.
func (w *walker) spanOf(f func(w *walker, b text) int) {
	if at := w.c.Offset(); !w.take(f) {
		if _, broken := w.c.Problem(); !broken {
			w.incident(notASpan, at)
		}
	}
}

// container begins the spans of a resource, or the spans of a trace of Jaeger.
func (w *walker) container() {
	w.count, w.known = 0, false
	w.resource, w.scope, w.place = nil, "", -1
	w.outer, w.inner = len(w.s.out.places), len(w.s.out.places)
	w.processes = w.processes[:0]
}

// element enters an element that should be an object.
func (w *walker) element(l level) {
	if w.c.Kind() == json.Object {
		w.enter(l)
	} else {
		w.c.Skip()
	}
}

// leave is called at the end of the innermost container.
func (w *walker) leave() {
	if p, broken := w.c.Problem(); broken {
		w.breaks(p)
		return
	}
	l := w.top()
	w.stack = w.stack[:len(w.stack)-1]
	switch {
	case l == inScope:
		w.scoped = true
	case l == inContainer, l == inTrace:
		w.known = true
	case l != inDocument || w.spans:
	case w.signal:
		w.incident(otherSignal, w.at)
	default:
		w.incident(notSpans, w.at)
	}
}

// breaks gives up a document that cannot be read to its end. A bracket alone on its
// line, around documents that have lines of their own, is not a broken document.
func (w *walker) breaks(p json.Problem) {
	if !p.Truncated || len(w.stack) > 1 || w.top() != inList {
		k := malformed
		if p.Truncated {
			k = truncated
		}
		w.incident(k, p.Offset)
	}
	w.abandon()
}

// abandon goes to the next record.
func (w *walker) abandon() {
	w.stack = w.stack[:0]
	w.known, w.scoped = true, true
	w.c.Next()
}
