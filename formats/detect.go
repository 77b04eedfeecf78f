package formats

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Set is a list of formats to choose from.
type Set struct{ formats []*Format }

// NewSet returns a set of the given formats, ordered by priority. Two formats
// of one name or one priority are a mistake in the program: NewSet panics.
func NewSet(list ...*Format) *Set {
	s := &Set{formats: slices.Clone(list)}
	slices.SortFunc(s.formats, func(a, b *Format) int { return cmp.Compare(a.Priority, b.Priority) })
	names := make(map[string]bool)
	for i, f := range s.formats {
		if i > 0 && s.formats[i-1].Priority == f.Priority {
			panic(fmt.Sprintf("formats: %s and %s have the same priority %d", s.formats[i-1].Name, f.Name, f.Priority))
		}
		if names[f.Name] {
			panic(fmt.Sprintf("formats: two formats are named %s", f.Name))
		}
		names[f.Name] = true
	}
	return s
}

// All returns the formats in the order of their priority.
func (s *Set) All() []*Format { return slices.Clone(s.formats) }

// Lookup returns the format with the given name, as in --input-format.
func (s *Set) Lookup(name string) (*Format, error) {
	for _, f := range s.formats {
		if f.Name == name {
			return f, nil
		}
	}
	return nil, fmt.Errorf("unknown format %q: choose one of %s", name, strings.Join(s.names(), ", "))
}

func (s *Set) names() []string {
	names := make([]string, len(s.formats))
	for i, f := range s.formats {
		names[i] = f.Name
	}
	slices.Sort(names)
	return names
}

// Detection is the outcome of a successful detection.
type Detection struct {
	Format *Format
	Score  Score
	Reason string
}

// Attempt is what one format said about a head.
type Attempt struct {
	Format *Format
	Reason string
}

// Detect asks the formats about h. The highest score wins, then the lowest
// priority. If none knows the head the error is a *DetectError.
func (s *Set) Detect(h *Head) (Detection, error) {
	var best Detection
	var tried []Attempt
	for _, f := range s.formats {
		score, reason := f.Sniff(h)
		if score == Sure {
			return Detection{f, score, reason}, nil // the formats behind f cannot beat it
		}
		tried = append(tried, Attempt{f, reason})
		if score > best.Score {
			best = Detection{f, score, reason}
		}
	}
	if best.Format == nil {
		return Detection{}, &DetectError{Name: h.Name, Plain: plainReason(h), Tried: tried}
	}
	return best, nil
}

// Learner returns the format that reads a source whose columns mean what the
// caller says: the best of those that learn, or the last of them where none knows
// the head. It is nil where no format learns.
func (s *Set) Learner(h *Head) *Format {
	var best *Format
	top := No
	for _, f := range s.formats {
		if f.Learn == nil {
			continue
		}
		if score, _ := f.Sniff(h); best == nil || score > top || top == No {
			best, top = f, score
		}
	}
	return best
}

// DetectError says why no format recognised a source.
type DetectError struct {
	Name  string
	Plain string    // a reason that needs no list of formats: "the file is empty"; or ""
	Tried []Attempt // every format, by priority
}

// Error prints the plain reason, or each format's reason, one per line.
func (e *DetectError) Error() string {
	if e.Plain != "" {
		return e.Name + ": " + e.Plain
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: no format recognises this file", e.Name)
	for _, a := range e.Tried {
		fmt.Fprintf(&b, "\n  %s: %s", a.Format.Name, a.Reason)
	}
	return b.String()
}

// Hint says how to force a format, or "" where that cannot help.
func (e *DetectError) Hint() string {
	if e.Plain != "" {
		return ""
	}
	for _, a := range e.Tried {
		if a.Format.Learn != nil && strings.Contains(a.Reason, "--map ") {
			return "if it is a table of requests, say what a column is as " + a.Format.Name + " suggests, or see inspect --suggest-mapping; to read it as one of these, give --input-format NAME"
		}
	}
	return "to read it as one of these, give --input-format NAME"
}
