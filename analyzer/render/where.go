package render

import (
	"servescope/analyzer/report"
	"strings"
	"time"
)

// where is one row of a compact table: its labels and its cell.
type where struct {
	labels []cell
	cell   *report.Cell
	side   string // of the run, in a table of runs
}

// label is a name that a file gave; an empty one was not recorded.
func label(s string) cell {
	if s == "" {
		return text("(not recorded)")
	}
	return cell{text: s, code: true}
}

func wall(clock string) bool {
	kind, _, _ := strings.Cut(clock, "/")
	return kind == "wall"
}

// stamp returns a wall-clock value as a time in UTC.
func stamp(v report.Value) time.Time {
	if v.Whole {
		return time.Unix(0, v.Int).UTC()
	}
	return time.Unix(0, int64(v.V)).UTC()
}
