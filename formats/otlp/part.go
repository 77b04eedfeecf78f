package otlp

import "servescope/formats/internal/json"

// part holds the spans and incidents of a stretch of the source.
type part struct {
	spans     []span
	text      []byte // of the spans
	places    []place
	incidents []incident
	schedules []schedule // events of the spans
	chunks    []int64    // when chunks of responses came
}

func (p *part) reset() {
	clear(p.places)
	p.spans, p.text, p.places, p.incidents, p.schedules, p.chunks = p.spans[:0], p.text[:0], p.places[:0], p.incidents[:0], p.schedules[:0], p.chunks[:0]
}

// raw returns a text as it stands in the source.
func (p *part) raw(t piece) []byte { return p.text[t.from:t.to] }

// string returns a text of a span.
func (p *part) string(s *span, k slot) string { return string(json.Text(p.raw(s.text[k-textSlots]))) }

// place is where spans come from. resource is nil where the source does not say.
type place struct {
	resource *resource
	scope    string
}

// resource is the process that made spans, or several that call themselves the
// same.
type resource struct {
	service  string
	instance string // of the service: what tells replicas apart
	sdk      string // version of OpenTelemetry
}

// incident is something else than a span.
type incident struct {
	what   what
	offset int64
}

// what is the kind of an incident.
type what uint8

const (
	strayText   what = iota // text outside of the documents
	notSpans                // a document without spans
	otherSignal             // a document of metrics or logs
	malformed               // a document breaks off in the middle of the text
	truncated               // a document breaks off at the end
	tooLarge                // a span is larger than maxSpan
	damagedSpan             // a span that is no JSON, in a list that goes on
	notASpan                // an element among the spans that is no object
	lateOrigin              // a resource or scope that comes behind too many spans
)
