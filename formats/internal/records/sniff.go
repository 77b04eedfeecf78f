package records

import (
	"bytes"

	"servescope/formats"
)

// Keys are the members of a JSON object in the head of a file.
type Keys []formats.Key

// Count returns how many of the names are among the keys.
func (k Keys) Count(names ...string) (n int) {
	for _, name := range names {
		if _, ok := formats.Find(k, name); ok {
			n++
		}
	}
	return n
}

// Has reports whether all of the names are among the keys.
func (k Keys) Has(names ...string) bool { return k.Count(names...) == len(names) }

// Sniff asks judge about the objects that begin the head or a line of it until
// one is recognised. The reason given is that of the first object otherwise.
func Sniff(h *formats.Head, judge func(Keys) (formats.Score, string)) (formats.Score, string) {
	keys := h.Keys()
	if len(keys) == 0 && !bytes.Contains(h.Start, []byte("\n{")) {
		return formats.No, "it does not begin with a JSON object, nor does any line"
	}
	score, reason := judge(keys)
	if score != formats.No {
		return score, reason
	}
	for _, keys := range h.Objects() {
		if s, why := judge(keys); s != formats.No {
			return s, why
		}
	}
	return score, reason
}
