package dataset

import (
	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/request"
	"servescope/analyzer/kernel/steptime"
	"servescope/analyzer/trace"
)

// RowClocks names the clock of each row of a batch.
type RowClocks struct {
	run   string
	codes trace.Dicts
}

// ClocksOf names the clock of each row of a batch of requests.
func ClocksOf(b *trace.Batch) RowClocks {
	return RowClocks{b.Run.Clock.String(), b.Dicts(trace.ClockCol)}
}

// At returns the name of the clock of row i.
func (c *RowClocks) At(i int) string {
	if code, ok := c.codes.At(i); ok {
		return c.codes.Values[code]
	}
	return c.run
}

// StepClocks names the clock of each row of a batch of steps.
func StepClocks(b *trace.Batch) RowClocks {
	return RowClocks{b.Run.Clock.String(), b.Dicts(trace.StepClock)}
}

// stepEnds returns where the steps of runs end that have requests too.
func stepEnds(s *Set) *request.StepEnds {
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
