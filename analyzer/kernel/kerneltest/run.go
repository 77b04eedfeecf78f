package kerneltest

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"servescope/analyzer/kernel"
	"servescope/analyzer/query"
	"servescope/analyzer/report"
	"servescope/analyzer/trace"
)

// Sink collects cells.
type Sink struct {
	runs  map[int32]*report.Run
	Cells map[[3]int64]*report.Cell
}

// NewSink returns an empty sink.
func NewSink() *Sink {
	return &Sink{map[int32]*report.Run{}, map[[3]int64]*report.Cell{}}
}

func (s *Sink) Run(i int32) *report.Run {
	if s.runs[i] == nil {
		s.runs[i] = new(report.Run)
	}
	return s.runs[i]
}

// Idle implements Output: engines tell nothing.
func (s *Sink) Idle(int32) kernel.Idle { return nil }

func (s *Sink) Cell(run, group int32, window int64) *report.Cell {
	key := [3]int64{int64(run), int64(group), window}
	if s.Cells[key] == nil {
		s.Cells[key] = new(report.Cell)
	}
	return s.Cells[key]
}

// Text is the whole result as JSON.
func (s *Sink) Text(t testing.TB) string {
	t.Helper()
	var out strings.Builder
	for _, c := range sortedCells(s.Cells) {
		b, err := json.Marshal(struct {
			Key  [3]int64
			Cell report.Report
		}{c, report.Report{Runs: []report.Run{{Cell: *s.Cells[c]}}}})
		if err != nil {
			t.Fatal(err)
		}
		out.Write(append(b, '\n'))
	}
	return out.String()
}

func sortedCells(m map[[3]int64]*report.Cell) [][3]int64 {
	byName := map[string][3]int64{}
	for k := range m {
		b, _ := json.Marshal(k)
		byName[string(b)] = k
	}
	var list [][3]int64
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		list = append(list, byName[name])
	}
	return list
}

// Run is run with the given kernels.
func Run(t testing.TB, kernels []kernel.Kernel, q *query.Query, views []View, split func(fresh func() kernel.State, views []View) kernel.State) *Sink {
	t.Helper()
	out := NewSink()
	facts := &kernel.Facts{Runs: boundsOf(q, views)}
	final := make([]kernel.State, len(kernels))
	again := make([]bool, len(kernels))
	for i := range again {
		again[i] = true
	}
	for pass := 0; ; pass++ {
		next := &kernel.Facts{Pass: pass + 1, Runs: append([]kernel.RunFacts{}, facts.Runs...), Private: map[string][]byte{}}
		more := false
		for i, k := range kernels {
			if !again[i] {
				continue
			}
			final[i] = split(func() kernel.State { return k.New(q, facts) }, views)
			again[i] = final[i].Next(next)
			more = more || again[i]
		}
		if !more {
			break
		}
		if pass > 6 {
			t.Fatal("no end of passes")
		}
		facts = next
	}
	for _, s := range final {
		s.Finish(out)
	}
	return out
}

// boundsOf returns the interval of q as every clock of every run has it: From and
// To are stamps on all of them.
func boundsOf(q *query.Query, views []View) []kernel.RunFacts {
	if !q.Timed() {
		return nil
	}
	var list []kernel.RunFacts
	for _, v := range views {
		for int(v.run) >= len(list) {
			list = append(list, kernel.RunFacts{})
		}
		f := &list[v.run]
		for _, name := range append(v.B.Dicts(trace.ClockCol).Values, v.B.Run.Clock.String()) {
			if c, ok := trace.ParseClock(name); ok {
				f.Bounds = append(f.Bounds, kernel.Bound{Clock: kernel.Axis(c), From: q.From.NS, To: q.To.NS})
			}
		}
	}
	return list
}

// Whole folds everything into one state.
func Whole(fresh func() kernel.State, views []View) kernel.State {
	s := fresh()
	for _, v := range views {
		s.Update(v.Of())
	}
	return s
}

// Cell runs rows as one batch through one kernel and returns the run's cell.
func Cell(t testing.TB, k kernel.Kernel, q *query.Query, meta *trace.RunMeta, rows ...Request) *report.Cell {
	t.Helper()
	return Run(t, []kernel.Kernel{k}, q, []View{{B: Build(meta, rows...)}}, Whole).Cell(0, -1, kernel.NoWindow)
}
