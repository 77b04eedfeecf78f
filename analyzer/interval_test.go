package analyzer

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"servescope/analyzer/report"
)

// syntheticLoad is n requests, sent every step ms, each with tokens every gap ms
// from wait ms after its send: its figures in any interval can be counted.
type syntheticLoad struct{ n, step, wait, gap, tokens int64 }

func (l syntheticLoad) records() []string {
	var out []string
	for i := range l.n {
		sent := i * l.step
		stamps := ""
		for k := range l.tokens {
			if k > 0 {
				stamps += ","
			}
			stamps += fmt.Sprintf("%.3f", float64(sent+l.wait+k*l.gap)/1000)
		}
		end := float64(sent+l.wait+(l.tokens-1)*l.gap) / 1000
		out = append(out, fmt.Sprintf(`"sent":%.3f,"prompt_tokens":7,"token_timestamps":[%s],"output_tokens":%d,"finished":%.3f`, float64(sent)/1000, stamps, l.tokens, end))
	}
	return out
}

// end is when the last token comes.
func (l syntheticLoad) end() int64 { return (l.n-1)*l.step + l.wait + (l.tokens-1)*l.gap }

// check compares a cell with what the load does in [from, to) ms, counted
// request by request and token by token.
func (l syntheticLoad) check(t *testing.T, c *report.Cell, from, to int64) {
	t.Helper()
	var sent, ended, later, earlier, tokens, gaps, flight, decode, prompts int64
	overlap := func(a, b int64) int64 { return max(0, min(b, to)-max(a, from)) }
	in := func(at int64) bool { return from <= at && (at < to || to >= l.end() && at == l.end()) } // the last token of the run ends W and counts
	for i := range l.n {
		send := i * l.step
		first := send + l.wait
		last := first + (l.tokens-1)*l.gap
		if in(send) {
			sent++
		}
		if in(last) {
			ended++
		}
		switch {
		case in(send) && !in(last):
			later++
		case !in(send) && in(last):
			earlier++
		}
		if in(first) {
			prompts++
		}
		for k := range l.tokens {
			if in(first + k*l.gap) {
				tokens++
				if k > 0 {
					gaps++
				}
			}
		}
		flight += overlap(send, last)
		decode += overlap(first, last)
	}
	seconds := float64(to-from) / 1000
	if c.Requests.Total != sent || c.Metrics["ttft"].N != sent || c.Metrics["e2e"].N != ended || c.Metrics["chunk_gap"].N != gaps {
		t.Errorf("%d requests, %d ttft, %d e2e, %d gaps; want %d, %d, %d, %d",
			c.Requests.Total, c.Metrics["ttft"].N, c.Metrics["e2e"].N, c.Metrics["chunk_gap"].N, sent, sent, ended, gaps)
	}
	if r := c.Requests; r.EndLater != later || r.BegunEarlier != earlier || r.Total-r.EndLater+r.BegunEarlier != c.Metrics["tpot"].N {
		t.Errorf("of %+v requests %d should end later, and %d have begun earlier; tpot is of %d", r, later, earlier, c.Metrics["tpot"].N)
	}
	if c.Throughput.Window.Int != (to-from)*1e6 {
		t.Errorf("W is %d ns, want %d ms", c.Throughput.Window.Int, to-from)
	}
	rate(t, c, "tps", float64(tokens)/seconds)
	rate(t, c, "tps_ok", float64(tokens)/seconds)
	rate(t, c, "tps_prompt", float64(7*prompts)/seconds)
	rate(t, c, "request_rate", float64(sent)/seconds)
	rate(t, c, "request_rate_ok", float64(ended)/seconds)
	rate(t, c, "batch_decode", float64(decode)/float64(to-from))
	rate(t, c, "concurrency_mean", float64(flight)/float64(to-from))
}

// TestIntervalsAreWindows: an interval and a trim are about a part of the time,
// of all requests: those sent before it are under way in it.
func TestIntervalsAreWindows(t *testing.T) {
	l := syntheticLoad{n: 60, step: 500, wait: 150, gap: 90, tokens: 80} // 7.26 s each, the last token at 36.76 s
	end := l.end()
	file := lines(l.records()...)
	for _, c := range []struct {
		flags    []string
		from, to int64
	}{
		{[]string{"from=+10s", "to=+20s"}, 10_000, 20_000},
		{[]string{"from=+10.2s"}, 10_200, end},
		{[]string{"to=+5s"}, 0, 5_000},
		{[]string{"trim=warmup=8s"}, 8_000, end},
		{[]string{"trim=warmup=20"}, 10_000, end}, // the 21st request is sent at 10 s
		{[]string{"trim=warmup=20", "to=+20s"}, 10_000, 20_000},
		{[]string{"trim=warmup=12s", "from=+3s"}, 12_000, end},
	} {
		t.Run(fmt.Sprint(c.flags), func(t *testing.T) {
			run, _ := ask(t, c.flags, file)
			l.check(t, &run.Cell, c.from, c.to)
			r := run.Requests
			said := slices.ContainsFunc(run.Notes, func(n string) bool {
				return strings.HasPrefix(n, "by_end: ") && strings.Contains(n, fmt.Sprintf("%d of the %d requests end behind it", r.EndLater, r.Total)) &&
					strings.Contains(n, fmt.Sprintf("%d that began before", r.BegunEarlier))
			})
			if !said {
				t.Errorf("no note says by what E2E belongs to the interval: %q", run.Notes)
			}
			if r := run.Removed; r.Filter+r.Interval+r.Trim != run.Requests.Filtered || run.Requests.Filtered+run.Requests.Total != l.n {
				t.Errorf("removed %+v, requests %+v", r, run.Requests)
			}
		})
	}
}

