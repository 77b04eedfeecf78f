package analyzer

import (
	"fmt"
	"strings"
	"testing"

	"servescope/analyzer/load"
	"servescope/analyzer/query"
	"servescope/analyzer/report"
	"servescope/analyzer/trace"
)

// statsLog is a log of vLLM with a line of statistics per entry: the prompt and
// the generation rate, running, waiting, KV usage in percent.
func statsLog(engine int, lines ...[5]int) string {
	var b strings.Builder
	for i, v := range lines {
		fmt.Fprintf(&b, "INFO 07-30 10:%02d:00 [loggers.py:248] Engine %03d: Avg prompt throughput: %d.0 tokens/s, Avg generation throughput: %d.0 tokens/s, Running: %d reqs, Waiting: %d reqs, GPU KV cache usage: %d.0%%, Prefix cache hit rate: 0.0%%\n",
			i, engine, v[0], v[1], v[2], v[3], v[4])
	}
	return b.String()
}

// TestEngineSteps: the statistics of a server log are in the report, also where a
// query asks for what no step has, and beside requests.
func TestEngineSteps(t *testing.T) {
	log := textFile{"server.log", "", statsLog(0, [5]int{100, 40, 3, 4, 5}, [5]int{300, 60, 5, 0, 15}) + statsLog(1, [5]int{0, 7, 1, 0, 1})}
	for _, q := range []*query.Query{{}, queryOf(t, "filter=prompt_tokens > 5", "window=10s"), queryOf(t, "trim=warmup=2")} {
		steps := analyze(t, q, log).Runs[0].Steps
		if len(steps) != 2 || steps[0].Replica != "0" || steps[1].Replica != "1" || steps[0].N != 2 || steps[1].N != 1 || steps[0].Kind != "window" {
			t.Fatalf("%+v", steps)
		}
		for _, c := range []struct {
			g         report.Gauge
			mean, max float64
		}{
			{steps[0].Running, 4, 5}, {steps[0].Waiting, 2, 4}, {steps[0].KVUsage, 0.1, 0.15},
			{steps[0].PromptTPS, 200, 300}, {steps[0].GenerationTPS, 50, 60}, {steps[1].GenerationTPS, 7, 7},
		} {
			if c.g.Mean.V != c.mean || c.g.Max.V != c.max {
				t.Errorf("%+v, want mean %v and max %v", c.g, c.mean, c.max)
			}
		}
		if d := steps[0].To.Int - steps[0].From.Int; d != 60e9 || steps[0].Resolution.Int != 1e9 {
			t.Errorf("%d ns, %+v", d, steps[0].Resolution)
		}
	}
}

// TestStepSelection: steps are in an interval, a group, a window and a filter by
// what they say of themselves.
func TestStepSelection(t *testing.T) {
	log := textFile{"server.log", "", statsLog(0, [5]int{100, 40, 3, 4, 5}, [5]int{300, 60, 5, 0, 15}, [5]int{0, 1, 9, 0, 15}) + statsLog(1, [5]int{0, 7, 1, 0, 1})}
	count := func(steps []report.Steps) string {
		var list []string
		for _, x := range steps {
			list = append(list, fmt.Sprintf("%s:%d×%g", x.Replica, x.N, x.Running.Mean.V))
		}
		return strings.Join(list, " ")
	}
	for flags, want := range map[string]string{
		"": "0:3×5.666666666666667 1:1×1", "from=+1m": "0:2×7", "from=+60s to=+2m": "0:1×5", "to=+1s": "0:1×3 1:1×1", "filter=replica = 1": "1:1×1",
		"filter=replica != 0 or model = m": "1:1×1", "filter=replica = 1 and prompt_tokens > 3": "0:3×5.666666666666667 1:1×1",
		"trim=warmup=90s": "0:1×9", "trim=steady": "0:3×5.666666666666667 1:1×1",
	} {
		var list []string
		for _, f := range strings.SplitAfter(flags, " ") {
			if n := len(list); n > 0 && !strings.HasPrefix(f, "to=") {
				list[n-1] += f
			} else if f != "" {
				list = append(list, f)
			}
		}
		for i := range list {
			list[i] = strings.TrimSpace(list[i])
		}
		run := analyze(t, queryOf(t, list...), log).Runs[0]
		total := int64(0)
		for _, x := range run.Steps {
			total += x.N
		}
		if got := count(run.Steps); got != want || total+run.Removed.Steps != 4 {
			t.Errorf("%s: %s and %d removed, want %s", flags, got, run.Removed.Steps, want)
		}
	}
	run := analyze(t, queryOf(t, "by=replica", "window=2m"), log).Runs[0]
	var got []string
	for _, g := range run.Groups {
		got = append(got, g.By["replica"]+" "+count(g.Steps))
		for _, w := range g.Windows {
			got = append(got, fmt.Sprint(w.To-w.From, " ", count(w.Steps)))
		}
	}
	for _, w := range run.Windows {
		got = append(got, "all "+count(w.Steps))
	}
	if want := "0 0:3×5.666666666666667, 120000000000 0:2×4, 120000000000 0:1×9, 1 1:1×1, 120000000000 1:1×1, all 0:2×4 1:1×1, all 0:1×9"; strings.Join(got, ", ") != want {
		t.Errorf("%s\nwant %s", strings.Join(got, ", "), want)
	}
	for filter, want := range map[string]bool{"filter=replica = 1": false, "filter=prompt_tokens > 3": true} {
		notes := analyze(t, queryOf(t, filter), log).Runs[0].Notes
		if got := strings.Contains(strings.Join(notes, "\n"), "steps_unfiltered"); got != want {
			t.Errorf("%s: %q", filter, notes)
		}
	}
	if run := analyze(t, queryOf(t, "by=tenant"), log).Runs[0]; len(run.Groups) != 0 || len(run.Steps) != 2 {
		t.Errorf("steps have a tenant: %+v", run.Groups)
	}
}

// TestTable walks the steps and the reported figures of several inputs in
// order, with the labels of the report.
func TestTable(t *testing.T) {
	log := statsLog(0, [5]int{1, 1, 1, 1, 1}, [5]int{2, 2, 2, 2, 2})
	s, err := openAll(t, load.Options{Workers: 2}, textFile{"a/x.log", "", log}, textFile{"b/x.log", "B", log})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var got []string
	err = s.Table(t.Context(), trace.Steps, func(b *trace.Batch) error {
		for i := range b.Rows {
			n, _ := b.Ints(trace.StepRunning).At(i)
			got = append(got, fmt.Sprint(b.Run.Label, " ", n))
		}
		return nil
	})
	if want := "[a/x.log 1 a/x.log 2 B 1 B 2]"; err != nil || fmt.Sprint(got) != want {
		t.Errorf("%v, want %s; %v", got, want, err)
	}
	claims := openTest(t, load.Options{}, 0, textFile{"x", "", "tiny m claims ttft mean 5\ntiny m claims e2e max 7\n"}, textFile{"y", "", "tiny m a 1 1 5\n"})
	n := 0
	err = claims.Table(t.Context(), trace.ReportedTable, func(b *trace.Batch) error {
		n += b.Rows
		if b.Run.Label != "x" || b.File != "x" {
			t.Errorf("%s of %s", b.Run.Label, b.File)
		}
		return nil
	})
	if err != nil || n != 2 {
		t.Errorf("%d figures, %v", n, err)
	}
}
