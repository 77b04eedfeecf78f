package query

import (
	"fmt"
	"strings"
)

// Error reports a text that cannot be parsed.
type Error struct {
	Flag string // "--filter"
	Msg  string // what is wrong, without trailing period
	Fix  string // what to write instead, or ""
}

// Error implements error.
func (e *Error) Error() string {
	if e.Fix == "" {
		return e.Flag + ": " + e.Msg
	}
	return e.Flag + ": " + e.Msg + "; " + e.Fix
}

func errorf(flag, fix, format string, args ...any) error {
	return &Error{Flag: flag, Fix: fix, Msg: fmt.Sprintf(format, args...)}
}

// quote returns s for an error message: quoted, and cut when it is long.
func quote(s string) string {
	if len(s) > 60 {
		s = strings.ToValidUTF8(s[:57], "") + "…"
	}
	return fmt.Sprintf("%q", s)
}

// Suggest returns a hint that names the closest of names, or lists them all.
func Suggest(got string, names []string) string {
	if name := Nearest(got, names); name != "" {
		return "did you mean " + name + "?"
	}
	return "one of " + strings.Join(names, ", ")
}

// Nearest returns the name with the fewest edits to got, or "" if no name is
// close.
func Nearest(got string, names []string) string {
	got = strings.ToLower(got)
	best, bestAt := 2+len(got)/4, ""
	for _, name := range names {
		if d := distance(got, name); d < best {
			best, bestAt = d, name
		}
	}
	return bestAt
}

// distance returns the Levenshtein distance of a and b. Long texts are never
// close.
func distance(a, b string) int {
	if len(a) > 64 {
		return len(a)
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			d := diagonal
			if a[i] != b[j] {
				d = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], d
		}
	}
	return row[len(b)]
}
