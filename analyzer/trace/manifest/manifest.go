// Package manifest describes the content of an exported table: the runs with
// everything that their sources say about them, and what was lost on the way to
// the table. Exports carry the manifest as JSON in the metadata of Parquet and
// Arrow files, so that reading an export gives the same results as reading the
// log.
package manifest

import (
	"encoding/json"
	"errors"
	"fmt"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
)

// Keys of the metadata of an exported file.
const (
	Key      = "servescope.manifest" // the manifest as JSON
	TableKey = "servescope.table"    // name of the table
)

// Version is the version of the manifest that this program writes, and the
// highest version that it reads.
const Version = 1

// MaxSize is the largest manifest that Parse accepts, in bytes.
const MaxSize = 64 << 20

// Manifest describes an export.
type Manifest struct {
	Version   int     `json:"version"`
	Origin    string  `json:"origin"`              // equal for all exports of the same inputs
	Selection string  `json:"selection,omitempty"` // query that selected the rows; empty: all rows
	Inputs    []Input `json:"inputs"`              // what was read, in order
	Runs      []Run   `json:"runs"`                // ordered by input and key
	Diags     []Diag  `json:"diags,omitempty"`     // what was skipped, repaired or assumed in the inputs
}

// Input is one source that was read, with its line counts.
type Input struct {
	Name      string `json:"name"`
	Format    string `json:"format"`
	Bytes     int64  `json:"bytes"`
	Total     int64  `json:"total"`
	Parsed    int64  `json:"parsed"`
	Diagnosed int64  `json:"diagnosed"`
	Noise     int64  `json:"noise"`
}

// Run describes one run. A row of the export belongs to the run whose label,
// file and key equal the row's run, file and run_key. Meta is encoded under the
// names of its Go fields, so that new fields of trace.RunMeta are exported too.
type Run struct {
	File string        `json:"file"`
	Meta trace.RunMeta `json:"meta"`
}

// Diag is a diagnostic whose severity is written as a name.
type Diag struct {
	diag.Diag
	Severity string `json:"severity"`
}

// Of returns d in the form of a manifest.
func Of(d diag.Diag) Diag { return Diag{d, d.Severity.String()} }

// Restore returns the diagnostic. An unknown severity becomes a notice.
func (d Diag) Restore() diag.Diag {
	out := d.Diag
	out.Severity = diag.Notice
	for s := diag.Info; s <= diag.Error; s++ {
		if s.String() == d.Severity {
			out.Severity = s
		}
	}
	return out
}

// String returns the manifest as JSON.
func (m *Manifest) String() string {
	out, err := json.Marshal(m)
	if err != nil { // cannot happen: a manifest holds texts and finite numbers only
		panic("manifest: " + err.Error())
	}
	return string(out)
}

// Parse decodes a manifest. The text may come from anywhere, so Parse checks
// it.
func Parse(text []byte) (*Manifest, error) {
	if len(text) > MaxSize {
		return nil, fmt.Errorf("the manifest has %d bytes; the limit is %d", len(text), MaxSize)
	}
	m := new(Manifest)
	if err := json.Unmarshal(text, m); err != nil {
		return nil, fmt.Errorf("the manifest is not valid: %w", err)
	}
	switch {
	case m.Version > Version:
		return nil, fmt.Errorf("the manifest has version %d; this program reads versions up to %d", m.Version, Version)
	case m.Version < 1:
		return nil, errors.New("the manifest has no version")
	}
	for i := range m.Runs {
		r := &m.Runs[i].Meta
		if int(r.Side) < 0 || int(r.Side) >= len(trace.Requests.Fields[trace.SideCol].Values) || r.Clock.Kind > trace.RequestClock {
			return nil, fmt.Errorf("run %d of the manifest has an unknown side or clock", i)
		}
	}
	return m, nil
}
