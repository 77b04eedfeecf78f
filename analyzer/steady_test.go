package analyzer

import (
	"fmt"
	"testing"

	"servescope/analyzer/load"
	"servescope/analyzer/report"
)

// closedLoop is a log of 40 users who send one request after the other.
func closedLoop() textFile {
	var records []string
	for i := range 40 {
		end := 0.01 * float64(i)
		for range 6 {
			sent := end
			end += 1 + 0.003*float64(i%7)
			records = append(records, fmt.Sprintf(`"sent":%.3f,"token_timestamps":[%.3f,%.3f,%.3f],"output_tokens":3,"prompt_tokens":7,"finished":%.3f`, sent, sent+0.1, sent+0.5, end, end))
		}
	}
	return lines(records...)
}

// cellJSON is a cell as it stands in a report.
func cellJSON(t *testing.T, c *report.Cell) string {
	t.Helper()
	return jsonOf(t, &report.Report{Runs: []report.Run{{Cell: *c}}})
}

// TestSteadyBeside: the figures of the steady window stand beside those of the
// whole, and are those that a steady trim gives.
func TestSteadyBeside(t *testing.T) {
	in := closedLoop()
	whole, r := ask(t, nil, in)
	trimmed, _ := ask(t, []string{"trim=steady"}, in)
	if whole.Steady == nil || whole.Untrimmed != nil || trimmed.Steady != nil || trimmed.Untrimmed == nil {
		t.Fatalf("steady %v and %v, untrimmed %v and %v", whole.Steady != nil, trimmed.Steady != nil, whole.Untrimmed != nil, trimmed.Untrimmed != nil)
	}
	if got, want := cellJSON(t, whole.Steady), cellJSON(t, &trimmed.Cell); got != want {
		t.Errorf("the steady window is\n%s\na trim gives\n%s", got, want)
	}
	if n := whole.Steady.Requests.Total; n < 30 || n >= whole.Requests.Total {
		t.Errorf("%d of %d requests", n, whole.Requests.Total)
	}
	says(t, r, `"steady":{"requests":{`)

	// A warm-up shows all three; an interval has no steady window of its own.
	warm, _ := ask(t, []string{"trim=warmup=1s"}, in)
	if warm.Steady == nil || warm.Untrimmed == nil || cellJSON(t, warm.Steady) != cellJSON(t, &trimmed.Cell) {
		t.Errorf("a warm-up: %v, %v", warm.Steady != nil, warm.Untrimmed != nil)
	}
	if part, _ := ask(t, []string{"from=+1s"}, in); part.Steady != nil {
		t.Error("an interval has a steady window")
	}
	if open, r := ask(t, nil, lines(`"sent":0,"token_timestamps":[1,2],"output_tokens":2`)); open.Steady != nil {
		t.Error("one request is steady")
	} else {
		says(t, r, `"steady":null`)
	}
}

// TestSteadyWithoutLists: token lists that are not in memory are not read again
// for it.
func TestSteadyWithoutLists(t *testing.T) {
	s, err := openAll(t, load.Options{Workers: 1, Memory: 8}, closedLoop())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r, err := s.Run(t.Context(), queryOf(t))
	if err != nil {
		t.Fatal(err)
	}
	c := r.Runs[0].Steady
	if c == nil || c.Metrics["ttft"].N < 30 || c.Metrics["chunk_gap"].Reason != "not_resident" {
		t.Fatalf("%+v", c)
	}
	if v := c.Throughput.Values["tps"]; v.Known || v.Reason != "not_resident" {
		t.Errorf("tps %+v", v)
	}
	if v := r.Runs[0].Throughput.Values["tps"]; !v.Known {
		t.Errorf("tps of the whole %+v", v)
	}
}
