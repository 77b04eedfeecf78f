package analyzer

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"servescope/analyzer/diag"
	"servescope/analyzer/load"
	"servescope/analyzer/query"
	"servescope/analyzer/report"
)

// rankTrace is a profiler's trace of one rank: steps of 1 ms, in each a kernel of
// 500 µs and a collective behind it of the given length. The times are µs.
func rankTrace(rank, world, base int, collective ...int) string {
	events := []string{`{"ph":"M","name":"process_name","pid":1,"args":{"name":"python"}}`}
	for i, d := range collective {
		at, id := 1000*i, 10*i
		events = append(events,
			fmt.Sprintf(`{"ph":"X","cat":"user_annotation","name":"execute_context_0(0)_generation_2(2)","pid":1,"tid":1,"ts":%d,"dur":50}`, at),
			fmt.Sprintf(`{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":%d,"dur":1,"args":{"correlation":%d}}`, at+5, id+1),
			fmt.Sprintf(`{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":%d,"dur":1,"args":{"correlation":%d}}`, at+10, id+2),
			fmt.Sprintf(`{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":%d,"dur":500,"args":{"device":0,"stream":7,"correlation":%d}}`, at+100, id+1),
			fmt.Sprintf(`{"ph":"X","cat":"kernel","name":"ncclDevKernel_AllReduce","pid":0,"tid":7,"ts":%d,"dur":%d,"args":{"device":0,"stream":7,"correlation":%d}}`, at+900-d, d, id+2))
	}
	return fmt.Sprintf(`{"schemaVersion":1,"distributedInfo":{"backend":"nccl","rank":%d,"world_size":%d},"traceEvents":[%s],"baseTimeNanoseconds":%d000000}`,
		rank, world, strings.Join(events, ","), base)
}

// memo returns a memo of a table, times its members.
func memo(b *report.Breakdown, name string) string {
	for _, m := range b.Memos {
		if m.Name == name {
			return fmt.Sprintf("%.0f%s", m.Mean.V*float64(b.N), m.Bound)
		}
	}
	return "none"
}

// TestRanks: traces of ranks of one deployment are one run with a table for each,
// and what they say together is how long each waits for the others.
func TestRanks(t *testing.T) {
	a, b := textFile{"a.json", "", rankTrace(0, 2, 1000, 100, 100, 200)}, textFile{"b.json", "", rankTrace(1, 2, 1001, 100, 150, 120)}
	r := analyze(t, new(query.Query), a, b)
	if len(r.Runs) != 1 || r.Runs[0].Label != "a.json+1" || !slices.ContainsFunc(r.Runs[0].Notes, func(s string) bool { return strings.HasPrefix(s, "2 traces of ranks") }) {
		t.Fatalf("%d runs: %s, %q", len(r.Runs), r.Runs[0].Label, r.Runs[0].Notes)
	}
	d := r.Runs[0].Decompositions
	if len(d) != 4 || d[0].Of != "tpot" || d[1].By != "rank" || d[2].Of != "step" || d[3].By != "batch" || d[0].N != 8 || d[0].Total.V != 1e6 || len(d[1].Tables) != 2 {
		t.Fatalf("%d: %+v", len(d), d[0].Total)
	}
	// Two sequences each in two intervals: 100 and 200 against 150 and 120.
	for i, want := range [][2]string{{"440000", "160000"}, {"440000", "100000"}} {
		x := &d[1].Tables[i]
		if got := [2]string{memo(x, "communication_transfer"), memo(x, "communication_wait")}; got != want {
			t.Errorf("%s: %v, want %v", x.Cohort, got, want)
		}
	}
	if got := fmt.Sprint(r.Runs[0].Config); got != "[[backend nccl] [rank 0] [world_size 2] [rank 1]]" {
		t.Errorf("settings %s", got)
	}
	for name, list := range map[string][]textFile{
		"labels":         {{"a.json", "A", a.text}, {"b.json", "B", b.text}},
		"one rank twice": {a, {"c.json", "", rankTrace(0, 2, 1000, 100, 100)}},
		"other times":    {a, {"c.json", "", rankTrace(1, 2, 9000, 100, 100)}},
		"other sizes":    {a, {"c.json", "", rankTrace(1, 4, 1000, 100, 100)}},
		"single":         {{"a.json", "", rankTrace(0, 1, 1000, 100, 100)}, {"c.json", "", rankTrace(1, 1, 1000, 100, 100)}},
	} {
		if r := analyze(t, new(query.Query), list...); len(r.Runs) != 2 {
			t.Errorf("%s: %d runs", name, len(r.Runs))
		}
	}
	same := analyze(t, new(query.Query), textFile{"a.json", "L", a.text}, textFile{"b.json", "L", b.text})
	if x := same.Runs[0].Decompositions; len(same.Runs) != 1 || len(x) != 4 || memo(&x[1].Tables[0], "communication_wait") != "160000" {
		t.Errorf("%d of %d runs", len(x), len(same.Runs))
	}
	s, err := openAll(t, load.Options{Workers: 1, Memory: 400}, a, b)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	little, err := s.Run(t.Context(), new(query.Query))
	if err != nil || memo(&little.Runs[0].Decompositions[1].Tables[0], "communication_wait") != "none" {
		t.Errorf("kernels beyond the memory are kept: %v", err)
	}
	if !slices.ContainsFunc(s.Diags(), func(d diag.Diag) bool { return d.Code == "collectives_dropped" }) {
		t.Errorf("nothing tells that kernels were dropped: %+v", s.Diags())
	}
}

