package all

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/cell"
	"servescope/analyzer/kernel/kerneltest"
	"servescope/analyzer/metric"
	"servescope/analyzer/query"
	"servescope/analyzer/report"
	"servescope/analyzer/trace"
)

// The figures of this file are computed a second time, from the definitions,
// in milliseconds and plain floats, request by request and token by token.

// simple is an ordinary request of a client: every stamp known, one token or
// more a chunk. Of some with one token in each that is told by counts alone.
func simple(r *rand.Rand) kerneltest.Request {
	q := kerneltest.Of(trace.OK)
	q.Send = 100 + r.Int64N(9000)
	q.First = q.Send + 20 + r.Int64N(300)
	at := q.First
	most := 1 + r.Int64N(3)
	q.Untold = most == 1 && r.IntN(3) > 0
	q.Gaps, q.Tokens, q.N = []int64{}, []int64{1 + r.Int64N(most)}, 0
	for range r.IntN(40) {
		g := 1 + r.Int64N(50)
		q.Gaps, q.Tokens = append(q.Gaps, g), append(q.Tokens, 1+r.Int64N(most))
		at += g
	}
	for _, k := range q.Tokens {
		q.N += k
	}
	q.Last, q.Finish = at, at+r.Int64N(30)
	q.Prompt, q.Cached = 10+r.Int64N(500), r.Int64N(10)
	q.Replica = []string{"a", "b"}[r.IntN(2)]
	q.Scheduled = q.Send - r.Int64N(40)
	q.Admitted, q.Preempted, q.Stall = q.Send+r.Int64N(q.First-q.Send+1), 0, -1
	if r.IntN(6) == 0 {
		q.Preempted, q.Stall = 1, r.Int64N(at-q.First+1)
	}
	switch r.IntN(12) {
	case 0:
		q.Status = trace.Failed
	case 1:
		q.Status = trace.Empty
		q.First, q.Last, q.Gaps, q.Tokens, q.N = -1, -1, nil, nil, 0
		q.Admitted, q.Preempted, q.Stall = -1, -1, -1
		q.Finish = q.Send + 3
	}
	return q
}

// bagOf is a list of values with the statistics of a metric.
type bagOf []float64

func (b bagOf) check(t *testing.T, where string, m report.Metric) {
	t.Helper()
	if m.N != int64(len(b)) {
		t.Errorf("%s: n %d, want %d (%s)", where, m.N, len(b), m.Reason)
		return
	}
	if len(b) == 0 {
		return
	}
	s := slices.Clone(b)
	slices.Sort(s)
	sum, squares := 0.0, 0.0
	for _, v := range s {
		sum += v
	}
	mean := sum / float64(len(s))
	for _, v := range s {
		squares += (v - mean) * (v - mean)
	}
	kerneltest.Near(t, where+" mean", m.Mean, mean)
	if want := math.Sqrt(squares / float64(len(s))); math.Abs(m.Std-want) > 1e-3 { // values are rounded to 1/1024 ns
		kerneltest.Near(t, where+" std", m.Std, want)
	}
	kerneltest.Near(t, where+" min", m.Min, s[0])
	kerneltest.Near(t, where+" max", m.Max, s[len(s)-1])
	for _, q := range query.DefaultRanks {
		h := float64(len(s)-1) * q
		i := int(h)
		want := s[i]
		if i+1 < len(s) {
			want += (h - float64(i)) * (s[i+1] - s[i])
		}
		kerneltest.Near(t, fmt.Sprint(where, " q", q), m.Quantiles[cell.RankName(q)], want)
	}
	if !m.Exact {
		t.Errorf("%s is not exact", where)
	}
}

// inside says which requests, tokens and instants a cell is about; group -1 is
// all, to <= from is all of the time.
type inside struct {
	group    int32
	from, to int64
}

func (in inside) at(t int64) bool { return in.to <= in.from || in.from <= t && t < in.to }

