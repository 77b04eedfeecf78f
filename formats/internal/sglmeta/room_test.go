package sglmeta

import "testing"

// TestRoom: Python's hex(42) is 0x2a, hex(2**63 - 1) is 0x7fffffffffffffff.
func TestRoom(t *testing.T) {
	for text, want := range map[string]string{"0x2a": "42", "42": "42", "0x7fffffffffffffff": "9223372036854775807", "9223372036854775807": "9223372036854775807",
		"None": "", "": "", "0": "", "0x0": "", "x-7": "x-7", "0x": "0x"} {
		if got := Room(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
