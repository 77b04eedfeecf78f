package mapping

import (
	"servescope/formats"
	"servescope/formats/internal/json"
)

// Latencies tells what members of a JSON object, at any depth, are by their names and
// values: whether some is a stamp of when a request begins, whether some tells when
// something has come of it or how long it took, and whether that is its first token or
// the times between tokens. Members that are the caller's own do
// not count. The object may be cut off.
func Latencies(object []byte, own func(name string) bool) (begins, lasts, first bool) {
	json.Walk(object, 0, func(path, raw []byte, kind formats.Kind) {
		name := string(path)
		if first || own(name) {
			return
		}
		p := profile{}
		p.joined, p.levels, p.named = words(name)
		if p.add(0, cell{raw: raw, kind: kind, set: kind != formats.Null}); p.n == 0 {
			return
		}
		for r := noRole + 1; r < roles; r++ {
			if timed(r) && match(r, p.joined, p.levels) >= 0 && p.fits(about[r].class) {
				begins = begins || r == arrival || r == sent
				lasts = lasts || r != arrival && r != sent
				first = first || r == firstToken || r == ttft || r == tpot || r == gaps || r == times
			}
		}
	})
	return begins, lasts, first
}
