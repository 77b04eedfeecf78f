package analyzer

import (
	"errors"
	"testing"

	"servescope/formats"
)

// TestReasons: a few formats say each why a file is not of theirs, many do not fill
// the page of the files beside it.
func TestReasons(t *testing.T) {
	tried := func(n int) error {
		e := &formats.DetectError{}
		for range n {
			e.Tried = append(e.Tried, formats.Attempt{Format: &formats.Format{Name: "f"}, Reason: "no"})
		}
		return e
	}
	for n, want := range map[int]string{
		2:  "no format recognises it (f: no; f: no)",
		21: "none of 21 formats recognises it; inspect it alone to see why",
	} {
		if got := reasons(tried(n)); got != want {
			t.Errorf("%d formats: %q, want %q", n, got, want)
		}
	}
	if got := reasons(errors.New("torn")); got != "torn" {
		t.Errorf("another error is %q", got)
	}
}
