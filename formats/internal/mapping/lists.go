package mapping

import (
	"bytes"

	"servescope/formats/internal/assemble"
	"servescope/formats/internal/numx"
)

// listOf appends the numbers of an array, times 10^scale, to dst. An element that is null
// is assemble.Unknown.
func listOf(dst []int64, raw []byte, scale int) (list []int64, ok bool) {
	if list = dst; len(raw) == 0 || raw[0] != '[' {
		return list, false
	}
	for b := raw[1:]; ; {
		var n int
		var stop numx.Stop
		list, n, stop = numx.List(list, b, scale, true)
		switch b = b[n:]; stop {
		case numx.End:
			return list, len(bytes.TrimSpace(b)) == 0
		case numx.Short:
			return list, false
		}
		k := bytes.IndexAny(b, ",]")
		if k < 0 || !isNull(b[:k]) {
			return list, false
		}
		list = append(list, assemble.Unknown)
		if b[k] == ']' {
			return list, true
		}
		b = b[k+1:]
	}
}

// floatsOf reads an array of numbers. An element that is null is -1.
func floatsOf(raw []byte) (list []float64, ok bool) {
	raw = bytes.TrimSpace(raw)
	if len(raw) < 2 || raw[0] != '[' || raw[len(raw)-1] != ']' {
		return nil, false
	}
	raw = bytes.TrimSpace(raw[1 : len(raw)-1])
	for more := len(raw) > 0; more; {
		var item []byte
		item, raw, more = bytes.Cut(raw, []byte(","))
		v, ok := float(item)
		if item = bytes.TrimSpace(item); !ok && (len(item) == 0 || !isNull(item)) {
			return nil, false
		} else if !ok {
			v = -1
		}
		list = append(list, v)
	}
	return list, true
}

// datesOf reads an array of dates, with or without quotes, and calls each for every
// element. known is false for an element that is null.
func datesOf(raw []byte, parse func([]byte) (date, bool), each func(d date, known bool)) bool {
	if len(raw) < 2 || raw[0] != '[' || raw[len(raw)-1] != ']' {
		return false
	}
	for rest := bytes.TrimSpace(raw[1 : len(raw)-1]); len(rest) > 0; {
		var item []byte
		if q := rest[0]; q == '"' || q == '\'' {
			k := bytes.IndexByte(rest[1:], q)
			if k < 0 {
				return false
			}
			item, rest = rest[1:1+k], bytes.TrimSpace(rest[2+k:])
			if len(rest) > 0 && rest[0] != ',' {
				return false
			}
			rest = rest[min(1, len(rest)):]
		} else {
			item, rest, _ = bytes.Cut(rest, []byte(","))
		}
		rest = bytes.TrimSpace(rest)
		d, known := parse(item)
		if !known && !isNull(item) {
			return false
		}
		each(d, known)
	}
	return true
}

func hasUnknown(list []int64) bool {
	for _, v := range list {
		if v == assemble.Unknown {
			return true
		}
	}
	return false
}
