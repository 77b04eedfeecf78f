package sglangexport

import "bytes"

// longest is the length of the strings of the parameters that are read. A longer
// one is a prompt, which nothing is read of: decoding it would be most of the work.
const longest = 1 << 10

// elide appends raw, a string that is JSON itself, to dst, with what stands in its
// own long strings left out. raw is as it is written, without its quotes, so that a
// quote of what it holds has an odd number of backslashes before it: one of the
// quote itself, and two for each that precedes it there.
func elide(dst, raw []byte) []byte {
	if len(raw) <= longest || respelled(raw) {
		return append(dst, raw...)
	}
	from, inside := 0, false // of what is not copied yet; whether that begins in a string
	for i := 0; ; i++ {
		n := bytes.IndexByte(raw[i:], '"')
		if n < 0 {
			return append(dst, raw[from:]...)
		}
		i += n
		run := i
		for run > from && raw[run-1] == '\\' {
			run--
		}
		if (i-run)/2%2 == 1 { // escaped there, too
			continue
		}
		if text := raw[from:max(from, i-1)]; !inside || len(text) <= longest {
			dst = append(dst, text...)
		}
		dst = append(dst, raw[max(from, i-1):i+1]...)
		from, inside = i+1, !inside
	}
}

// respelled tells whether quotes or backslashes of what raw holds are written by
// their numbers, which nobody does.
func respelled(raw []byte) bool {
	for {
		i := bytes.Index(raw, []byte(`\u00`))
		if i < 0 || len(raw) < i+6 {
			return false
		}
		if a, b := raw[i+4], raw[i+5]; a == '2' && b == '2' || a == '5' && b|0x20 == 'c' {
			return true
		}
		raw = raw[i+6:]
	}
}
