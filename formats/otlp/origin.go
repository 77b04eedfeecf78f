package otlp

import (
	"bytes"

	"servescope/formats/internal/json"
)

// inDocument reads a member of a document: of OTLP, of what tools wrap it in
// (batches: Tempo, otel-cli; trace: Tempo's second version), or of Jaeger.
func (w *walker) inDocument() {
	key := string(w.c.Key(64))
	kind := w.c.Kind()
	switch {
	case kind == json.Array && (key == "resourceSpans" || key == "resource_spans" || key == "batches"):
		w.spans = true
		w.enter(inResources)
	case kind == json.Array && key == "data":
		w.spans = true
		w.enter(inTraces)
	case kind == json.Object && key == "trace":
		w.enter(inDocument)
	default:
		w.signal = w.signal || key == "resourceMetrics" || key == "resourceLogs" || key == "resourceProfiles"
		w.c.Skip()
	}
}

// inContainer reads a member of a resource and its spans.
func (w *walker) inContainer() {
	switch key := string(w.c.Key(64)); {
	case key == "resource":
		w.take((*walker).resourceAt)
	case w.c.Kind() == json.Array && (key == "scopeSpans" || key == "scope_spans" || key == "instrumentationLibrarySpans"):
		w.enter(inScopes)
	default:
		w.c.Skip()
	}
}

// inScope reads a member of a scope and its spans.
func (w *walker) inScope() {
	switch key := string(w.c.Key(64)); {
	case key == "scope" || key == "instrumentationLibrary":
		w.take((*walker).scopeAt)
	case key == "spans" && w.c.Kind() == json.Array:
		w.enter(inSpans)
	default:
		w.c.Skip()
	}
}

// take gives f the object that comes next: f returns the index behind it, or
// short if b ends before. Anything else than an object is skipped.
func (w *walker) take(f func(w *walker, b text) int) (object bool) {
	if w.c.Kind() != json.Object {
		w.c.Skip()
		return false
	}
	w.start = w.c.Offset()
	b := text(w.c.Window())
	n := f(w, b)
	if n == bad && b.end() == short { // what it is, its end tells
		n = short
	}
	if n == short {
		n = w.gather(f)
	} else if n > 0 {
		w.c.Advance(n)
	}
	if n < 0 {
		k := malformed
		if n == short {
			k = truncated
		}
		w.incident(k, w.start)
		w.abandon()
	}
	return true
}

// gather is take for an object that crosses the end of the window.
func (w *walker) gather(f func(w *walker, b text) int) int {
	var e ending
	w.buf = w.buf[:0]
	for !e.found {
		b := w.c.Window()
		if len(b) == 0 {
			return short
		}
		n := e.scan(b)
		if n < 0 {
			return bad
		}
		if len(w.buf) <= maxSpan {
			w.buf = append(w.buf, b[:n]...)
		}
		w.c.Advance(n)
	}
	if len(w.buf) > maxSpan {
		w.incident(tooLarge, w.start)
		return len(w.buf)
	}
	if n := f(w, text(w.buf)); n != len(w.buf) {
		return bad
	}
	return len(w.buf)
}

// resourceAt reads the resource that b begins with. Most are the same as the one
// before.
func (w *walker) resourceAt(b text) int {
	n := b.value(0)
	if n < 0 {
		return n
	}
	if w.raw == nil || !bytes.Equal(w.raw, b[:n]) {
		w.raw = append(w.raw[:0], b[:n]...)
		w.last = resourceOf(w.raw)
	}
	w.resource, w.known, w.place = w.last, true, -1
	if w.count >= maxPending {
		w.incident(lateOrigin, w.start)
		return n
	}
	for i := w.outer; i < len(w.s.out.places); i++ {
		w.s.out.places[i].resource = w.resource
	}
	return n
}

// resourceKeys are the keys of a resource that are read. Of several keys that name
// an instance the first in this list counts.
var resourceKeys = []string{"service.name", "telemetry.sdk.version", "service.instance.id", "k8s.pod.name", "host.name"}

// resourceOf reads a resource, or a process of Jaeger.
func resourceOf(raw []byte) *resource {
	var values [5]string // of resourceKeys
	s := scanner{text: text(raw)}
	pair := func(s *scanner, i int) int {
		key, at, end, next := s.pair(i)
		if next > 0 && end > 0 && s.text[at] != '{' && s.text[at] != '[' {
			for k := range resourceKeys {
				if resourceKeys[k] == string(key) {
					values[k] = string(json.Text(s.plain(at, min(end, at+maxText))))
				}
			}
		}
		return next
	}
	s.object(0, func(s *scanner, key []byte, at int) int {
		switch string(key) {
		case "attributes", "tags":
			return s.array(at, pair)
		case "serviceName":
			if end := s.value(at); end > 0 && s.text[at] == '"' {
				values[0] = string(json.Text(s.plain(at, end)))
			}
		}
		return s.value(at)
	})
	r := &resource{service: values[0], sdk: values[1]}
	for _, v := range values[2:] {
		if r.instance == "" {
			r.instance = v
		}
	}
	return r
}

// scopeAt reads the scope that b begins with.
func (w *walker) scopeAt(b text) int {
	name := ""
	s := scanner{text: b}
	n := s.object(0, func(s *scanner, key []byte, at int) int {
		end := s.value(at)
		if end > 0 && string(key) == "name" && s.text[at] == '"' {
			name = string(s.plain(at, end))
		}
		return end
	})
	if n < 0 {
		return n
	}
	if w.scope != name {
		w.scope, w.place = name, -1
	}
	w.scoped = true
	if w.count < maxPending {
		for i := w.inner; i < len(w.s.out.places); i++ {
			w.s.out.places[i].scope = name
		}
	}
	return n
}

// home returns the place of the spans that come next.
func (w *walker) home() int32 {
	if w.place < 0 {
		w.place = w.newPlace(place{w.resource, w.scope})
	}
	return w.place
}

func (w *walker) newPlace(p place) int32 {
	w.s.out.places = append(w.s.out.places, p)
	return int32(len(w.s.out.places) - 1)
}

// span reads the span that b begins with. w.s.span is nil where that is damaged.
func (w *walker) span(b text, f func(*scanner, []byte, int) int) int {
	p := w.s.out
	mark := len(p.text)
	p.spans = append(p.spans, span{offset: w.start})
	w.s.text, w.s.span = b, &p.spans[len(p.spans)-1]
	n := w.s.object(0, f)
	if n > 0 {
		w.count++
		return n
	}
	p.spans, p.text = p.spans[:len(p.spans)-1], p.text[:mark]
	w.s.span = nil
	if n == bad {
		if n = b.end(); n > 0 {
			w.incident(damagedSpan, w.start)
		}
	}
	return n
}

func (w *walker) otlpSpan(b text) int {
	n := w.span(b, (*scanner).otlp)
	if n > 0 && w.s.span != nil {
		w.s.span.place = w.home()
	}
	return n
}