// expect checks a cell against the requests that it is about.
func expect(t *testing.T, where string, c *report.Cell, rows []kerneltest.Request, groups []int32, in inside) {
	t.Helper()
	var ttfts, tpots, e2es, gaps, latencies, sizes, waits, prompts, totals, speeds bagOf
	var count report.Requests
	a, b := int64(math.MaxInt64), int64(0)
	for i, q := range rows {
		if groups[i] >= 0 {
			a, b = min(a, q.Send), max(b, q.Last)
		}
	}
	lo, hi := a, b
	if in.to > in.from {
		lo, hi = max(a, in.from), min(b, in.to)
	}
	var running, stalled, loose, promptOK int64
	replicas := map[string]*[3]int64{"a": {}, "b": {}} // tokens, those after the first, decode time
	var tokens, tokensOK, firsts, span, prompt, cached, good, inflight, judged, unclear int64
	perMilli := make([]int64, 20_000)
	seconds := map[int64]float64{}
	for i, q := range rows {
		if groups[i] < 0 || in.group >= 0 && groups[i] != in.group {
			continue // the filter removes it, or it is of another group
		}
		for at := q.Send; at < q.Finish; at++ {
			if lo <= at && at < hi {
				inflight++
				perMilli[at]++
			}
		}
		arrived, left, ok := in.at(q.Send), in.at(q.Finish), q.Status == trace.OK
		switch {
		case arrived && !left:
			count.EndLater++
		case left && !arrived:
			count.BegunEarlier++
		}
		if arrived {
			count.Total++
			switch q.Status {
			case trace.OK:
				count.OK++
			case trace.Failed:
				count.Failed++
			default:
				count.Empty++
			}
			judged++
			if ok && q.First-q.Send <= 200 && (q.N < 2 || q.Last > q.First && float64(q.Last-q.First)/float64(q.N-1) <= 15) {
				good++
			}
			if ok && q.First-q.Send <= 200 && q.N > 1 && q.Last == q.First { // there is no TPOT to judge
				unclear++
			}
		}
		if q.First >= 0 {
			at := q.First
			for k := range q.Tokens {
				if k > 0 {
					at += q.Gaps[k-1]
				}
				seconds[(at+999)/1000] += float64(q.Tokens[k])
				if !in.at(at) {
					continue
				}
				tokens += q.Tokens[k]
				replicas[q.Replica][0] += q.Tokens[k]
				replicas[q.Replica][1] += q.Tokens[k]
				if ok {
					tokensOK += q.Tokens[k]
				}
				if k == 0 {
					firsts++
					replicas[q.Replica][1]--
					continue
				}
				if ok {
					gaps = append(gaps, float64(q.Gaps[k-1])*1e6)
					sizes = append(sizes, float64(q.Tokens[k]))
					for range q.Tokens[k] {
						latencies = append(latencies, float64(q.Gaps[k-1])*1e6/float64(q.Tokens[k]))
					}
				}
			}
			own := int64(0)
			for at := q.Admitted; at < q.Last; at++ {
				if in.at(at) {
					running++
				}
				if in.at(at) && at >= q.First {
					own++
				}
			}
			span += own
			replicas[q.Replica][2] += own
			switch {
			case q.Stall <= 0:
			case own == q.Last-q.First:
				stalled += q.Stall
			case own > 0:
				loose++
			}
			if in.at(q.First) {
				prompt += q.Prompt
				cached += q.Cached
				if ok {
					promptOK += q.Prompt
				}
			}
		}
		if arrived && q.Status != trace.Failed {
			prompts = append(prompts, float64(q.Prompt))
		}
		if !ok {
			continue
		}
		if arrived {
			ttfts = append(ttfts, float64(q.First-q.Send)*1e6)
			waits = append(waits, float64(q.Send-q.Scheduled)*1e6)
		}
		if left {
			e2es = append(e2es, float64(q.Last-q.Send)*1e6)
			if q.N > 1 && q.Last > q.First {
				tpots = append(tpots, float64(q.Last-q.First)*1e6/float64(q.N-1))
				totals = append(totals, float64(q.Finish-q.First)*1e6/float64(q.N-1))
			}
			speeds = append(speeds, float64(q.N)/(float64(q.Last-q.Send)/1000))
		}
	}
	if got := c.Requests; got != count {
		t.Errorf("%s: requests %+v, want %+v", where, got, count)
	}
	for name, want := range map[string]bagOf{
		"ttft": ttfts, "tpot": tpots, "tpot_from_total": totals, "e2e": e2es, "chunk_gap": gaps, "token_latency": latencies,
		"tokens_per_chunk": sizes, "client_wait": waits, "prompt_tokens": prompts, "tps_e2e": speeds,
	} {
		want.check(t, where+" "+name, c.Metrics[name])
	}
	if hi <= lo {
		return
	}
	dt := float64(hi-lo) / 1000
	if x := c.Throughput.Tokens; x.Output.Int != tokens || x.OutputOK.Int != tokensOK || x.Prompt.Int != prompt || x.PromptOK.Int != promptOK {
		t.Errorf("%s: %+v, want %d, %d, %d, %d", where, x, tokens, tokensOK, prompt, promptOK)
	}
	kerneltest.Value(t, c, "tps", float64(tokens)/dt)
	kerneltest.Value(t, c, "tps_ok", float64(tokensOK)/dt)
	kerneltest.Value(t, c, "tps_end_to_end", float64(tokens+prompt)/dt)
	kerneltest.Value(t, c, "tps_end_to_end_computed", float64(tokens+prompt-cached)/dt)
	kerneltest.Value(t, c, "request_rate", float64(count.Total)/dt)
	if tokens+prompt > 0 {
		kerneltest.Value(t, c, "decode_token_share", float64(tokens)/float64(tokens+prompt))
	}
	if span > 0 && tokens > firsts {
		kerneltest.Value(t, c, "batch_decode", float64(span)/float64(hi-lo))
		kerneltest.Value(t, c, "tpot_weighted", float64(span)*1e6/float64(tokens-firsts))
		kerneltest.Value(t, c, "tps_total_model", float64(tokens-firsts)/dt)
		kerneltest.Value(t, c, "identity_ratio", 1-float64(firsts)/float64(tokens))
	}
	decoding := 0.0
	for _, r := range replicas {
		if r[0] > 0 || r[2] > 0 {
			decoding++
		}
	}
	if decoding > 0 {
		kerneltest.Value(t, c, "replicas", decoding)
	}
	for _, got := range c.Throughput.Replicas {
		want := replicas[got.Name]
		kerneltest.Near(t, where+" tokens of "+got.Name, float64(got.Tokens), float64(want[0]))
		kerneltest.Near(t, where+" tps of "+got.Name, got.TPS.V, float64(want[0])/dt)
		kerneltest.Near(t, where+" batch of "+got.Name, got.Batch.V, float64(want[2])/float64(hi-lo))
		if want[2] > 0 && want[1] > 0 {
			kerneltest.Near(t, where+" TPOT of "+got.Name, got.TPOT.V, float64(want[2])*1e6/float64(want[1]))
			kerneltest.Near(t, where+" model of "+got.Name, got.Model.V, float64(want[1])/dt)
		}
	}
	if span > 0 {
		kerneltest.Value(t, c, "batch_running", float64(running)/float64(hi-lo))
		if loose == 0 {
			kerneltest.Value(t, c, "batch_decode_active", float64(span-stalled)/float64(hi-lo))
		} else if v := c.Throughput.Values["batch_decode_active"]; v.Known || v.Reason != "preempted" {
			t.Errorf("%s: %+v with %d stalls across the edges", where, v, loose)
		}
	}
	kerneltest.Near(t, where+" concurrency", c.Concurrency.Mean.V, float64(inflight)/float64(hi-lo))
	kerneltest.Near(t, where+" max concurrency", c.Concurrency.Max.V, float64(slices.Max(perMilli)))
	if g := c.Goodput; g.Denominator != judged || g.Good != good || g.Unknown != unclear {
		t.Errorf("%s: goodput %d (%d unknown) of %d, want %d (%d) of %d", where, g.Good, g.Unknown, g.Denominator, good, unclear, judged)
	} else if unclear > 0 {
		if g.Rate.Known {
			t.Errorf("%s: goodput rate %v with %d unknown", where, g.Rate.V, unclear)
		}
	} else if judged > 0 {
		kerneltest.Near(t, where+" goodput rate", g.Rate.V, float64(good)/dt)
	}
	if in.to <= in.from {
		if in.group < 0 { // the tokens of all groups are in seconds
			most := float64(tokens) / dt
			for _, n := range seconds {
				most = max(most, n)
			}
			kerneltest.Near(t, where+" peak", c.Throughput.Values["tps_peak"].V, most)
		}
	}
}

