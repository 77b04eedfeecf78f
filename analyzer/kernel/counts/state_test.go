package counts

import (
	"math/rand/v2"
	"testing"

	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/cell"
	"servescope/analyzer/kernel/kerneltest"
	"servescope/analyzer/metric"
	"servescope/analyzer/query"
)

// TestOverflow: requests in windows beyond those that are kept are counted.
func TestOverflow(t *testing.T) {
	defer func(n int) { cell.MaxCells = n }(cell.MaxCells)
	cell.MaxCells = 40
	views := kerneltest.RandomViews(rand.New(rand.NewPCG(3, 33)), 200)
	q := &query.Query{By: []string{"tenant"}, Window: 1e6}
	s := kerneltest.Whole(func() kernel.State { return New(metric.Default).New(q, &kernel.Facts{Pass: 1}) }, views).(*state)
	s.Cells.Prune()
	lost, windows := s.Cells.Lost, 0
	for p := range s.Cells.ByPlace {
		if p.Window > cell.Elsewhere {
			windows++
		}
	}
	if lost == 0 || windows != 40 {
		t.Errorf("%d windows, %d requests lost", windows, lost)
	}
}
