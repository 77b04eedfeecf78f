package cell

import (
	"math"
	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/request"
)

// axis places stamps of a clock in windows of time. Windows of a wall clock are
// aligned to multiples of their length since the epoch, windows of other clocks
// to the run's first send.
type axis struct {
	Length   int64 // of a window; 0: no windows
	Origin   int64
	From, To int64 // [from, to): the query's interval
	late     bool  // facts are missing: nothing is placed in this pass

	fixed bool // every stamp is in window at, the window of a request on another clock
	at    int64
}

// Divided reports whether stamps are in different windows.
func (a *axis) Divided() bool {
	return a.fixed || a.Length > 0 || a.From != math.MinInt64 || a.To != math.MaxInt64
}

// Window returns the start of the window that t is in, NoWindow where there are
// none, or elsewhere.
func (a *axis) Window(t int64) int64 {
	switch {
	case a.fixed:
		return a.at
	case t < a.From || t >= a.To:
		return Elsewhere
	case a.Length == 0:
		return kernel.NoWindow
	}
	return t - request.FloorMod(t-a.Origin, a.Length)
}

// Holds reports whether a window has a part of the query's interval.
func (a *axis) Holds(window int64) bool {
	return window < a.To && (window >= a.From || window > a.From-a.Length)
}

// Same reports whether t is in the given window, without a division.
func (a *axis) Same(window, t int64) bool {
	if a.fixed || window <= Elsewhere {
		return a.Window(t) == window
	}
	return t >= window && t-window < a.Length && t >= a.From && t < a.To
}

// Stretch returns the window that t is in and its end on the axis.
func (a *axis) Stretch(t int64) (window, end int64) {
	switch window = a.Window(t); {
	case a.fixed:
		return window, math.MaxInt64
	case window > Elsewhere:
		return window, min(a.End(window), a.To)
	case t < a.From:
		return window, a.From
	case t < a.To:
		return window, a.To
	}
	return window, math.MaxInt64
}

// End returns the end of a window, which is the end of time where the sum overflows.
func (a *axis) End(window int64) int64 {
	if window > math.MaxInt64-a.Length {
		return math.MaxInt64
	}
	return window + a.Length
}
