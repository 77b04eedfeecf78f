package load

import (
	"fmt"
	"servescope/analyzer/dataset"
)

// EmptyError says that no input holds anything that its format can read: no
// request, no step or other row, and no figure that the producer computed.
type EmptyError struct {
	Name   string // of the first input
	Format string // as which it was read
	Forced bool   // the caller named the format
	Inputs int    // how many inputs there are
}

// Error names the first input and the format.
func (e *EmptyError) Error() string {
	how := ""
	if e.Forced {
		how = ", which was forced"
	}
	if e.Inputs > 1 {
		return fmt.Sprintf("nothing could be read of any of the %d inputs; the first, %s, as %s%s", e.Inputs, e.Name, e.Format, how)
	}
	return fmt.Sprintf("%s: nothing could be read as %s%s", e.Name, e.Format, how)
}

// Hint says what to do about it.
func (e *EmptyError) Hint() string {
	if e.Forced {
		return "the diagnostics say what was found instead; without --input-format the format is detected"
	}
	return "the diagnostics say what was found instead; 'formats' lists what can be read"
}

// emptyError returns an *EmptyError where nothing at all was read of inputs, else nil.
func emptyError(inputs []*dataset.Input) error {
	var first *dataset.Input
	for _, f := range inputs {
		if f.Rows > 0 {
			return nil
		}
		if first == nil && f.Format != nil {
			first = f
		}
	}
	if first == nil {
		return nil
	}
	return &EmptyError{Name: first.Source.Name(), Format: first.Format.Name, Forced: first.Reason == forced, Inputs: len(inputs)}
}
