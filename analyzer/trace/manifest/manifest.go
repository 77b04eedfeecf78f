// Package manifest describes what an exported table is an export of: the runs
// with all that their sources say of them, and what was lost on the way to the
// table. It stands as JSON in the metadata of Parquet and Arrow files, so that
// reading an export gives what reading the log gave.
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
// greatest that it reads.
const Version = 1

// MaxSize bounds a manifest that is read, in bytes.
const MaxSize = 64 << 20

// Manifest describes an export.
type Manifest struct {
	Version   int     `json:"version"`
	Origin    string  `json:"origin"`              // the same for exports of the same inputs
	Selection string  `json:"selection,omitempty"` // the query that chose the rows; empty: they are all there
	Inputs    []Input `json:"inputs"`              // what was read, in order
	Runs      []Run   `json:"runs"`                // in order of (input, key)
	Diags     []Diag  `json:"diags,omitempty"`     // what was skipped, repaired or assumed in the inputs
}

// Input is a source that was read, with its line accounting.
type Input struct {
	Name      string `json:"name"`
	Format    string `json:"format"`
	Bytes     int64  `json:"bytes"`
	Total     int64  `json:"total"`
	Parsed    int64  `json:"parsed"`
	Diagnosed int64  `json:"diagnosed"`
	Noise     int64  `json:"noise"`
}

// Run is a record of a source. A row belongs to the one that has its run, file
// and run_key as label, file and key. Meta is the description as trace has it,
// under the names of its Go fields: whatever is added there is exported too.
type Run struct {
	File string        `json:"file"`
	Meta trace.RunMeta `json:"meta"`
}

// Diag is a diagnostic with its severity by name.
type Diag struct {
	diag.Diag
	Severity string `json:"severity"`
}

// Of returns d as a manifest holds it.
func Of(d diag.Diag) Diag { return Diag{d, d.Severity.String()} }

// Restore returns the diagnostic. A severity of another name is a notice.
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
	if err != nil { // texts and finite numbers only
		panic("manifest: " + err.Error())
	}
	return string(out)
}

// Parse is the inverse of String, for text of any origin.
func Parse(text []byte) (*Manifest, error) {
	if len(text) > MaxSize {
		return nil, fmt.Errorf("the manifest has %d bytes", len(text))
	}
	m := new(Manifest)
	if err := json.Unmarshal(text, m); err != nil {
		return nil, fmt.Errorf("the manifest is no JSON as this program writes it: %w", err)
	}
	switch {
	case m.Version > Version:
		return nil, fmt.Errorf("the manifest has version %d, and this program reads up to %d", m.Version, Version)
	case m.Version < 1:
		return nil, errors.New("the manifest has no version")
	}
	for i := range m.Runs {
		r := &m.Runs[i].Meta
		if int(r.Side) < 0 || int(r.Side) >= len(trace.Requests.Fields[trace.SideCol].Values) || r.Clock.Kind > trace.RequestClock {
			return nil, fmt.Errorf("run %d of the manifest has no side or clock that there is", i)
		}
	}
	return m, nil
}
