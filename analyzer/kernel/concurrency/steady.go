package concurrency

import (
	"servescope/analyzer/kernel/cell"
	"servescope/analyzer/kernel/request"
	"servescope/analyzer/metric"
	"servescope/analyzer/report"
	"servescope/analyzer/stat"
	"servescope/analyzer/unit"
)

// steadyRequests is the least number of requests sent in a steady window.
const steadyRequests = 30

// steadyOf finds the steady window of a run: with c* the time-weighted median
// concurrency between the first and the last send, from the first instant to
// the last before the last send at which at least 0.9 c* requests are in
// flight. It holds if the mean inside is at least 0.9 c* and 30 requests are
// sent in it, and exists only in a closed loop: where the limit that the client
// states binds, or, without one, where concurrency is at its very maximum for
// half of the time.
func steadyOf(s *stat.Sweep, info *cell.Run) (window [2]int64, why metric.Reason) {
	side := info.Side(int(info.CountingSide()))
	x := &side.Selected
	switch {
	case side.Rows == 0:
		return window, metric.NoRequests
	case !side.Placed() || x.FirstSend == request.None:
		return window, metric.Clock
	case side.Rows < steadyRequests:
		return window, metric.FewRequests
	case x.LastSend <= x.FirstSend:
		return window, metric.OpenLoop
	}
	typical, bound := s.Median(x.FirstSend, x.LastSend)
	if info.Limit > 0 {
		bound = min(bound, info.Limit)
		if 10*typical < 9*bound {
			return window, metric.OpenLoop
		}
	} else if typical < bound || typical == 0 {
		return window, metric.OpenLoop
	}
	window = [2]int64{request.None, request.None}
	s.Walk(x.FirstSend, x.LastSend, func(t0, t1, n int64) {
		if 10*n >= 9*typical {
			if window[0] == request.None {
				window[0] = t0
			}
			window[1] = t1
		}
	})
	if window[0] == request.None || 10*s.Summarize(window[0], window[1], 0).Mean < 9*float64(typical) {
		return window, metric.NoPlateau
	}
	if s.Started(window[0], window[1]) < steadyRequests {
		return window, metric.FewRequests
	}
	return window, metric.None
}

// steady writes the steady window of a run.
func steady(c *report.Concurrency, p plateau) {
	if p.why != metric.None {
		c.SteadyFrom, c.SteadyTo = report.Null(p.why.String()), report.Null(p.why.String())
		return
	}
	c.SteadyFrom, c.SteadyTo = report.KnownInt(p.window[0], unit.Nanosecond), report.KnownInt(p.window[1], unit.Nanosecond)
}
