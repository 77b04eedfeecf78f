package linelog

import (
	"bytes"

	"servescope/formats"
	"servescope/formats/internal/block"
)

// Sighting is what a table recognises in a head.
type Sighting struct {
	Lines   int64            // scanned
	Records map[string]int64 // complete records by kind; of heads only, so not text of a user
	Heads   map[string]int64 // heads of the table itself, by name
	Loose   int64            // complete records without a known head
}

// Sniff scans the head of a source.
func (t *Table) Sniff(head *formats.Head) Sighting {
	out := Sighting{Records: make(map[string]int64), Heads: make(map[string]int64)}
	w := worker{scanner: scanner{t: t, heads: out.Heads}}
	for i, text := range append([][]byte{head.Start}, head.Samples...) {
		if i > 0 { // a sample begins in the middle of a line
			text = text[bytes.IndexByte(text, '\n')+1:]
		}
		if k := bytes.LastIndexByte(text, '\n'); k >= 0 && !(i == 0 && head.Whole()) {
			text = text[:k+1]
		}
		w.scanner.block(&block.Block{Data: text}, &w.fragment)
		out.Lines += w.fragment.lines
		for _, e := range w.fragment.entries {
			switch {
			case e.strangers > 0 || e.strange || e.short || e.Kind.Use != Parse:
			case e.Record.headed:
				out.Records[e.Kind.Name]++
			default:
				out.Loose++
			}
		}
	}
	return out
}
