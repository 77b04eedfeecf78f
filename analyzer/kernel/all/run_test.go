package all

import (
	"testing"

	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/kerneltest"
	"servescope/analyzer/metric"
	"servescope/analyzer/query"
	"servescope/analyzer/report"
	"servescope/analyzer/trace"
)

// run folds views through all kernels as a session does and returns the cells.
// split decides how a pass is cut into states and merged.
func run(t testing.TB, def *metric.Definition, q *query.Query, views []kerneltest.View, split func(fresh func() kernel.State, views []kerneltest.View) kernel.State) *kerneltest.Sink {
	t.Helper()
	return kerneltest.Run(t, All(def), q, views, split)
}

// cellOf runs rows as one batch without a query and returns the run's cell.
func cellOf(t testing.TB, def *metric.Definition, rows ...kerneltest.Request) *report.Cell {
	t.Helper()
	return runOf(t, def, &query.Query{}, kerneltest.WallMeta(), rows...)
}

func runOf(t testing.TB, def *metric.Definition, q *query.Query, meta *trace.RunMeta, rows ...kerneltest.Request) *report.Cell {
	t.Helper()
	return run(t, def, q, []kerneltest.View{{B: kerneltest.Build(meta, rows...)}}, kerneltest.Whole).Cell(0, -1, kernel.NoWindow)
}
