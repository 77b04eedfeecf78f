package analyzer

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"servescope/analyzer/audit"
	"servescope/analyzer/kernel/cell"
	"servescope/analyzer/query"
	"servescope/analyzer/report"
)

// close9 reports whether got is want to 1e-9 relative.
func close9(got, want float64) bool {
	return math.Abs(got-want) <= 1e-9*math.Max(1, math.Abs(want))
}

// TestSampleAgainstBruteForce recomputes the report of each sample from its raw
// arrays: every latency with all of its statistics, and the rates.
func TestSampleAgainstBruteForce(t *testing.T) {
	for name, read := range map[string]func(*testing.T, string) []bruteRequest{"vllm-bench.json": bruteBench, "tokenlog.jsonl": bruteTokenLog} {
		text := sample(t, name)
		requests := read(t, text)
		run, _ := ask(t, nil, textFile{name: name, text: text})
		var ok, failed int64
		for _, r := range requests {
			if r.failed {
				failed++
			} else {
				ok++
			}
		}
		if r := run.Requests; r.Total != int64(len(requests)) || r.OK != ok || r.OK+r.Failed+r.Empty != ok+failed {
			t.Errorf("%s: requests %+v, want %d ok of %d", name, r, ok, len(requests))
		}
		for metric, values := range bruteValues(requests) {
			m := run.Metrics[metric]
			if m.N != int64(len(values)) || !m.Exact {
				t.Errorf("%s: %s has %d values, want %d", name, metric, m.N, len(values))
			}
			got := map[string]float64{"mean": m.Mean, "min": m.Min, "max": m.Max}
			for rank, v := range m.Quantiles {
				got[rank] = v
			}
			if len(got) != 3+len(query.DefaultRanks) {
				t.Errorf("%s: %s has %d statistics", name, metric, len(got))
			}
			for stat, v := range got {
				if want := bruteStat(values, stat); !close9(v, want) {
					t.Errorf("%s: %s of %s is %v, want %v", name, stat, metric, v, want)
				}
			}
		}
	}
}

// TestAuditAgreesWithTheProducer holds our figures under the definition of the
// tool that wrote a result to the figures in it, for every real file that has
// both, and for the sample.
func TestAuditAgreesWithTheProducer(t *testing.T) {
	names := []string{"../testdata/sample/vllm-bench.json"}
	t.Run("sample", func(t *testing.T) { auditFiles(t, names, 1) })
	t.Run("real", func(t *testing.T) {
		auditFiles(t, append(data(t, "vllm/bench*.json"), data(t, "sglang/bench*.jsonl")...), 2)
	})
}

// auditFiles compares every latency that a producer reports with ours. atLeast
// files must have both.
func auditFiles(t *testing.T, names []string, atLeast int) {
	audited := 0
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		in := textFile{name: filepath.Base(name), text: string(text)}
		probe := analyze(t, new(query.Query), in)
		for i, run := range probe.Runs {
			if run.Requests.Total == 0 {
				continue // aggregates only
			}
			d := definitionOf(t, run)
			r := analyze(t, &query.Query{Definition: d}, in).Runs[i]
			n := 0
			for _, line := range r.Reported {
				if !strings.Contains(line.Key, "_ttft_") && !strings.Contains(line.Key, "_tpot_") && !strings.Contains(line.Key, "_itl_") {
					continue
				}
				n++
				if !line.Ours.Known || !audit.Same(line.Ours.V, line.Value, line.Unit) || line.Note != "" {
					t.Errorf("%s under %s: %s is %v, ours %+v %s", in.name, d, line.Key, line.Value, line.Ours, line.Note)
				}
			}
			if n < 9 {
				t.Errorf("%s: only %d figures to compare", in.name, n)
			}
			audited++
			explains(t, run)
		}
	}
	if audited < atLeast {
		t.Errorf("only %d files hold arrays and aggregates", audited)
	}
}

// definitionOf is the definition set that the report recommends for a run.
func definitionOf(t *testing.T, run report.Run) string {
	t.Helper()
	for _, line := range run.Reported {
		if _, rest, ok := strings.Cut(line.Note, "--definition "); ok {
			name, _, _ := strings.Cut(rest, " ")
			return name
		}
	}
	return ""
}

