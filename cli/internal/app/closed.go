package app

// nowhere is standard output that the caller has closed.
type nowhere struct{}

var errClosed = &closedError{}

type closedError struct{}

func (*closedError) Error() string { return "standard output is closed" }

// Hint returns what to do about it.
func (*closedError) Hint() string {
	return "give -o FILE, or -o /dev/null to have no result"
}

// Write implements io.Writer.
func (nowhere) Write([]byte) (int, error) { return 0, errClosed }
