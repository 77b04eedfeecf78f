package assemble

import (
	"cmp"
	"slices"

	"servescope/analyzer/dataset"
	"servescope/analyzer/diag"
	"servescope/formats"
	"servescope/formats/source"
)

// linePlace is a byte offset of an input.
type linePlace struct {
	file   string
	offset int64
}

// maxLocated bounds the bytes that are scanned to find the lines of diagnostics.
const maxLocated = 256 << 20

// Lines finds the line numbers of diagnostics, each once. One goroutine uses it.
type Lines struct {
	set   *dataset.Set
	known map[linePlace]int64
}

// NewLines returns a Lines for the inputs of set.
func NewLines(set *dataset.Set) *Lines { return &Lines{set, make(map[linePlace]int64)} }

// Locate returns the diagnostics of log with line numbers, as far as finding these is
// cheap: counting lines to an offset reads everything before it.
func (l *Lines) Locate(log *diag.Log) []diag.Diag {
	all := log.All()
	sources := make(map[string]formats.Source)
	for _, f := range l.set.Inputs {
		if f.Format == nil || f.Format.Shape != formats.Blocks { // which have no lines
			sources[f.Source.Name()] = f.Source
		}
	}
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(all[a].Offset, all[b].Offset) })
	budget := int64(maxLocated)
	for _, i := range order {
		d := &all[i]
		src, at := sources[d.File], linePlace{d.File, d.Offset}
		if src == nil || d.Line != 0 || d.Offset < 0 {
			continue
		}
		line, ok := l.known[at]
		if !ok && d.Offset <= budget {
			budget -= d.Offset
			line, _ = source.LineAt(src, d.Offset) // 0 where it cannot be read any more
			l.known[at] = line
		}
		d.Line = line
	}
	return all
}
