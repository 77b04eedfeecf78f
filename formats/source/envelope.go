package source

import (
	"io"

	"servescope/analyzer/diag"
	"servescope/formats"
	"servescope/formats/internal/frame"
)

// Within looks into the records of a log collector (CloudWatch, Loki, Fluentd, Cloud
// Logging) that hold the lines of a process as text. Where these are objects of a format
// that goes before the one of the records, which Detect has returned with err, or of this
// one itself, it returns the source of the lines and what they are. Records that hold no
// object are lines of it as they are. Where none knows the records, their lines may be
// texts of any format. Of an answer of Loki's HTTP API the lines may be of
// any format.
func Within(set *formats.Set, src formats.Source, h *formats.Head, outer formats.Detection, err error) (formats.Source, formats.Detection, bool) {
	if inner := Answered(src, h); inner != nil {
		found, ok := inside(set, inner)
		found.Reason = "the lines of an answer of Loki: " + found.Reason
		return inner, found, ok
	}
	f := frame.Envelope(h.Start)
	if f == nil && err != nil {
		f = frame.TextEnvelope(h.Start)
	}
	if f == nil {
		return nil, formats.Detection{}, false
	}
	inner := taken(src, f)
	found, ok := inside(set, inner)
	if !ok || found.Score < outer.Score {
		return nil, formats.Detection{}, false
	}
	if err == nil && found.Score == outer.Score && (found.Format.Learn != nil || found.Format.Priority > outer.Format.Priority) {
		return nil, formats.Detection{}, false // what is around a table is columns of it, too
	}
	found.Reason = "the text within its records: " + found.Reason
	return inner, found, true
}

// WithinAs looks into such records for lines of one format, which does not know the
// records themselves. It returns nil where they hold none.
func WithinAs(src formats.Source, h *formats.Head, f *formats.Format) formats.Source {
	if score, _ := f.Sniff(h); score > formats.No {
		return nil
	}
	list := []formats.Source{Answered(src, h)}
	for _, of := range []*frame.Framing{frame.Envelope(h.Start), frame.TextEnvelope(h.Start)} {
		if of != nil {
			list = append(list, taken(src, of))
		}
	}
	for _, inner := range list {
		if inner == nil {
			continue
		}
		head, err := formats.ReadHead(inner)
		if err != nil {
			continue
		}
		if score, _ := f.Sniff(head); score > formats.No {
			return inner
		}
	}
	return nil
}

// Answered returns the lines of an answer of Loki's HTTP API, or nil.
func Answered(src formats.Source, h *formats.Head) formats.Source {
	if !frame.Answers(h.Start) {
		return nil
	}
	return &layer{base: src, limits: defaultLimits, decode: answered}
}

// taken returns the lines of src without a framing.
func taken(src formats.Source, f *frame.Framing) formats.Source {
	inner := &layer{base: src, limits: defaultLimits}
	inner.decode = unframer(f, maxInner, &inner.faults, frame.NewReader)
	return inner
}

// inside tells what format the lines within records are of.
func inside(set *formats.Set, inner formats.Source) (formats.Detection, bool) {
	head, err := formats.ReadHead(inner)
	if err != nil {
		return formats.Detection{}, false
	}
	found, err := set.Detect(head)
	return found, err == nil
}

const (
	maxInner  = 8 << 20  // bytes of the longest line within a record
	maxAnswer = 64 << 20 // of an answer of Loki, which is in memory as a whole
)

// answered takes the lines out of an answer of Loki.
func answered(l *layer, raw *counter) (io.ReadCloser, error) {
	a, whole, err := frame.ReadAnswer(raw, maxAnswer)
	if err != nil {
		return nil, err
	}
	if !whole {
		l.fault("truncated_answer", diag.DataLoss, -1, "an answer of Loki ends too early, is not well formed or goes on beyond 64 MiB: the lines before were used", "ask for less at a time")
	}
	return io.NopCloser(a), nil
}
