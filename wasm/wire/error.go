package wire

// ReadError is a file that the browser cannot read any more.
type ReadError struct{ Name, Reason string }

func (e *ReadError) Error() string { return e.Name + ": " + e.Reason }

// Hint says what to do about it.
func (e *ReadError) Hint() string { return "the file has changed or has gone: drop it again" }