// TestAgainstPlainArithmetic compares every cell of random runs, of half of which
// a filter removes requests.
func TestAgainstPlainArithmetic(t *testing.T) {
	r := rand.New(rand.NewPCG(2024, 3))
	slo := []query.Limit{{Metric: "ttft", Max: 200e6}, {Metric: "tpot", Max: 15e6}}
	for round := range 25 {
		var rows []kerneltest.Request
		var groups []int32
		removed := int64(0)
		for range 20 + r.IntN(80) {
			rows = append(rows, simple(r))
			groups = append(groups, int32(r.IntN(3)))
			if round%4 > 1 && r.IntN(4) == 0 {
				groups[len(groups)-1] = -1
				removed++
			}
		}
		clock := []trace.ClockKind{trace.Wall, trace.RunClock}[round%2]
		meta := &trace.RunMeta{Clock: trace.Clock{Kind: clock}}
		v := []kerneltest.View{{B: kerneltest.Build(meta, rows...), Group: groups}}
		window := []int64{700, 1000, 2500}[r.IntN(3)]
		q := &query.Query{Window: window * kerneltest.MS, By: []string{"tenant"}, SLO: slo}
		out := run(t, metric.Default, q, v, kerneltest.Whole)
		origin := int64(0)
		if clock != trace.Wall {
			origin = slices.MinFunc(rows, func(a, b kerneltest.Request) int { return int(a.Send - b.Send) }).Send
		}
		seen := 0
		if all := &out.Cell(0, -1, kernel.NoWindow).Requests; all.Filtered != removed {
			t.Errorf("round %d: %d filtered, want %d", round, all.Filtered, removed)
		} else {
			all.Filtered = 0
		}
		for key, c := range out.Cells {
			in := inside{group: int32(key[1])}
			where := fmt.Sprintf("round %d group %d", round, key[1])
			if key[2] != kernel.NoWindow {
				in.from, in.to = key[2]/kerneltest.MS, key[2]/kerneltest.MS+window
				where += fmt.Sprintf(" window %d", in.from)
				if (in.from-origin)%window != 0 {
					t.Errorf("%s is not aligned to %d", where, origin)
				}
			}
			expect(t, where, c, rows, groups, in)
			seen++
		}
		if seen < 12 {
			t.Fatalf("%d cells", seen)
		}
		if t.Failed() {
			t.FailNow()
		}
	}
}

