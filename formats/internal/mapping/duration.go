package mapping

import (
	"bytes"

	"servescope/formats/internal/numx"
)

// isoDuration reads a duration of ISO 8601 from behind its P, as Polars, Java and
// JavaScript write it: PT0.288477S, P0DT0H1M2.5S.
func isoDuration(raw []byte) (ns int64, ok bool) {
	in := [...]struct {
		letter byte
		size   int64
		clock  bool
	}{{'D', 86400, false}, {'H', 3600, true}, {'M', 60, true}, {'S', 1, true}}
	clock := false
	for _, part := range in {
		if !clock && len(raw) > 0 && raw[0] == 'T' {
			raw, clock, ok = raw[1:], true, false // something follows a T
		}
		k := bytes.IndexByte(raw, part.letter)
		if k < 0 || part.clock != clock {
			continue
		}
		v, fits := number(raw[:k], numx.Second)
		if !fits || v < 0 || v > 1e18/part.size || ns > 1e18 {
			return 0, false
		}
		ns, raw, ok = ns+v*part.size, raw[k+1:], true
	}
	return ns, ok && len(raw) == 0
}

// clockDuration reads a duration as databases and data frames print it: 00:00:01.5,
// "0 days 00:00:01.5" (pandas), "0:00:01.5" (Python). One of an hour is none, as it
// could be a time of the day.
func clockDuration(raw []byte) (ns int64, ok bool) {
	for _, days := range [...]string{"0 days ", "+0 days ", "0 days, "} {
		if rest, cut := bytes.CutPrefix(raw, []byte(days)); cut {
			raw = rest
			break
		}
	}
	raw = bytes.TrimPrefix(raw, []byte("+"))
	hours, rest, _ := bytes.Cut(raw, []byte(":"))
	if string(hours) != "0" && string(hours) != "00" {
		return 0, false
	}
	m, ok1 := digitsAt(rest, 0, 2)
	_, ok2 := digitsAt(rest, 3, 2)
	if !ok1 || !ok2 || rest[2] != ':' || m > 59 {
		return 0, false
	}
	s, ok := number(rest[3:], numx.Second)
	return int64(m)*60e9 + s, ok && s >= 0 && s < 60e9
}
