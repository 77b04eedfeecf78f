package trace

// ClockKind says where a clock starts.
type ClockKind uint8

// The kinds of clocks. Stamps of different clocks are never subtracted.
const (
	Wall         ClockKind = iota // ns since the Unix epoch
	Monotonic                     // ns since one host's boot; comparable on that host only
	RunClock                      // origin = start of the run
	RequestClock                  // origin = start of each request; requests have no order
)

var clockNames = [...]string{"wall", "monotonic", "run", "request"}

// String returns the kind's name, the first part of a value of the clock
// column.
func (k ClockKind) String() string { return clockNames[k] }

// Clock identifies the clock of a row's stamps: its kind, and the host or
// process it belongs to, if known.
type Clock struct {
	Kind   ClockKind
	Source string
}

// String returns the value of the clock column: "kind" or "kind/source".
func (c Clock) String() string {
	if c.Source == "" {
		return c.Kind.String()
	}
	return c.Kind.String() + "/" + c.Source
}

// ParseClock is the inverse of Clock.String. It reports false for an unknown kind.
func ParseClock(s string) (Clock, bool) {
	for k, name := range clockNames {
		if s == name {
			return Clock{Kind: ClockKind(k)}, true
		}
		if len(s) > len(name) && s[:len(name)] == name && s[len(name)] == '/' {
			return Clock{Kind: ClockKind(k), Source: s[len(name)+1:]}, true
		}
	}
	return Clock{}, false
}
