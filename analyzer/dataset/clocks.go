package dataset

import (
	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/request"
	"servescope/analyzer/kernel/steptime"
	"servescope/analyzer/trace"
)

// clocks names the clock of each row of a batch.
type clocks struct {
	run   string
	codes trace.Dicts
}

func ClocksOf(b *trace.Batch) clocks { return clocks{b.Run.Clock.String(), b.Dicts(trace.ClockCol)} }

func (c *clocks) At(i int) string {
	if code, ok := c.codes.At(i); ok {
		return c.codes.Values[code]
	}
	return c.run
}

// StepClocks names the clock of each row of a batch of steps.
func StepClocks(b *trace.Batch) clocks {
	return clocks{b.Run.Clock.String(), b.Dicts(trace.StepClock)}
}

// stepEnds returns where the steps of runs end that have requests too.
func (s *Set) stepEnds() *request.StepEnds {
	requests := make(map[int32]bool)
	for _, r := range s.Requests {
		requests[r.Slot] = true
	}
	var views []*kernel.View
	for _, r := range s.Steps {
		if requests[r.Slot] && r.Has(trace.StepDuration) {
			views = append(views, &kernel.View{Batch: r.Open(), RunIndex: r.Slot, Group: make([]int32, r.Rows())})
		}
	}
	if len(views) == 0 {
		return nil
	}
	return steptime.EndsOf(views)
}
