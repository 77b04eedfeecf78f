package mapping

import (
	"servescope/formats"
	"servescope/formats/internal/json"
)

// Latencies classifies the members of a JSON object, at any depth, by their names and
// values. It reports whether one is a stamp of the beginning of a request (begins),
// whether one is a latency or a later stamp (lasts), and whether such a one is of the
// first token or of the times between tokens (first). Members for which own returns true
// are left out. The object may be cut off.
func Latencies(object []byte, own func(name string) bool) (begins, lasts, first bool) {
	json.Walk(object, 0, func(path, raw []byte, kind formats.Kind) {
		name := string(path)
		if first || own(name) {
			return
		}
		p := profile{}
		p.joined, p.levels, p.nameUnit = splitName(name)
		if p.add(0, cell{raw: raw, kind: kind, set: kind != formats.Null}); p.n == 0 {
			return
		}
		for r := noRole + 1; r < roles; r++ {
			if timed(r) && matchName(r, p.joined, p.levels) >= 0 && p.fits(roleInfo[r].class) {
				begins = begins || r == arrival || r == sent
				lasts = lasts || r != arrival && r != sent
				first = first || r == firstToken || r == ttft || r == tpot || r == gaps || r == times
			}
		}
	})
	return begins, lasts, first
}