// TestRanksReal holds two of four ranks of a real deployment to the figures of
// the specification, per token of one sequence in seven intervals.
func TestRanksReal(t *testing.T) {
	var list []textFile
	for _, name := range data(t, "vllm/tp4-rank?.pt.trace.json.gz") {
		packed, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, textFile{filepath.Base(name), "", string(text)})
	}
	run := analyze(t, new(query.Query), list...).Runs[0]
	var ranks *report.Decomposition
	for i := range run.Decompositions {
		if d := &run.Decompositions[i]; d.Of == "tpot" && d.By == "rank" {
			ranks = d
		}
	}
	if ranks == nil || len(ranks.Tables) != 2 || ranks.N != 14 || ranks.Total.V*14 != 186841919+186847903 {
		t.Fatalf("%d decompositions", len(run.Decompositions))
	}
	for i, want := range []string{
		"186841919 = compute 120098651 + sampling 100541 + communication 44666514 + host_transfer 131292 + launch_wait 21844921 + scheduling 0 + host_exec 0 + interference 0 + residual 0",
		"186847903 = compute 124731569 + sampling 101312 + communication 39766444 + host_transfer 140955 + launch_wait 22107623 + scheduling 0 + host_exec 0 + interference 0 + residual 0",
	} {
		b := &ranks.Tables[i]
		ns := func(v report.Value) int64 { return int64(v.V*float64(b.N) + 0.5) }
		var parts []string
		for _, e := range b.Entries {
			parts = append(parts, fmt.Sprint(strings.Join(e.Leaves, "+"), " ", ns(e.Mean)))
		}
		parts = append(parts, fmt.Sprint("residual ", ns(b.Residual.Mean)))
		if got := fmt.Sprint(ns(b.Total), " = ", strings.Join(parts, " + ")); b.N != 7 || got != want {
			t.Errorf("%d tokens: %s\nwant %s", b.N, got, want)
		}
		if memo(b, "communication_overlapped") != [...]string{"6614969", "6398831"}[i] {
			t.Errorf("%s overlapped", memo(b, "communication_overlapped"))
		}
		var split [2]int64
		fmt.Sscan(memo(b, "communication_transfer"), &split[0])
		fmt.Sscan(memo(b, "communication_wait"), &split[1])
		if split[0] <= 0 || split[1] <= 0 || split[0]+split[1] != [...]int64{44666514, 39766444}[i] || !strings.HasSuffix(memo(b, "communication_transfer"), "upper") {
			t.Errorf("%v of transfer and waiting, %s", split, memo(b, "communication_transfer"))
		}
	}
}