// TestIntervalsWithoutRequests: rates of an interval that no request is sent in say
// so, and those of one with requests that produce nothing say that.
func TestIntervalsWithoutRequests(t *testing.T) {
	records := syntheticLoad{n: 3, step: 500, wait: 150, gap: 90, tokens: 8}.records()
	failed := append(slices.Clone(records), `"sent":50,"error":"refused","token_timestamps":[],"finished":50.1`)
	for _, c := range []struct {
		flags   []string
		records []string
		want    string
	}{
		{[]string{"from=+300s"}, records, "no_requests"},
		{[]string{"from=+300s", "to=+301s"}, records, "no_requests"},
		{[]string{"to=+0s"}, records, "no_requests"},
		{[]string{"from=+49s"}, failed, "no_token"},
		{[]string{"from=+51s"}, failed, "no_requests"},
	} {
		run, _ := ask(t, c.flags, lines(c.records...))
		for _, name := range []string{"tps", "request_rate", "concurrency_mean", "tps_peak"} {
			if v := run.Throughput.Values[name]; v.Known || v.Reason != c.want {
				t.Errorf("%v: %s is %+v, want %s", c.flags, name, v, c.want)
			}
		}
	}
}

// TestIntervalIsTheWindowOfItsBounds: one window and the interval with its
// bounds say the same.
func TestIntervalIsTheWindowOfItsBounds(t *testing.T) {
	file := lines(syntheticLoad{n: 60, step: 500, wait: 150, gap: 90, tokens: 80}.records()...)
	windows, _ := ask(t, []string{"window=10s"}, file)
	run, _ := ask(t, []string{"from=+10s", "to=+20s"}, file)
	i := slices.IndexFunc(windows.Windows, func(w report.Window) bool { return w.From == run.Throughput.From.Int })
	if i < 0 {
		t.Fatalf("no window at %d", run.Throughput.From.Int)
	}
	want := &windows.Windows[i].Cell
	for name, v := range want.Throughput.Values {
		if got := run.Throughput.Values[name]; v.Known && got.V != v.V {
			t.Errorf("%s is %v, in the window %v", name, got.V, v.V)
		}
	}
	for name, m := range want.Metrics {
		if got := run.Metrics[name]; got.N != m.N || m.N > 0 && (got.Mean != m.Mean || got.Max != m.Max) {
			t.Errorf("%s: n %d mean %v, in the window n %d mean %v", name, got.N, got.Mean, m.N, m.Mean)
		}
	}
}

// TestTrimByCountOfASimultaneousStart: requests that a trim drops although they
// are sent as W begins are removed with all that they do.
func TestTrimByCountOfASimultaneousStart(t *testing.T) {
	var records []string
	for range 4 {
		records = append(records, `"sent":0,"token_timestamps":[1,2],"output_tokens":2,"finished":2`)
	}
	run, _ := ask(t, []string{"trim=warmup=3"}, lines(records...))
	if r := run.Requests; r.Total != 1 || r.Filtered != 3 || run.Removed.Trim != 3 {
		t.Errorf("requests %+v, removed %+v", r, run.Removed)
	}
	rate(t, &run.Cell, "tps", 1)
}

// TestTrimByCountTakesRequests: of three requests of two choices each, one that
// is trimmed goes with both, and the others keep both: 2 + 3 tokens.
func TestTrimByCountTakesRequests(t *testing.T) {
	var records []string
	for i := range 3 {
		for choice, n := range []int{2, 3} {
			stamps := []string{"", "", fmt.Sprintf("%d.1,%d.2", i, i), fmt.Sprintf("%d.2,%d.3,%d.4", i, i, i)}[n]
			records = append(records, fmt.Sprintf(`"request_id":"r%d","choice":%d,"n_choices":2,"sent":%d,"token_timestamps":[%s],"output_tokens":%d,"finished":%d.5`, i, choice, i, stamps, n, i))
		}
	}
	for n, want := range map[string]int64{"1": 2, "2": 1} {
		run, _ := ask(t, []string{"trim=warmup=" + n}, lines(records...))
		m := run.Metrics["output_tokens"]
		if r := run.Requests; r.Total != want || r.Filtered != 3-want || m.N != want || m.Mean != 5 {
			t.Errorf("warmup=%s: requests %+v, output tokens %g of %d", n, r, m.Mean, m.N)
		}
	}
}

