package analyzer

import (
	"servescope/analyzer/kernel"
	"servescope/analyzer/trace"
)

// clocks names the clock of each row of a batch.
type clocks struct {
	run   string
	codes trace.Dicts
}

func clocksOf(b *trace.Batch) clocks { return clocks{b.Run.Clock.String(), b.Dicts(trace.ClockCol)} }

func (c *clocks) at(i int) string {
	if code, ok := c.codes.At(i); ok {
		return c.codes.Values[code]
	}
	return c.run
}

// stepClocks names the clock of each row of a batch of steps.
func stepClocks(b *trace.Batch) clocks {
	return clocks{b.Run.Clock.String(), b.Dicts(trace.StepClock)}
}

// stepEnds returns where the steps of runs end that have requests too.
func (s *Set) stepEnds() *kernel.Ends {
	requests := make(map[int32]bool)
	for _, r := range s.requests {
		requests[r.slot] = true
	}
	var views []*kernel.View
	for _, r := range s.steps {
		if requests[r.slot] && r.has(trace.StepDuration) {
			views = append(views, &kernel.View{Batch: r.open(), RunIndex: r.slot, Group: make([]int32, r.rows())})
		}
	}
	if len(views) == 0 {
		return nil
	}
	return kernel.EndsOf(views)
}
