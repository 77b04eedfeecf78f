package sglmeta

import (
	"strconv"
	"strings"
)

// Room returns the number of a bootstrap room as logs write it, in decimal, and ""
// for none. Spans spell it in hexadecimal, with 0x. Room 0 is that of requests
// without one, as those with which a server warms up.
func Room(text string) string {
	if text == "" {
		return ""
	}
	digits, hex := strings.CutPrefix(text, "0x")
	base := 10
	if hex {
		base = 16
	}
	switch n, err := strconv.ParseUint(digits, base, 64); {
	case err == nil && n == 0, text == "None":
		return ""
	case err == nil:
		return strconv.FormatUint(n, 10)
	}
	return text
}
