package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"servescope/analyzer/metric"
	"servescope/analyzer/query"
	"servescope/analyzer/trace"
)

// TestCensoredTTFT: TTFTs of 10, 20, …, 90 ms and one request that was aborted
// before its first token. With it at infinity the median is between the fifth and
// the sixth of ten values, and p90 between the ninth and infinity.
func TestCensoredTTFT(t *testing.T) {
	var rows []req
	for i := range int64(9) {
		rows = append(rows, streamed(0, 1, 10*(i+1)))
	}
	aborted, late, failed, piece := of(trace.Aborted), of(trace.Aborted), of(trace.Failed), of(trace.Aborted)
	late.first, piece.stream = 500, 0
	rows = append(rows, aborted, late, failed, piece)
	m := cellOf(t, metric.Default, rows...).Metrics["ttft"]
	if m.N != 9 || m.Censored != 1 || m.Quantiles["0.5"] != 50e6 || m.Upper["0.5"] != 55e6 || m.Upper["0.9"] != nil || len(m.Upper) != 5 {
		t.Errorf("n %d, %d censored, %v, upper %v", m.N, m.Censored, m.Quantiles, m.Upper)
	}
	noted(t, cellOf(t, metric.Default, rows...), "ttft", "censored: 1 request was aborted or is open before the first token; if it never came: p50 55 ms, p90 unbounded")
	open := of(trace.Open)
	if m = cellOf(t, metric.Default, append(rows, open, open)...).Metrics["ttft"]; m.Censored != 3 || m.Upper["0.5"] != (60e6+70e6)/2 {
		t.Errorf("%d censored, upper %v", m.Censored, m.Upper)
	}
	if m = cellOf(t, metric.Default, rows[:9]...).Metrics["ttft"]; m.Censored != 0 || m.Upper != nil {
		t.Errorf("nothing is censored: %v", m.Upper)
	}
	// Where nobody stamps first tokens nothing is bounded.
	silent := streamed(0, 5, 100)
	silent.first = -1
	if m = cellOf(t, metric.Default, silent, open).Metrics["ttft"]; m.Upper != nil {
		t.Errorf("%v", m.Upper)
	}
}

// TestCensoredAgainstPlainArithmetic sorts values with infinities among them, by
// window.
func TestCensoredAgainstPlainArithmetic(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 44))
	for range 30 {
		var rows []req
		values := map[int64][]float64{}
		censored := map[int64]int64{}
		for range 5 + r.IntN(60) {
			q := streamed(r.Int64N(3000), 1, 0)
			q.first = q.send + 1 + r.Int64N(500)
			q.last = q.first
			v := float64(q.first-q.send) * 1e6
			if r.IntN(5) == 0 {
				q.status, q.first, q.last, q.n, q.gaps = []trace.Status{trace.Aborted, trace.Open}[r.IntN(2)], -1, -1, -1, nil
				v = math.Inf(1)
				censored[NoWindow]++
				censored[q.send/1000]++
			}
			rows = append(rows, q)
			values[NoWindow] = append(values[NoWindow], v)
			values[q.send/1000] = append(values[q.send/1000], v)
		}
		out := run(t, metric.Default, &query.Query{Window: 1000 * ms}, []view{{b: build(wallMeta(), rows...)}}, whole)
		for window, list := range values {
			at := window
			if window != NoWindow {
				at = window * 1000 * ms
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
				got, known := m.Upper[rankName(q)].(float64)
				if known == math.IsInf(want, 0) || known && math.Abs(got-want) > 1e-3 {
					t.Errorf("window %d: p%v is %v, want %v", window, q, m.Upper[rankName(q)], want)
				}
			}
		}
	}
}
