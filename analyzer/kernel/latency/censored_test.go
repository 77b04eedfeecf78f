package latency

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/cell"
	"servescope/analyzer/kernel/kerneltest"
	"servescope/analyzer/metric"
	"servescope/analyzer/query"
	"servescope/analyzer/trace"
)

// TestCensoredTTFT: TTFTs of 10, 20, …, 90 ms and one request that was aborted
// before its first token. With it at infinity the median is between the fifth and
// the sixth of ten values, and p90 between the ninth and infinity.
func TestCensoredTTFT(t *testing.T) {
	var rows []kerneltest.Request
	for i := range int64(9) {
		rows = append(rows, kerneltest.Streamed(0, 1, 10*(i+1)))
	}
	aborted, late, failed, piece := kerneltest.Of(trace.Aborted), kerneltest.Of(trace.Aborted), kerneltest.Of(trace.Failed), kerneltest.Of(trace.Aborted)
	late.First, piece.Stream = 500, 0
	rows = append(rows, aborted, late, failed, piece)
	m := kerneltest.Cell(t, New(metric.Default, nil), &query.Query{}, kerneltest.WallMeta(), rows...).Metrics["ttft"]
	if m.N != 9 || m.Censored != 1 || m.Quantiles["0.5"] != 50e6 || m.Upper["0.5"] != 55e6 || m.Upper["0.9"] != nil || len(m.Upper) != 5 {
		t.Errorf("n %d, %d censored, %v, upper %v", m.N, m.Censored, m.Quantiles, m.Upper)
	}
	kerneltest.Noted(t, kerneltest.Cell(t, New(metric.Default, nil), &query.Query{}, kerneltest.WallMeta(), rows...), "ttft", "censored: 1 request was aborted or is open before the first token; if it never came: p50 55 ms, p90 unbounded")
	open := kerneltest.Of(trace.Open)
	if m = kerneltest.Cell(t, New(metric.Default, nil), &query.Query{}, kerneltest.WallMeta(), append(rows, open, open)...).Metrics["ttft"]; m.Censored != 3 || m.Upper["0.5"] != (60e6+70e6)/2 {
		t.Errorf("%d censored, upper %v", m.Censored, m.Upper)
	}
	if m = kerneltest.Cell(t, New(metric.Default, nil), &query.Query{}, kerneltest.WallMeta(), rows[:9]...).Metrics["ttft"]; m.Censored != 0 || m.Upper != nil {
		t.Errorf("nothing is censored: %v", m.Upper)
	}
	// Where nobody stamps first tokens nothing is bounded.
	silent := kerneltest.Streamed(0, 5, 100)
	silent.First = -1
	if m = kerneltest.Cell(t, New(metric.Default, nil), &query.Query{}, kerneltest.WallMeta(), silent, open).Metrics["ttft"]; m.Upper != nil {
		t.Errorf("%v", m.Upper)
	}
}

// TestCensoredAgainstPlainArithmetic sorts values with infinities among them, by
// window.
func TestCensoredAgainstPlainArithmetic(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 44))
	for range 30 {
		var rows []kerneltest.Request
		values := map[int64][]float64{}
		censored := map[int64]int64{}
		for range 5 + r.IntN(60) {
			q := kerneltest.Streamed(r.Int64N(3000), 1, 0)
			q.First = q.Send + 1 + r.Int64N(500)
			q.Last = q.First
			v := float64(q.First-q.Send) * 1e6
			if r.IntN(5) == 0 {
				q.Status, q.First, q.Last, q.N, q.Gaps = []trace.Status{trace.Aborted, trace.Open}[r.IntN(2)], -1, -1, -1, nil
				v = math.Inf(1)
				censored[kernel.NoWindow]++
				censored[q.Send/1000]++
			}
			rows = append(rows, q)
			values[kernel.NoWindow] = append(values[kernel.NoWindow], v)
			values[q.Send/1000] = append(values[q.Send/1000], v)
		}
		out := kerneltest.Run(t, []kernel.Kernel{New(metric.Default, nil)}, &query.Query{Window: 1000 * kerneltest.MS}, []kerneltest.View{{B: kerneltest.Build(kerneltest.WallMeta(), rows...)}}, kerneltest.Whole)
		for window, list := range values {
			at := window
			if window != kernel.NoWindow {
				at = window * 1000 * kerneltest.MS
			}
			m := out.Cell(0, -1, at).Metrics["ttft"]
			if m.N == 0 || censored[window] == 0 {
				continue
			}
			slices.Sort(list)
			if m.Censored != censored[window] || m.N+m.Censored != int64(len(list)) {
				t.Errorf("window %d: %d of %d, %d censored", window, m.N, len(list), m.Censored)
			}
			for _, q := range query.DefaultRanks {
				h := q * float64(len(list)-1)
				i := int(h)
				want := list[i]
				if h > float64(i) && !math.IsInf(want, 0) { // between two infinities there is no number
					want = list[i] + (h-float64(i))*(list[i+1]-list[i])
				}
				got, known := m.Upper[cell.RankName(q)].(float64)
				if known == math.IsInf(want, 0) || known && math.Abs(got-want) > 1e-3 {
					t.Errorf("window %d: p%v is %v, want %v", window, q, m.Upper[cell.RankName(q)], want)
				}
			}
		}
	}
}
