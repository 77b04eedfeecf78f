package analyzer

import (
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"

	"servescope/analyzer/query"
	"servescope/analyzer/trace/manifest"
)

// derivedDiags are the codes of what a session finds in rows: it finds them in
// the rows of an export again.
var derivedDiags = []string{"cached_over_prompt", "duplicate_request"}

// Manifest describes what Rows and Table hand out under q (nil: all rows), for
// exports: complete once the inputs have been read, which is so when either of
// the two calls its function. What the producer of a run computed about all of
// it is left out when q selects a part.
func Manifest(set *Set, lines *Lines, q *query.Query) *manifest.Manifest {
	m := &manifest.Manifest{Version: manifest.Version, Inputs: []manifest.Input{}, Runs: []manifest.Run{}}
	if q != nil && selects(q) {
		m.Selection = selectionText(q)
	}
	origin := fnv.New64a()
	for _, f := range set.inputs {
		if f.format == nil {
			continue
		}
		in := manifest.Input{Name: f.source.Name(), Format: f.format.Name, Bytes: f.size(),
			Total: f.account.Total, Parsed: f.account.Parsed, Diagnosed: f.account.Diagnosed, Noise: f.account.Noise}
		m.Inputs = append(m.Inputs, in)
		fmt.Fprintf(origin, "%+v\n", in)
		for _, key := range slices.Sorted(maps.Keys(f.metas)) {
			r := manifest.Run{File: f.source.Name(), Meta: *f.metas[key].view}
			if m.Selection != "" {
				r.Meta.Reported, r.Meta.Doubts = nil, nil
				r.Meta.Duration, r.Meta.HasDuration = 0, false
			}
			m.Runs = append(m.Runs, r)
		}
		for _, d := range lines.Locate(f.diags) {
			if !slices.Contains(derivedDiags, d.Code) {
				m.Diags = append(m.Diags, manifest.Of(d))
			}
		}
	}
	for _, d := range set.diags.All() {
		if d.Code == "not_recognised" || d.Code == "unreadable" {
			m.Diags = append(m.Diags, manifest.Of(d))
		}
	}
	m.Origin = fmt.Sprintf("%016x", origin.Sum64())
	return m
}

// selectionText is what of q selects rows, in the words of the command.
func selectionText(q *query.Query) string {
	e := echo(q)
	var parts []string
	for _, p := range [][2]string{{"filter", e.Filter}, {"from", e.From}, {"to", e.To}, {"trim", e.Trim}} {
		if p[1] != "" {
			parts = append(parts, p[0]+" "+p[1])
		}
	}
	return strings.Join(parts, ", ")
}
