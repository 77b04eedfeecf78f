package assemble

import (
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"

	"servescope/analyzer/dataset"
	"servescope/analyzer/query"
	"servescope/analyzer/selection"
	"servescope/analyzer/trace/manifest"
)

// derivedDiags are the codes of what a session finds in rows: it finds them in
// the rows of an export again.
var derivedDiags = []string{"cached_over_prompt", "duplicate_request"}

// Manifest describes what Rows and Table hand out under q (nil: all rows), for
// exports: complete once the inputs have been read, which is so when either of
// the two calls its function. What the producer of a run computed about all of
// it is left out when q selects a part.
func Manifest(set *dataset.Set, lines *Lines, q *query.Query) *manifest.Manifest {
	m := &manifest.Manifest{Version: manifest.Version, Inputs: []manifest.Input{}, Runs: []manifest.Run{}}
	if q != nil && selection.Selects(q) {
		m.Selection = selectionText(q)
	}
	origin := fnv.New64a()
	for _, f := range set.Inputs {
		if f.Format == nil {
			continue
		}
		in := manifest.Input{Name: f.Source.Name(), Format: f.Format.Name, Bytes: f.Size(),
			Total: f.Account.Total, Parsed: f.Account.Parsed, Diagnosed: f.Account.Diagnosed, Noise: f.Account.Noise}
		m.Inputs = append(m.Inputs, in)
		fmt.Fprintf(origin, "%+v\n", in)
		for _, key := range slices.Sorted(maps.Keys(f.Records)) {
			r := manifest.Run{File: f.Source.Name(), Meta: *f.Records[key].Seen}
			if m.Selection != "" {
				r.Meta.Reported, r.Meta.Doubts = nil, nil
				r.Meta.Duration, r.Meta.HasDuration = 0, false
			}
			m.Runs = append(m.Runs, r)
		}
		for _, d := range lines.Locate(f.Diags) {
			if !slices.Contains(derivedDiags, d.Code) {
				m.Diags = append(m.Diags, manifest.Of(d))
			}
		}
	}
	for _, d := range set.Diags.All() {
		if d.Code == "not_recognised" || d.Code == "unreadable" {
			m.Diags = append(m.Diags, manifest.Of(d))
		}
	}
	m.Origin = fmt.Sprintf("%016x", origin.Sum64())
	return m
}

// selectionText returns the part of q that selects rows, as flags of the command.
func selectionText(q *query.Query) string {
	e := Echo(q)
	var parts []string
	for _, p := range [][2]string{{"filter", e.Filter}, {"from", e.From}, {"to", e.To}, {"trim", e.Trim}} {
		if p[1] != "" {
			parts = append(parts, p[0]+" "+p[1])
		}
	}
	return strings.Join(parts, ", ")
}
