// Package diag records everything that was skipped, repaired or assumed while
// a file was read. A bad record is data: it is counted, never dropped silently,
// and never printed from a library.
package diag

import (
	"cmp"
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

// Diag is one kind of problem in one file. Offset is the byte offset of its
// first occurrence in the decompressed text (-1: the whole file); Line is
// 1-based and 0 until a caller resolves it; Count is how often it occurred.
// Msg must not quote payload (prompts, outputs); Fix says what to do, or is "".
type Diag struct {
	Code     string   `json:"code"`          // names the kind of problem
	Severity Severity `json:"severity"`      // what it means for the numbers
	File     string   `json:"file"`          // name of the source
	Offset   int64    `json:"offset"`        // first occurrence in the decompressed text; -1: the whole file
	Line     int64    `json:"line"`          // the same as a line number from 1; 0: not counted
	Count    int64    `json:"count"`         // occurrences
	Msg      string   `json:"msg"`           // for people, without payload
	Fix      string   `json:"fix,omitempty"` // what to do
}

type key struct{ code, file string }

// Log collects diagnostics, one entry per code and file, and keeps the first
// occurrence by offset, so its content does not depend on the order of Add and
// Merge. The zero value is ready. A Log is not safe for concurrent use.
type Log struct{ entries map[key]Diag }

// Add records one occurrence; a Count of 0 is read as 1.
func (l *Log) Add(d Diag) {
	if d.Count == 0 {
		d.Count = 1
	}
	if l.entries == nil {
		l.entries = make(map[key]Diag)
	}
	k := key{d.Code, d.File}
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

// All returns the entries, the severest first, then by code and file.
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
