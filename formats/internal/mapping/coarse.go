package mapping

import (
	"bytes"
	"strconv"
)

// tooCoarse says why times since 1970 are not used that a 32-bit float holds (in s, in
// steps of 128) or a spreadsheet has rounded (1.76732E+09).
const tooCoarse = "times since 1970 are rounded to more than a second: 32-bit floats and spreadsheets do that"

// coarse tells whether the numbers are times since 1970 without their last digits.
func (p *profile) coarse() bool {
	return (p.typed != nil && p.typed.Narrow || p.half(p.rounded)) && p.epoch() != noUnit
}

// rounded tells whether a number is written with an exponent and fewer digits than it
// has in front of its point.
func rounded(raw []byte) bool {
	k := bytes.IndexAny(raw, "eE")
	if k < 0 {
		return false
	}
	exponent, err := strconv.Atoi(string(raw[k+1:]))
	_, fraction, _ := bytes.Cut(raw[:k], []byte("."))
	return err == nil && exponent > len(fraction)
}
