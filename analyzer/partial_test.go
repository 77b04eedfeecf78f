package analyzer

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"servescope/analyzer/assemble"
	"servescope/analyzer/load"
	"servescope/analyzer/report"
	"servescope/testdata/generate/shapes"
)

// shapedRecords returns a log of n requests, one a line.
func shapedRecords(t *testing.T, n int) string {
	t.Helper()
	var text bytes.Buffer
	if err := shapes.Records(&text, shapes.Config{Seed: 5, Count: n, Tokens: 12, Open: 40}); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// TestPartialIsOfTheFirst holds reports of a part to those of a file that ends
// there: while it is read, and while a filter is applied to rows that are there.
func TestPartialIsOfTheFirst(t *testing.T) {
	log := shapedRecords(t, 900)
	lines := strings.SplitAfter(log, "\n")
	for _, flags := range [][]string{nil, {"filter=prompt_tokens > 300"}} {
		var parts []*assemble.Partial
		tell := len(flags) == 0
		s, err := openAll(t, load.Options{Block: 1 << 12}, textFile{name: "log.jsonl", text: log})
		if err != nil {
			t.Fatal(err)
		}
		s.in.BatchRows = 50
		s.Tell(func() func(*assemble.Partial) {
			if !tell {
				return nil
			}
			return func(p *assemble.Partial) { parts = append(parts, p) }
		})
		runs := [][]string{nil}
		if len(flags) > 0 {
			runs = append(runs, flags)
		}
		for i, flags := range runs {
			tell = i == len(runs)-1
			if _, err := s.Run(t.Context(), queryOf(t, flags...)); err != nil {
				t.Fatal(err)
			}
		}
		if len(parts) < 5 {
			t.Fatalf("%v: %d reports of a part", flags, len(parts))
		}
		for _, p := range parts {
			if p.Rows <= 0 || p.Rows > 900 || p.Total != []int64{-1, 900}[len(flags)] {
				t.Fatalf("%d of %d rows", p.Rows, p.Total)
			}
			got := p.Report.Runs[0]
			of := analyze(t, queryOf(t, flags...), textFile{name: "log.jsonl", text: strings.Join(lines[:p.Rows], "")})
			want := of.Runs[0]
			settle(t, &got.Cell)
			if len(flags) == 0 && got.Requests.Total != p.Rows || got.Removed != want.Removed && len(flags) == 0 {
				t.Errorf("%d requests, %+v removed of %d rows", got.Requests.Total, got.Removed, p.Rows)
			}
			if !reflect.DeepEqual(got.Requests, want.Requests) || !reflect.DeepEqual(got.Metrics, want.Metrics) || !reflect.DeepEqual(got.Throughput, want.Throughput) {
				t.Fatalf("%v: the first %d rows:\n%+v\nwant\n%+v", flags, p.Rows, got.Cell, want.Cell)
			}
			if d := p.Report.Diags; len(d) != 1 || d[0].Code != "partial" || d[0].Count != p.Rows {
				t.Errorf("it is not said to be partial: %+v", d)
			}
		}
	}
}

// settle makes of what is pending what a log without engine steps amounts to, and
// checks that nothing else is.
func settle(t *testing.T, c *report.Cell) {
	t.Helper()
	for name, m := range c.Metrics {
		if m.Reason == assemble.PendingReason {
			if name != "engine_step" {
				t.Errorf("%s is pending", name)
			}
			m.Reason = "not_recorded"
			c.Metrics[name] = m
		}
	}
	for name, v := range c.Throughput.Values {
		if v.Reason == assemble.PendingReason {
			if !slices.Contains(assemble.OfEngines[:], name) {
				t.Errorf("%s is pending", name)
			}
			c.Throughput.Values[name] = report.Null("not_recorded")
		}
	}
}

// TestPartialChangesNothing holds reports to the same bytes whether reports of parts
// are made on the way or not, for any number of workers, and for lists that are read
// again.
func TestPartialChangesNothing(t *testing.T) {
	var list []textFile
	for i, in := range fixtures(t) {
		if i%8 == 0 {
			list = append(list, in)
		}
	}
	list = append(list, textFile{name: "log.jsonl", text: shapedRecords(t, 500)})
	told := 0
	for i, in := range list {
		for _, flags := range [][]string{nil, {"filter=prompt_tokens > 100", "by=status"}, {"window=1s"}, {"definition=vllm-2024"}, {"definition=aiperf", "from=+1s"}} {
			var want string
			for round := range 3 {
				var mu sync.Mutex
				opt := load.Options{Workers: 1 + round, Block: 1 << 12}
				if round == 2 && i == len(list)-1 {
					opt.Memory = 1 << 10
				}
				s, err := openAll(t, opt, in)
				if err != nil {
					break // no format knows it
				}
				if round > 0 {
					s.Tell(func() func(*assemble.Partial) {
						return func(p *assemble.Partial) {
							mu.Lock()
							defer mu.Unlock()
							told++
							jsonOf(t, p.Report)
						}
					})
				}
				r, err := s.Run(t.Context(), queryOf(t, flags...))
				if err != nil {
					t.Fatalf("%s: %v", in.name, err)
				}
				got := jsonOf(t, r)
				if round == 0 {
					want = got
				}
				if got != want {
					t.Errorf("%s, %v, round %d:\n%s\nwant\n%s", in.name, flags, round, got, want)
				}
				s.Close()
			}
		}
	}
	if told < len(list) {
		t.Errorf("%d reports of parts", told)
	}
}

// TestPartialWithHoles: where rows are folded in other places too, those in between are
// missing from a report of a part: it tells how many requests it is of, and nothing per
// time, which would be too little.
func TestPartialWithHoles(t *testing.T) {
	var parts []*assemble.Partial
	s, err := openAll(t, load.Options{Block: 1 << 12, Remote: newPlaces(1)}, textFile{name: "log.jsonl", text: shapedRecords(t, 900)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.in.BatchRows, s.in.RangeSize = 50, 1<<13
	s.Tell(func() func(*assemble.Partial) { return func(p *assemble.Partial) { parts = append(parts, p) } })
	q := queryOf(t, "window=1s")
	q.SLO = slo(t, "ttft=1s")
	all, err := s.Run(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	if len(parts) == 0 {
		t.Fatal("no report of a part")
	}
	for _, p := range parts {
		got := &p.Report.Runs[0]
		if got.Requests.Total != p.Rows || p.Report.Diags[0].Count != p.Rows || !strings.Contains(p.Report.Diags[0].Msg, "do not follow each other") {
			t.Errorf("%d requests of %d rows: %+v", got.Requests.Total, p.Rows, p.Report.Diags)
		}
		if m := got.Metrics["ttft"]; m.N == 0 {
			t.Errorf("ttft is %+v", m)
		}
		assemble.EachCell(got, func(c *report.Cell) {
			pending := map[string]report.Value{"window": c.Throughput.Window, "mean": c.Concurrency.Mean, "max": c.Concurrency.Max, "goodput": c.Goodput.Rate}
			for name, v := range c.Throughput.Values {
				pending[name] = v
			}
			for name, v := range pending {
				if v.Known || v.Reason != assemble.PendingReason {
					t.Errorf("%s is told: %+v", name, v)
				}
			}
		})
	}
	if last := all.Runs[0]; last.Requests.Total != 900 || !last.Throughput.Window.Known || !last.Goodput.Rate.Known {
		t.Errorf("the last report has %d requests over %+v", last.Requests.Total, last.Throughput.Window)
	}
}
