package steptime

import (
	"testing"

	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/request"
	"servescope/analyzer/trace"
)

// TestEnds: the steps of a request are those of its replica, on its clock; one
// that names no replica is of the only one.
func TestEnds(t *testing.T) {
	steps := func(run int32, replica, clock string, tp int64, resolution int64, ends ...int64) *kernel.View {
		b := trace.NewBuilder(trace.Steps)
		for _, end := range ends {
			if replica != "" {
				b.Dict(trace.StepReplica, []byte(replica))
			}
			if clock != "" {
				b.Dict(trace.StepClock, []byte(clock))
			}
			b.Int(trace.StepTP, tp)
			b.Int(trace.StepResolution, resolution)
			b.Code(trace.StepQuantity, int32(trace.Interval))
			b.Code(trace.StepKindCol, int32(trace.StepDecode))
			b.Int(trace.StepT, end)
			b.Int(trace.StepDuration, 30e6)
			b.EndRow()
		}
		return &kernel.View{Batch: b.Take(&trace.RunMeta{Clock: trace.Clock{Kind: trace.Wall}}, "f"), RunIndex: run, Group: make([]int32, len(ends))}
	}
	e := EndsOf([]*kernel.View{
		steps(0, "a", "", 0, 1, 100e6, 130e6), steps(0, "a", "", 1, 1, 101e6, 131e6), steps(0, "b", "wall/h", 0, 1000, 100e6, 150e6),
		steps(1, "", "monotonic/h", 0, 1, 100e6), steps(2, "a", "", 0, 1e9, 100e6),
		steps(3, "a", "", 0, 1, 100e6), steps(3, "a", "monotonic/h", 0, 1, 130e6), steps(4, "c", "", 0, 1, 100e6),
	})
	for _, c := range []struct {
		run            int32
		replica, clock string
		at             int64 // where a step ends; 0: there are none
	}{
		{0, "a", "wall", 130e6}, {0, "b", "wall", 150e6}, {0, "", "wall", 0}, {0, "x", "wall", 0}, {0, "a", "run", 0},
		{1, "", "monotonic/h", 100e6}, {1, "", "wall", 0}, {2, "a", "wall", 0}, {3, "a", "wall", 0}, {4, "", "wall", 100e6}, {4, "c", "wall", 100e6},
	} {
		ends := e.Of(c.run, c.replica, c.clock)
		if (ends != nil) != (c.at > 0) {
			t.Errorf("%+v: %v", c, ends != nil)
			continue
		}
		if ends != nil {
			if list, ok := ends.Members(c.at, nil, nil); !ok || len(list) != 1 {
				t.Errorf("%+v: no step ends there", c)
			}
		}
	}
	if EndsOf([]*kernel.View{steps(0, "a", "", 0, 1e9, 100e6)}) != nil || (*request.StepEnds)(nil).Of(0, "", "wall") != nil {
		t.Error("there are ends without any")
	}
}
