package formats

import (
	"errors"

	"servescope/formats/internal/frame"
)

// Within looks into the records of a log collector (CloudWatch, Loki, Fluentd, Cloud
// Logging) that hold the lines of a process as text. Where these are objects of a format
// that goes before the one of the records, which Detect has returned with err, or of this
// one itself, it returns the source of the lines and what they are. Records that hold no
// object are lines of it as they are.
func (s *Set) Within(src Source, h *Head, outer Detection, err error) (Source, Detection, bool) {
	if errors.As(err, new(*PartialError)) {
		return nil, Detection{}, false
	}
	f := frame.Envelope(h.Start)
	if f == nil {
		return nil, Detection{}, false
	}
	inner := &layer{base: src, limits: defaultLimits}
	inner.decode = unframer(f, maxInner, &inner.faults, frame.NewReader)
	head, err := ReadHead(inner)
	if err != nil {
		return nil, Detection{}, false
	}
	found, err := s.Detect(head)
	if err != nil || found.Score < outer.Score {
		return nil, Detection{}, false
	}
	if found.Score == outer.Score && (found.Format.Learn != nil || found.Format.Priority > outer.Format.Priority) {
		return nil, Detection{}, false // what is around a table is columns of it, too
	}
	found.Reason = "the text within its records: " + found.Reason
	return inner, found, true
}

const maxInner = 8 << 20 // bytes of the longest line within a record