// TestIntervalsAgainstPlainArithmetic compares the cells of random intervals,
// with and without windows: tokens, gaps, batch and concurrency are those in
// the interval, of requests sent at any time.
func TestIntervalsAgainstPlainArithmetic(t *testing.T) {
	r := rand.New(rand.NewPCG(2025, 4))
	for round := range 40 {
		var rows []kerneltest.Request
		var groups []int32
		for range 20 + r.IntN(80) {
			rows = append(rows, simple(r))
			groups = append(groups, int32(r.IntN(3)))
		}
		meta := &trace.RunMeta{Clock: trace.Clock{Kind: []trace.ClockKind{trace.Wall, trace.RunClock}[round%2]}}
		from := r.Int64N(8000)
		to := from + 1 + r.Int64N(4000)
		q := &query.Query{
			From: &query.Instant{NS: from * kerneltest.MS}, To: &query.Instant{NS: to * kerneltest.MS}, By: []string{"tenant"},
			SLO: []query.Limit{{Metric: "ttft", Max: 200e6}, {Metric: "tpot", Max: 15e6}},
		}
		window := int64(0)
		if round%4 > 1 {
			window = 100 + r.Int64N(900)
			q.Window = window * kerneltest.MS
		}
		out := run(t, metric.Default, q, []kerneltest.View{{B: kerneltest.Build(meta, rows...), Group: groups}}, kerneltest.Whole)
		sent := int64(0)
		for _, q := range rows {
			if from <= q.Send && q.Send < to {
				sent++
			}
		}
		all := out.Cell(0, -1, kernel.NoWindow)
		if got := all.Requests; got.Total != sent || got.Filtered != int64(len(rows))-sent {
			t.Errorf("round %d: %+v of %d requests, %d of them in the interval", round, got, len(rows), sent)
		}
		all.Requests.Filtered = 0
		for key, c := range out.Cells {
			in := inside{int32(key[1]), from, to}
			if key[2] != kernel.NoWindow {
				in.from, in.to = max(from, key[2]/kerneltest.MS), min(to, key[2]/kerneltest.MS+window)
			}
			if in.from >= in.to {
				t.Errorf("round %d: window %d lies outside of [%d, %d)", round, key[2]/kerneltest.MS, from, to)
				continue
			}
			expect(t, fmt.Sprintf("round %d [%d, %d) group %d", round, in.from, in.to, key[1]), c, rows, groups, in)
		}
		if t.Failed() {
			t.FailNow()
		}
	}
}