// explains fails if a figure differs from the producer's without a word.
func explains(t *testing.T, run report.Run) {
	t.Helper()
	for _, line := range run.Reported {
		if line.Ours.Known && audit.Comparable(line.Ours.Unit, line.Unit) && !audit.Same(line.Ours.V, line.Value, line.Unit) && line.Note == "" {
			t.Errorf("%s: %s is %v, ours %v, and nothing says why", run.Label, line.Key, line.Value, line.Ours.V)
		}
	}
}

// TestSampleGroupsAddUp checks that groups and windows split the requests and
// that a filter leaves what it says.
func TestSampleGroupsAddUp(t *testing.T) {
	in := textFile{name: "tokenlog.jsonl", text: sample(t, "tokenlog.jsonl")}
	run, _ := ask(t, []string{"by=prompt_tokens", "window=2s"}, in)
	var groups, windows, both int64
	for _, g := range run.Groups {
		groups += g.Requests.Total
		for _, w := range g.Windows {
			both += w.Requests.Total
		}
	}
	for _, w := range run.Windows {
		windows += w.Requests.Total
		if w.From%2e9 != 0 || w.To != w.From+2e9 {
			t.Errorf("window [%d, %d)", w.From, w.To)
		}
	}
	if len(run.Groups) < 3 || len(run.Windows) < 3 || groups != 64 || windows != 64 || both != 64 {
		t.Errorf("%d groups of %d requests, %d windows of %d, %d in both", len(run.Groups), groups, len(run.Windows), windows, both)
	}
	// The filter is recomputed from the raw lines.
	var want []float64
	for _, r := range bruteTokenLog(t, in.text) {
		if r.prompt > 700 && !r.failed {
			want = append(want, float64(r.ttft))
		}
	}
	run, _ = ask(t, []string{"filter=prompt_tokens > 700 and status = ok"}, in)
	if m := run.Metrics["ttft"]; m.N != int64(len(want)) || !close9(m.Mean, bruteStat(want, "mean")) {
		t.Errorf("ttft %+v, want %d of mean %v", m, len(want), bruteStat(want, "mean"))
	}
	if run.Requests.Filtered+run.Requests.Total != 64 || run.Removed.Filter != run.Requests.Filtered {
		t.Errorf("%+v, %+v", run.Requests, run.Removed)
	}
	run, _ = ask(t, []string{"filter=ttft > 100ms"}, in)
	n := 0
	for _, r := range bruteTokenLog(t, in.text) {
		if r.ttft > 100e6 {
			n++
		}
	}
	if run.Requests.Total != int64(n) || n == 0 {
		t.Errorf("a filter by TTFT keeps %d, want %d", run.Requests.Total, n)
	}
}