// TestSteadyTrimIsTheSteadyWindow: four users of a closed loop, each request
// 1 s with a token every 100 ms; the second half of a user joins late.
func TestSteadyTrimIsTheSteadyWindow(t *testing.T) {
	var records []string
	type span struct{ from, to int64 }
	var all []span
	for user := range int64(4) {
		for at := user * 700; at < 20_000; at += 1000 {
			stamps := ""
			for k := int64(1); k <= 10; k++ {
				stamps += fmt.Sprintf(",%.3f", float64(at+100*k)/1000)
			}
			records = append(records, fmt.Sprintf(`"sent":%.3f,"token_timestamps":[%s],"output_tokens":10,"finished":%.3f`, float64(at)/1000, stamps[1:], float64(at+1000)/1000))
			all = append(all, span{at, at + 1000})
		}
	}
	run, _ := ask(t, []string{"trim=steady"}, lines(records...))
	whole := run.Untrimmed
	if whole == nil || !whole.Concurrency.SteadyFrom.Known {
		t.Fatal("no steady window")
	}
	from, to := whole.Concurrency.SteadyFrom.Int, whole.Concurrency.SteadyTo.Int
	if run.Concurrency.SteadyFrom.Int != from || run.Concurrency.SteadyTo.Int != to {
		t.Errorf("the steady window of the trimmed run is [%d, %d], of the whole [%d, %d]",
			run.Concurrency.SteadyFrom.Int, run.Concurrency.SteadyTo.Int, from, to)
	}
	if got := run.Throughput.Window.Int; got != to-from {
		t.Errorf("W is %d ns, the steady window %d", got, to-from)
	}
	first := whole.Throughput.From.Int // of the first send, which is at 0
	tokens, flight := 0, int64(0)
	for _, s := range all {
		for k := int64(1); k <= 10; k++ {
			if at := (s.from+100*k)*1e6 + first; from < at && at <= to {
				tokens++
			}
		}
		flight += max(0, min(s.to*1e6+first, to)-max(s.from*1e6+first, from))
	}
	rate(t, &run.Cell, "tps", float64(tokens)/(float64(to-from)/1e9))
	if got, want := run.Concurrency.Mean.V, float64(flight)/float64(to-from); got < want-1e-6 || got > want+1e-6 {
		t.Errorf("concurrency %v, want %v", got, want)
	}
}

// TestNothingLeft: what a query leaves out is counted where it leaves nothing.
func TestNothingLeft(t *testing.T) {
	file := lines(`"received":0,"token_timestamps":[1,2],"output_tokens":2`, `"received":1,"token_timestamps":[2,3],"output_tokens":2`)
	for _, c := range []struct {
		flag string
		want report.Removed
	}{
		{"filter=output_tokens > 5", report.Removed{Filter: 2}},
		{"from=+100s", report.Removed{Interval: 2}},
		{"trim=warmup=100", report.Removed{Trim: 2}},
		{"trim=steady", report.Removed{Trim: 2}},
	} {
		run, _ := ask(t, []string{c.flag}, file)
		if run.Requests.Total != 0 || run.Requests.Filtered != 2 || run.Removed != c.want {
			t.Errorf("%s: %+v, removed %+v", c.flag, run.Requests, run.Removed)
		}
	}
}

// TestGroupsOfAnInterval: a group without anything in the interval is left out,
// one that only ends in it is there.
func TestGroupsOfAnInterval(t *testing.T) {
	file := lines(
		`"tenant":"early","sent":0,"token_timestamps":[1,2],"output_tokens":2,"finished":2`,
		`"tenant":"across","sent":1,"token_timestamps":[3,12],"output_tokens":2,"finished":12`,
		`"tenant":"inside","sent":11,"token_timestamps":[12,13],"output_tokens":2,"finished":13`,
	)
	run, _ := ask(t, []string{"from=+10s", "to=+20s", "by=tenant"}, file)
	var got []string
	for _, g := range run.Groups {
		got = append(got, fmt.Sprintf("%s %d %d", g.By["tenant"], g.Requests.Total, g.Metrics["e2e"].N))
	}
	if want := []string{"across 0 1", "inside 1 1"}; !slices.Equal(got, want) {
		t.Errorf("groups %q, want %q", got, want)
	}
}
