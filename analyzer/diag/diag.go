// Package diag records everything that was skipped, repaired or assumed while a
// file was read. A bad record is data: diag counts it, nothing drops it
// silently, and no library prints it.
package diag

import (
	"cmp"
	"fmt"
	"slices"
)

// Severity says what a diagnostic means for the numbers.
type Severity uint8

// The severities, in rising order.
const (
	Info     Severity = iota // an assumption that was made
	Notice                   // worth a look; the numbers stand
	DataLoss                 // input was skipped; the numbers miss it
	Error                    // the input could not be used
)

var severityNames = [...]string{"info", "notice", "dataloss", "error"}

// String returns the severity's name as used in reports.
func (s Severity) String() string { return severityNames[s] }

// MarshalText implements encoding.TextMarshaler with the severity's name.
func (s Severity) MarshalText() ([]byte, error) { return []byte(severityNames[s]), nil }

// UnmarshalText implements encoding.TextUnmarshaler: it takes what MarshalText gives.
func (s *Severity) UnmarshalText(text []byte) error {
	i := slices.Index(severityNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("there is no severity %q", text)
	}
	*s = Severity(i)
	return nil
}

// Diag is one kind of problem in one file. Msg must not quote payload (prompts,
// outputs).
type Diag struct {
	Code     string   `json:"code"`          // kind of problem
	Severity Severity `json:"severity"`      // meaning for the numbers
	File     string   `json:"file"`          // name of the source
	Offset   int64    `json:"offset"`        // byte offset of the first occurrence in the decompressed text; -1: the whole file
	Line     int64    `json:"line"`          // line number of the first occurrence, from 1; 0: not counted
	Count    int64    `json:"count"`         // occurrences
	Msg      string   `json:"msg"`           // for people
	Fix      string   `json:"fix,omitempty"` // what the user can do; may be empty
}

type key struct{ code, file string }

// Log collects diagnostics: one entry per code and file, with the first
// occurrence by offset. The content does not depend on the order of Add and
// Merge. The zero value is ready. A Log is not safe for concurrent use.
type Log struct{ entries map[key]Diag }

// Add records d. A Count of 0 means 1.
func (l *Log) Add(d Diag) {
	if d.Count == 0 {
		d.Count = 1
	}
	if l.entries == nil {
		l.entries = make(map[key]Diag)
	}
	k := key{d.Code, d.File}
	// Keep the earlier occurrence, with the sum of the counts.
	old, ok := l.entries[k]
	if ok {
		n := old.Count + d.Count
		if old.Offset < d.Offset || old.Offset == d.Offset && old.Msg <= d.Msg {
			d = old
		}
		d.Count = n
	}
	l.entries[k] = d
}

// Merge adds every entry of other.
func (l *Log) Merge(other *Log) {
	if other == nil {
		return
	}
	for _, d := range other.entries {
		l.Add(d)
	}
}

// All returns the entries: severest first, then by code and file.
func (l *Log) All() []Diag {
	all := make([]Diag, 0, len(l.entries))
	for _, d := range l.entries {
		all = append(all, d)
	}
	slices.SortFunc(all, func(a, b Diag) int {
		return cmp.Or(cmp.Compare(b.Severity, a.Severity), cmp.Compare(a.Code, b.Code), cmp.Compare(a.File, b.File))
	})
	return all
}