// TestWindowsAreCapped asks for more windows than a report holds.
func TestWindowsAreCapped(t *testing.T) {
	defer func(n int) { cell.MaxCells = n }(cell.MaxCells)
	cell.MaxCells = 400
	var records []string
	for i := range 1000 {
		records = append(records, fmt.Sprintf(`"sent":%d,"token_timestamps":[%d.5],"output_tokens":1,"tenant":"%c"`, i, i, 'a'+rune(i%3)))
	}
	in := lines(records...)
	run, r := ask(t, []string{"window=1s"}, in)
	d := r.Diags[0]
	if d.Code != "windows_capped" || d.File != "log.jsonl" || len(run.Windows) != 400 || d.Count != 600 || run.Requests.Total != 1000 {
		t.Errorf("%d of %d requests, %d windows; diags %+v", len(run.Windows), run.Requests.Total, len(run.Windows), r.Diags)
	}
	if want := "the first 400 of 1000 windows are shown, the first 6m40s: 600 of the run's 1000 requests are in none of them; figures of the whole run and of its groups hold all"; d.Msg != want {
		t.Errorf("%q, want %q", d.Msg, want)
	}
	for i, w := range run.Windows {
		if w.Requests.Total != 1 || w.Metrics["ttft"].N != 1 || w.Throughput.Values["tps"].V != 1 || w.Concurrency.Mean.V != 0.5 && w.Concurrency.Mean.Known {
			t.Fatalf("window %d is not whole: %+v, %+v", i, w.Requests, w.Throughput)
		}
	}

	// Groups share the cells: 400 of windows are kept, each with its figures.
	run, r = ask(t, []string{"window=1s", "by=tenant"}, in)
	if d = r.Diags[0]; d.Code != "windows_capped" || d.Count != int64(1000-len(run.Windows)) || len(run.Groups) != 3 {
		t.Fatalf("%d windows, %d groups, %+v", len(run.Windows), len(run.Groups), d)
	}
	left := int64(0)
	for _, g := range run.Groups {
		left += int64(1000 - len(g.Windows))
		for _, w := range g.Windows {
			if w.Requests.Total > 0 && w.Throughput.Values["tps"].V != 1 {
				t.Fatalf("%v at %d is not whole: %+v", g.By, w.From, w.Throughput)
			}
		}
	}
	if want := fmt.Sprintf("; %d of the 3000 windows of groups are left out", left); !strings.HasSuffix(d.Msg, want) {
		t.Errorf("%q, want %q", d.Msg, want)
	}
	if _, r = ask(t, []string{"window=10s", "by=tenant"}, in); len(r.Diags) != 0 {
		t.Errorf("nothing is left out: %+v", r.Diags)
	}
}

// TestReportIsStrictJSON decodes a large report of everything.
func TestReportIsStrictJSON(t *testing.T) {
	q := queryOf(t, "by=status", "window=5s", "trim=warmup=3")
	q.SLO = slo(t, "ttft=100ms,tpot=20ms")
	r := analyze(t, q, textFile{name: "a", text: sample(t, "tokenlog.jsonl")}, textFile{name: "b", text: sample(t, "vllm-bench.json")})
	var doc map[string]any
	if err := json.Unmarshal([]byte(jsonOf(t, r)), &doc); err != nil || len(doc["runs"].([]any)) != 2 {
		t.Error(err)
	}
	if got := fmt.Sprintln(r.Query.SLO, r.Query.By, r.Query.Trim); got != "[ttft=100ms tpot=20ms] [status] warmup=3\n" {
		t.Errorf("the query is echoed as %s", got)
	}
}

// TestUnitedRecordsWithoutACommonClock checks that a label pools the latencies
// of records, but makes no time line of clocks that have none in common.
func TestUnitedRecordsWithoutACommonClock(t *testing.T) {
	record := `{"request_id":"%s","side":"client","clock":"%s","sent":%s,"token_timestamps":[%s],"output_tokens":1}` + "\n"
	log := func(name, clock, sent, token string) textFile {
		return textFile{name, "both", fmt.Sprintf(record, name, clock, sent, token)}
	}
	for _, c := range []struct {
		a, b   textFile
		common bool
	}{
		{log("a", "run", "0", "0.1"), log("b", "run", "0", "0.3"), false},
		{log("a", "monotonic", "1000", "1000.1"), log("b", "monotonic", "1000", "1000.3"), false},
		{log("a", "wall", "1764428000", "1764428000.1"), log("b", "run", "0", "0.3"), false},
		{log("a", "wall", "1764428000", "1764428000.1"), log("b", "wall", "1764428001", "1764428001.3"), true},
		{log("a", "monotonic/host", "1000", "1000.1"), log("b", "monotonic/host", "1001", "1001.3"), true},
	} {
		run, r := ask(t, nil, c.a, c.b)
		wants(t, &run.Cell, "ttft", 2, "mean", 200.0)
		mean, said := run.Concurrency.Mean, strings.Contains(jsonOf(t, r), "clock_mismatch")
		if mean.Known != c.common || !c.common && mean.Reason != "clock" || said == c.common {
			t.Errorf("%s%s: concurrency %+v, diagnosed %v", c.a.text, c.b.text, mean, said)
		}
	}
}
