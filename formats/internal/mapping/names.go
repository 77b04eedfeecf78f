package mapping

import (
	"servescope/formats"
	"servescope/formats/internal/jsonrows"
)

// Latencies tells what members of a JSON object, at any depth, are by their names and
// values: whether some is a stamp or a latency of a request, and whether one tells of
// its first token or of the times between tokens. Members that are the caller's own do
// not count. The object may be cut off.
func Latencies(object []byte, own func(name string) bool) (some, first bool) {
	jsonrows.Walk(object, 0, func(path, raw []byte, kind formats.Kind) {
		name := string(path)
		if first || own(name) {
			return
		}
		p := profile{}
		p.joined, p.levels, p.named = words(name)
		if p.add(0, cell{raw, kind, kind != formats.Null}); p.n == 0 {
			return
		}
		for r := noRole + 1; r < roles; r++ {
			if timed(r) && match(r, p.joined, p.levels) >= 0 && p.fits(about[r].class) {
				some = true
				first = first || r == firstToken || r == ttft || r == tpot || r == gaps || r == times
			}
		}
	})
	return some, first
}
